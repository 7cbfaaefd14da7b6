"""Numbers by which a person could be recognised: national, record, phone, card and account numbers (pure).

A long number in a clinical question is somebody's unless it is a quantity, a date, a range, a public phone line
or the number of a publication; a short one needs a word beside it ("MRN", "bed card no", "mobile").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.screening.births import is_date
from bot.screening.finding import Finding
from bot.screening.national import kind_of_digits, kind_of_token

# Digits in groups, as phone and national numbers are written.
_RUN = re.compile(r"(?<![\w.,/])(?<!\d[\-])(?:\+|\(\+?)?\d(?:[ .\-/()]{0,3}\d){5,21}(?!\w|[.,/%]\d|\s?%)")
_GROUPED = re.compile(r"\d{1,3}(?:[ ,]\d{3})+")
_QUANTITY = re.compile(
    r"\s?(?:-\s?\d+\s?)?(?:units?|i\.?u\.?|copies|cells?|cfu|m?c?g|µg|ug|ng|kg|ml|l|mls|litres?|liters?|per|/|x\s?10|×|bpm|mm\s?hg|mmol|"
    r"kcal|cal|joules?|steps|eur|usd|gbp|naira|dollars|euros|pounds|years?|months|weeks|days|hours|hrs?|mins?|minutes|seconds|"
    r"m|cm|mm|km|metres?|people|patients|participants|population|women|men|children|births|deaths|cases|tablets?|doses|"
    r"microlit\w+|milli\w+|micro\w+|mega\w+|platelets|leu[ck]ocytes)(?![\w])|\s?[/%°µμ]",
    re.I,
)
_MONEY = re.compile(r"(?:[$£€₦]|\b(?:usd|eur|gbp|ngn|aed|rs|inr)\.?)\s?$", re.I)
_LAB = re.compile(
    r"\b(?:platelets?|plts?|wbc|wcc|rbc|white\s+cells?|count|viral\s+load|copies|cd4|ferritin|b-?hcg|hcg|bnp|ck|troponin|"
    r"level|load|dose|units|titre|titer|ratio|score|bp|bps|hr|sats|temp\w*)\b(?:\s*(?:of|is|was|at|=|:|<|>|≥|≤|~))*\s*$",
    re.I,
)
_PUBLICATION = re.compile(
    r"(?<![a-z])(?:pmid|pmc|pubmed|doi|isbn|issn|isrctn|nct|eudract|clinicaltrials?(?:\.gov)?|trial|guidelines?|guidance|protocol|"
    r"polic(?:y|ies)|sop|form|section|chapter|article|rule|regulation|paragraph|appendix|table|figure|page|ref(?:erence)?|version|standard|iso|en|iec|"
    r"ng|cg|qs|ta|dg|ipg|mtg|hst|batch|lot|gtin|ndc|atc|icd|snomed(?:\s?ct)?|sctid|loinc|cpt|hcpcs|read\s+code|din|pzn|udi|"
    r"cas|rxcui|rxnorm|product|licen[cs]e\s+no|build|catalog(?:ue)?|part)(?:\s*(?:no\.?|nos\.?|number|code|id|concept|#|:|-))*\s*[:#]?\s*$",
    re.I,
)
# Lines that anybody may call: emergency, poison information, crisis; toll-free numbers are organisations'.
_PUBLIC_LINES = frozenset(
    (
        "116117",
        "116123",
        "116111",
        "131126",
        "131114",
        "0800764766",
        "18002221222",
        "8002221222",
        "18002738255",
        "18006624357",
        "03448920111",
        "3448920111",
        "443448920111",
        "442083011500",
        "1300659467",
        "08457909090",
        "0345909090",
        "076119240",
        "0145425959",
    )
)
_TOLL_FREE = re.compile(
    r"(?:00|\+)?1?(?:800|888|877|866|855|844|833)\d{7}|0800\d{4,7}|0808\d{6,7}|1[38]00\d{6}|13\d{4}"
)

_ID_NOUN = (
    r"social\s+security|social\s+insurance|national\s+insurance|national|identity|identification|passport|insurance|insured|policy\s?holder|"
    r"member(?:ship)?|subscriber|beneficiary|health\s?(?:card|plan|care|insurance|number)?|medical(?:\s+record)?|med\s?rec|record|chart|case|file|folder|"
    r"encounter|visit|admission|admit|episode|account|acct|accession|specimen|sample|order|requisition|referral|bed\s+card|"
    r"driver'?s?\s+licen[cs]e|driving\s+licen[cs]e|licen[cs]e|personal|patient'?s?|pt'?s?|client|hospital|hosp|unit|clinic|ward|"
    r"study|device|pacemaker|implant|serial|tax|fiscal|voter|ration|aadhaar|aadhar|pan|resident|residence|wristband|ticket|incident|"
    r"prescription|rx|claim|group|certificate|vehicle|credit\s+card|debit\s+card|card|cc|bank|credit|debit"
)
_CUE = re.compile(
    r"(?<![a-z])(?:(?P<sure>(?:mrn|nhs|chi|hcn|ssn|sin|nino|ni|umrn|urn|mpi|empi|emr|ehr|medicare|medicaid|mbi|pid|nhi|crn|uhid|ihi|dni|nie|cpf|bsn|"
    rf"pesel|aadhaar|aadhar|nric|iban|passport|dl|mc|hn|nric|h\.?c\.?n|h\s?&\s?c|{_ID_NOUN})"
    r"[\s.]{0,2}(?:card\s+)?(?:id(?:entifier)?s?|nos?|nr|nums?|numbers?|#|codes?|reference|ref)(?![a-z])\.?"
    r"|mrn|nhs|chi|ssn|nino|umrn|mbi|pid|nhi|urn|uhid|pesel|aadhaar|hosp(?:ital)?\s?#|id\s?(?:no|number|\#|card)|social\s+security|unit\s?\#|mc\s?\#)"
    r"|(?P<weak>record|chart|patient|pt|client|id|identifier|acct|account|acc|passport|licen[cs]e|medicare|medicaid|serial|folder|"
    r"file|case|specimen|encounter|visit))"
    r"(?:\s|is|was|are|:|=|\#|no\b\.?|number|nr\b\.?|num\b\.?|,|\(|\"|ends?\s+(?:in|with)|ending|-)*"
    r"(?P<value>(?=[A-Z0-9/.\-]*\d)[A-Z0-9](?:[ \-/.]?[A-Z0-9]){2,24})(?![\w])",
    re.I,
)
_PHONE_CUE = re.compile(
    r"\b(?:tel(?:ephone|eph)?|phone|mobile|mob|cell(?:phone)?|ring(?:ing)?|call(?:ing|ed|back)?|fax|pager|bleep|whats\s?app|sms|text(?:ed)?|"
    r"contact(?:able)?|reach(?:able|ed)?|ph|landline|dial)\b[^\d\n+(]{0,30}?"
    r"(?P<value>[+(]{0,2}\d(?:[ .\-()/]{0,3}\d){5,16}(?:\s?(?:x|ext\.?)\s?\d{1,6})?)(?![\w]|[.,/%]\d)",
    re.I,
)
_NINO = re.compile(r"(?<!\w)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[A-D](?!\w)", re.I)
_TOKEN = re.compile(r"(?<![\w/.\-])(?=[A-Z\-/]{0,12}\d)[A-Z0-9](?:[\-/]?[A-Z0-9]){5,33}(?![\w/\-])", re.I)
_SPACED_TOKEN = re.compile(
    r"(?<![\w/.\-])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,5}){3,8}(?![\w/\-])"
    r"|(?<!\w)\d[A-Z]{1,2}\d(?:[ \-][A-Z0-9]{3,4}){2}(?!\w)",
    re.I,
)
_NO_TOKEN = re.compile(
    r"(?:nct|isrctn|pmc|pmid|chembl|rs|ng|cg|qs|ta|iso|iec|en|bnt|mrna|sars|cov|covid|hla|cd|il|ifn|tnf|egfr|her|cyp|apo|hiv|htlv|hpv|"
    r"ebv|cmv|hsv|vzv|h\d+n\d+|b\d{1,2}|t\d|covid|who|fda|ema|gmc|cqc|eu|ec|doi|v|version|grade|stage|type|q\d|bd|tds|mg\d|s\d)[\-/]?\d",
    re.I,
)
_DOSE_TOKEN = re.compile(
    r"[\d.\-/x]+(?:m?c?g|ug|ml|l|iu|u|kg|mmol|units?|h|hr|hrs|hourly|d|day|days|w|weeks?|y|yrs?|years?|months?|m|cm|mm|mins?|bpm|k)(?:/\w+)*",
    re.I,
)
_PLATE = re.compile(
    r"\b(?:plates?|vrn|vin|(?:car|vehicle)\s+reg(?:istration)?|number\s+plate|licen[cs]e\s+plate)(?:\s|no\.?|number|:|is|#)*"
    r"(?P<value>(?=[A-Z0-9 -]*\d)[A-Z0-9]{2,}(?:[ -][A-Z0-9]{2,4}){0,2})(?!\w)",
    re.I,
)


def find_numbers(text: str) -> Iterator[Finding]:
    """Yield national, record, phone, card and account numbers; they may overlap."""
    for match in _NINO.finditer(text):
        yield Finding(*match.span(), "national insurance number")
    for match in _PLATE.finditer(text):
        yield Finding(*match.span("value"), "licence number")
    yield from _beside_cues(text)
    for match in _RUN.finditer(text):
        kind = _kind_of_run(text, match)
        if kind:
            yield Finding(*match.span(), kind)
    for pattern in (_SPACED_TOKEN, _TOKEN):
        for match in pattern.finditer(text):
            kind = _kind_of_token(text, match)
            if kind:
                yield Finding(*match.span(), kind)


def _beside_cues(text: str) -> Iterator[Finding]:
    for match in _PHONE_CUE.finditer(text):
        digits = re.sub(r"\D", "", re.split(r"(?i)x|ext", match["value"])[0])
        if not _is_public(digits) and not _is_excused(text, *match.span("value")):
            yield Finding(*match.span("value"), "phone number")
    for match in _CUE.finditer(text):
        value = _identifier_in(match["value"])
        count = sum(character.isdigit() for character in value)
        start = match.start("value")
        if count >= (3 if match["sure"] else 5) and not _is_excused(
            text, start, start + len(value), cued=bool(match["sure"])
        ):
            yield Finding(start, start + len(value), _kind_by_cue(match[0]) or _kind_of_value(value) or "record number")


def _identifier_in(value: str) -> str:
    """Return the part of what follows a cue up to the last piece with a digit; words after it are prose."""
    pieces = re.split(r"([ ])", value)
    kept: list[str] = []
    for piece in pieces:
        if (
            piece != " "
            and not any(character.isdigit() for character in piece)
            and not (piece.isupper() and len(piece) <= 4)
        ):
            break
        kept.append(piece)
    while (
        kept
        and not any(character.isdigit() for character in kept[-1])
        and not (len(kept[-1]) <= 2 and kept[-1].isupper())
    ):
        kept.pop()
    return "".join(kept)


def _kind_by_cue(cue: str) -> str | None:
    for pattern, kind in (
        (r"\b(?:nhs|chi)\b", "NHS or CHI number"),
        (r"\bssn\b|social\s+security", "social security number"),
        (r"\bnino?\b|national\s+insurance", "national insurance number"),
        (r"passport", "passport number"),
        (r"licen[cs]e|\bdl\b", "licence number"),
        (r"\bcredit|\bdebit|\bcc\b", "card number"),
        (r"iban|bank|account|acct", "bank account number"),
    ):
        if re.search(pattern, cue, re.I):
            return kind
    return None


def _kind_of_value(value: str) -> str | None:
    token = re.sub(r"[^A-Z0-9]", "", value.upper())
    return kind_of_digits(token) if token.isdigit() else kind_of_token(token)


def _kind_of_run(text: str, match: re.Match[str]) -> str | None:
    """Return what a run of digits is; None when it is nobody's."""
    value = match[0]
    digits = re.sub(r"\D", "", value)
    if len(digits) < 7 or _is_public(digits) or is_date(value) or _is_excused(text, *match.span()):
        return None
    kind = kind_of_digits(digits)
    plain_groups = re.split(r"[ \-]", value)
    if kind and (len(plain_groups) == 1 or len(digits) >= 9):
        return kind
    if re.fullmatch(r"\d{3}[ \-]\d{2}[ \-]\d{4}", value):
        return "social security number"
    if (
        re.fullmatch(r"(?:\d{3}[ \-]?\d{3}[ \-]?\d{4})", value)
        and len(plain_groups) == 3
        and digits[0] in "4679"
        and " " in value
    ):
        return "NHS or CHI number" if kind else "phone number"
    if _is_phone(value, digits):
        return "phone number"
    if len(plain_groups) == 1 or (
        len(plain_groups) >= 3 and len(digits) >= 9 and "." not in value and "/" not in value
    ):
        return "record number"
    return None


def _is_phone(value: str, digits: str) -> bool:
    """Tell whether digits are grouped as a phone number somewhere in the world."""
    if len(digits) > 15:
        return False
    if value[0] in "+(" or re.match(r"00[1-9]", digits) or (digits[0] == "0" and len(digits) >= 9):
        return True
    groups = [len(group) for group in re.split(r"\D+", value) if group]
    if "/" in value and not re.fullmatch(r"0\d+\s?/\s?[\d \-]+", value):
        return False
    whole = tuple(groups)
    return whole in _PHONE_GROUPS or (len(whole) == 1 and 10 <= len(digits) <= 13)


_PHONE_GROUPS = frozenset(
    (
        (3, 4),
        (3, 3, 4),
        (1, 3, 3, 4),
        (3, 3, 3),
        (2, 2, 2, 2),
        (2, 2, 2, 2, 2),
        (3, 2, 2),
        (3, 2, 2, 2),
        (3, 3, 2, 2),
        (2, 3, 2, 2),
        (2, 3, 4),
        (3, 4, 4),
        (2, 4, 4),
        (4, 3, 3),
        (4, 3, 4),
        (5, 5),
        (5, 6),
        (5, 3, 3),
        (4, 6),
        (4, 7),
        (2, 5, 4),
        (1, 2, 2, 2, 2),
        (1, 3, 3, 2, 2),
        (1, 4, 4),
        (3, 3, 5),
        (2, 3, 3),
        (3, 2, 3),
        (2, 3, 5),
        (3, 7),
        (2, 8),
    )
)


def _kind_of_token(text: str, match: re.Match[str]) -> str | None:
    value = match[0]
    token = re.sub(r"[^A-Z0-9]", "", value.upper())
    letters = sum(character.isalpha() for character in token)
    digits = len(token) - letters
    if not letters or not digits or _PUBLICATION.search(text[max(0, match.start() - 40) : match.start()]):
        return None
    kind = kind_of_token(token)
    if kind:
        return kind
    if " " in value or digits < 5 or digits < letters or _NO_TOKEN.match(value) or _DOSE_TOKEN.fullmatch(value):
        return None
    if re.search(r"[a-z]{3}", value) and not value[:1].isupper():
        return None
    return "record number"


def _is_public(digits: str) -> bool:
    return digits in _PUBLIC_LINES or _TOLL_FREE.fullmatch(digits) is not None


def _is_excused(text: str, start: int, end: int, *, cued: bool = False) -> bool:
    """Tell whether a number is a quantity, a range, a round figure, or names a publication."""
    value, before = text[start:end], text[max(0, start - 40) : start]
    if _QUANTITY.match(text, end) or (
        not cued and (_PUBLICATION.search(before) or _LAB.search(before) or _MONEY.search(before))
    ):
        return True
    if cued:
        return False
    if _GROUPED.fullmatch(value) and value.replace(" ", "").endswith("00"):
        return True
    groups = re.findall(r"\d+", value)
    joined = "".join(groups)
    if re.fullmatch(r"[1-9]\d{0,2}0{4,}", joined) and len(groups) <= 2:
        return True
    if len(groups) == 2 and "-" in value:
        low, high = int(groups[0]), int(groups[1])
        years = all(1900 <= one <= 2100 for one in (low, high)) and low <= high
        return years or (low < high and low % 50 == 0 and high % 50 == 0 and len(groups[0]) > 2)
    if value[0] in "+(0":
        return False
    # Doses and readings in a row: "25 50 100 200", "120/80 110/70".
    in_fives = len(groups) > 2 and all(len(group) <= 3 and int(group) % 5 == 0 for group in groups)
    return in_fives or re.search(r"(?<!\d)\d{2,3}/\d{2,3}(?!\d)", value) is not None
