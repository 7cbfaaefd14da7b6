"""The words and phrases beside which people write names, and those by which a name is none (pure)."""

from __future__ import annotations

import re

from bot.screening.vocabulary import words

TITLES_ANY_CASE = frozenset(
    ("mr", "mrs", "mx", "mister", "missus", "ms", "dr", "prof", "sra", "sr", "mme", "mlle", "herr", "frau")
)
TITLES = TITLES_ANY_CASE | words(
    "miss master madam sir dame lady lord senor senora signor signora monsieur madame doctor professor rev "
    "reverend sister nurse pastor imam rabbi auntie uncle aunt nana granny grandma grandpa captain sergeant "
    "officer"
)
PATIENTS = frozenset(
    ("patient", "pt", "client", "resident", "inpatient", "outpatient", "caller", "casualty", "px", "ptnt", "patinet")
)
PEOPLE = PATIENTS | words(
    "user child baby infant newborn boy girl lady gentleman man woman mother mum mom mam father dad son "
    "daughter husband wife partner brother sister aunt uncle grandmother grandfather grandma grandpa "
    "granddaughter grandson niece nephew cousin neighbour neighbor friend carer guardian twin toddler teenager "
    "lad kid relative mate boyfriend girlfriend fiance kin nok student pupil worker victim deceased member"
)
LEADS = frozenset(
    (
        "for",
        "with",
        "about",
        "regarding",
        "re",
        "from",
        "to",
        "by",
        "saw",
        "seeing",
        "admit",
        "discharge",
        "review",
        "is",
        "and",
    )
)
NO_PERSON_NAME = words(
    "generic brand trade drug medication medicine product proprietary scientific code file user test common "
    "disease form chemical international guideline protocol policy section chapter hospital clinic company "
    "street city place file domain condition syndrome thing something it them device score scale what so which "
    "also sometimes commonly formerly is are was treatment operation procedure sign method technique"
)
NOUN = (
    r"(?:disease|syndrome|scor(?:e|es|ing)|scale|criteri(?:a|on)|rules?|tests?|signs?|pals(?:y|ies)|index|classification|method|"
    r"man(?:oe|e)uvre|maneuver|position|formula|equation|solution|lactate|catheter|tubes?|stain|reaction|reflex|fractures?|"
    r"contracture|phenomen(?:on|a)|disorder|lymphoma|sarcoma|tumou?rs?|nodes?|cells?|bod(?:y|ies)|hernia|crisis|chorea|dementia|"
    r"ulcers?|virus|fever|thyroiditis|encephalopathy|psychosis|o?esophagus|coma|respirations?|breathing|operation|procedure|"
    r"splint|dressing|protocols?|guidelines?|guidance|charts?|lens|scope|regimen|diet|triad|tetralogy|pyramid|aneurysm|angina|"
    r"granuloma|keratosis|questionnaire|inventory|scan|units?|clinics?|hospitals?|trust|cent(?:re|er)|wort|wards?|team|nomogram|"
    r"algorithm|staging|stages?|injections?|tablets?|capsules?|cream|drops|inhalers?|infusion|therap(?:y|ies)|treatments?|"
    r"prophylaxis|vaccines?|vaccination|criteria|grad(?:e|es|ing)|system|model|study|trial|an(?:a)?emia|gangrene|nephropathy|"
    r"neuropathy|arthritis|block|law|effect|technique|incision|repair|flap|forceps|clamp|retractor|needle|drain|valve|shunt|"
    r"bandage|brace|collar|frame|pouch|duct|gland|artery|vein|canal|ligament|tendon|muscle|nerve|ganglion|plexus|loop|"
    r"atrophy|dystrophy|ataxia|anomaly|malformation|deformity|dwarfism|purpura|erythema|pemphigus|psoriasis|eczema|"
    r"carcinoma|oedema|edema|pneumonia|hepatitis|infection|positive|negative|antibod(?:y|ies)|antigen|factor|plot|curve|"
    r"foundation|institute|university|college|school|street|road|park|pharma(?:ceuticals?)?|laborator(?:y|ies)|ltd|inc|act|report|"
    r"line|heart|gap|pump|mask|bag|valve|machine|device|monitor|sheet|tool|checklist|bundle|pathway|score's|type|pattern|rash)"
)
CLINICAL_AFTER = re.compile(rf"(?:'s?)?(?:[\s\-]+[A-Za-z\-]+){{0,2}}?[\s\-]+(?i:{NOUN})\b")
CLINICAL_NEXT = re.compile(rf"(?:'s?)?[\s\-]+(?i:{NOUN})\b")
AGE = (
    r"(?i:aged?\s+)?\d{1,3}\s?"
    r"(?:(?i:y/?o|yrs?|years?|months?|mo|mths?|weeks?|wks?|days?)\b|[mfMFyY]\b|/\s?(?:12|52|7)\b)"
)
ABOUT = re.compile(
    rf"\s*,?\s*[(\[]?\s*(?:{AGE}|(?i:d\.?\s?o\.?\s?b\b|date\s+of\s+birth|born|nhs|chi|mrn|hosp|ssn|b\.\s?\d))|,\s*\d{{1,3}}\b(?!\s*(?i:mg|ml|mcg|g|units?))"
    r"|\s*\(\d{1,3}\s?[a-zA-Z]{0,2}\)"
    r"|\s+(?i:is|was|has|had|hasn't|isn't|wasn't|doesn't|didn't|can't|cannot|won't|needs|takes|took|feels|felt|says|said|told|complains|"
    r"complained|presents|presented|came|comes|lives|lived|weighs|wants|asks|asked|refuses|refused|reports|reported|keeps|vomited|fell|"
    r"collapsed|started|stopped|denies|called|rang|phoned|died|seems|appears|looks|suffers|drinks|smokes|attended|arrived|missed|"
    r"overdosed|forgot|got|went|gets|deteriorated|developed|would\s+like|who|should|can|will)\b"
    r"|'s\s+(?i:mother|mum|mom|dad|father|wife|husband|son|daughter|partner|sister|brother|parents?|carer|family|dose|bloods?|results?|"
    r"notes?|chart|bp|pulse|temp\w*|ecg|scan|x-?ray|appointment|address|phone|number|medication|meds|insulin|wound|urine|potassium|"
    r"inr|hba1c|sats|pain|records?|birthday|details|discharge|referral|blood|leg|arm|hand|chest|rash)\b"
    r"|\s+(?:in|from)\s+(?i:bed|bay|room|ward|cubicle|side\s?room)\b",
)
AGE_NEXT = re.compile(
    rf"\s*,?\s*[(\[]?\s*(?:{AGE}|(?i:d\.?\s?o\.?\s?b\b|born|nhs|mrn)|\d{{1,3}}\b\)?(?=[,\s]*(?:$|[a-z])))"
)
STRONG = re.compile(
    r"\b(?:(?P<named>(?:pt|patient|patient's|client|child|baby|first|last|full|sur|family|given|maiden|middle|preferred|legal)[\s\-]?names?|surname|"
    r"my\s+name|his\s+name|her\s+name|their\s+name|name'?s|next\s+of\s+kin|n\.?o\.?k\.?|a\.?k\.?a\.?|initials|known\s+as|goes\s+by)"
    r"(?:\s|is|was|are|:|=|-|,|\()*"
    r"|(?P<name>name)\s*(?:\s+(?:is|was)\s+|\s*[:=\-]+\s*)|(?P<bare>name)\s+(?=[A-Z])"
    r"|(?P<called>called|named)\s+|(?:(?:contact|emergency\s+contact|informant|attending|consultant|physician|gp|carer|guardian|"
    r"seen\s+by|reported\s+by|signed|under\s+dr)\s*[:=\-]+\s*))[\"'(]*",
    re.I,
)
INTRODUCED = re.compile(
    r"\b(?:i'?m|i\s+am|this\s+is|it'?s|meet|speaking\s+(?:to|with))\s+|\b(?:hi|hello|hey|dear|morning|thanks|thank\s+you|cheers)[,!]?\s+",
    re.I,
)
SIGN_OFF = re.compile(
    r"\b(?:thanks|thank\s+you|regards|cheers|sincerely|best(?:\s+wishes)?|yours|love|thx|tia|signed|from)[\s,.!\-]*\n?\s*(?=[A-Z][^\n]{0,40}$)",
    re.I,
)
INITIALS = re.compile(
    r"(?<![\w.])(?P<first>(?:[A-Z]\.\s?){2,3}|[A-Z]{2,3}(?=[\s,(]))(?=,?\s*[(\[]?\s*(?i:d\.?\s?o\.?\s?b\b|born|nhs|mrn|date\s+of\s+birth))"
    r"|\b(?i:patient|pt|client|resident|initials)\b[\s:,(]+(?P<second>(?:[A-Z]\.\s?){1,2}[A-Z]\.?(?!\w)|[A-Z]{2}(?=\s*[,(]\s*\d))"
)
NO_INITIALS = words(
    "MI PE UTI DKA AF HF CKD COPD IV IM PO SC OD BD TDS QDS PRN ON NHS DOB MRN GP ED ER ICU HR BP TB MS RA DM HIV"
)
BEFORE_LETTER = words(
    "vitamin hepatitis group type factor influenza grade class protein stage streptococcus haemophilus hib grp "
    "blood appendix plan section table part category"
)
FOREIGN = re.compile(
    r"[\u0370-\u1fff\u3040-\u9fff\uac00-\ud7af]+(?:[\s·・][\u0370-\u1fff\u3040-\u9fff\uac00-\ud7af]+)?"
)
