"""The words the checker knows: which carry no fact, which mean the same, and which must never be mixed up.

Data only. A word that stands in none of these lists is content: the source must hold it.
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


GLUE = words(
    """a an the this that these those it its they them their he she his her him you your we our us i one ones who whom
    whose which what where how why there here such same other others another each every all any both some
    several various certain many much own is are was were be been being am has have having had do does did done
    doing will would shall should must ought may might can could cannot need needs needed needing let of in on
    at to by for from with into onto upon as about around approximately roughly per via within during between
    among against towards toward through throughout across along up down out off again and or also too plus then
    than so thus hence therefore however moreover furthermore additionally addition well together including
    include includes included consist consists consisting comprise comprises comprising involve involves
    involving contain contains following follow follows followed namely ie eg i.e e.g i.e. e.g. etc etc. viz if
    because since due thereby whereby while whereas although though but yet still even just very quite please
    note noted notes remember important importantly generally overall specifically respectively particularly
    especially e.g give gives given giving gave administer administers administered administering administration
    take takes taken taking receive receives received receiving prescribe prescribed prescribing use uses used
    using usage usable apply applies applied applying offer offered provide provides provided providing
    recommend recommends recommended recommending recommendation recommendations advise advises advised advice
    suggest suggests suggested guideline guidelines guidance protocol source sources section sections document
    documents text passage according accordance state states stated stating say says said mention mentions
    mentioned describe described describes list lists listed listing specify specifies specified called known
    define defined defines indicate indicates indicated indicating dose doses dosage dosages dosing drug drugs
    medication medications medicine medicines agent agents regimen regimens treatment treatments treat treats
    treated treating therapy therapies therapeutic manage manages managed managing management approach
    approaches option options way ways method methods means measure measures step steps action actions
    intervention interventions strategy strategies patient patients person persons people individual individuals
    someone anyone case cases consider considers considered considering consideration possible possibly
    possibility appropriate appropriately suitable require requires required requiring necessary amount amounts
    total quantity number level levels value values rate rates range ranges form forms type types kind kinds
    duration period periods course frequency interval intervals time times daily day perform performs performed
    performing conduct conducted carry carried obtain obtained order ordered check checked undergo undergoes run
    runs become becomes make makes made making get gets got getting keep put set ensure ensures ensured achieve
    achieves help helps aim aims aimed order purpose goal goals yes answer question
    currently usually typically normally main mainly key based associated presence present presents presenting
    presentation occur occurs occurring occurred aged age ages old older non-drug"""
) - words("non-drug")

# Words that carry no fact but steer: they are read as marks, never as content.
NEGATORS = words(
    "not never avoid avoids avoided avoiding contraindicated contraindication contraindications "
    "contraindicate contraindicates nor neither unsafe forbidden prohibited discouraged refrain "
    "inadvisable none absent unsuitable unnecessary inappropriate"
)  # fmt: skip
LOCAL_NEGATORS = words("avoidance no without absence lack lacking nil non un")
# A medicine that has one of these to do with something is not thereby a medicine for it.
HARMS = words("cause risk worsen exacerb precipit induc")
HARMFUL_HEADINGS = words("adverse side complication caution cause differenti risk")
USES = words(
    "recommended recommend recommends used use uses using given give gives indicated suitable appropriate advised safe "
    "prescribed administered taken take treat treats treated treating treatment therapy managed offered helps allowed"
)
SELDOM = words("rarely seldom hardly scarcely infrequently unlikely little insufficient")
EXCEPTIONS = words("unless except excepting excluding apart save")
ONLY = words("only solely exclusively")
WEAK = words("may might could consider considered considering optional optionally possibly can")
STRONG = words("must always required mandatory essential shall obligatory imperative should")
STRONGEST = words("must always required mandatory essential shall obligatory imperative")

# Words of one line mean the same here. The first is the concept's name; lines with the same name are one.
SYNONYMS = """
start starts started starting begin begins began begun beginning commence commences commenced commencing
start initiate initiates initiated initiating initiation commencement onset
stop stops stopped stopping discontinue discontinues discontinued discontinuing discontinuation cease
stop ceases ceased cessation withdraw withdraws withdrawn withdrawing withdrawal halt
withhold withholds withheld withholding hold held omit omitted
suspend suspended suspending
continue continues continued continuing continuation maintain maintains maintained maintaining
increase increases increased increasing raise raises raised raising escalate escalated uptitrate elevated
increase elevation elevate
decrease decreases decreased decreasing reduce reduces reduced reducing reduction lower lowers lowered
decrease lowering decline declines diminished diminish
double doubled doubling
repeat repeats repeated repeating readminister
first 1st
second 2nd
third 3rd
fourth 4th
fifth 5th
oral orally mouth enteral po
intravenous intravenously iv
intramuscular intramuscularly im
subcutaneous subcutaneously sc subcut
rectal rectally pr
vaginal vaginally pv
sublingual sublingually sl
topical topically
inhaled inhale inhalation inhalational inhaling
nebulised nebulized nebuliser nebulizer nebulisation nebulization
intravitreal intravitreally
intrathecal intrathecally
child children paediatric pediatric paediatrics kid kids childhood
adult adults adulthood
neonate neonates neonatal newborn newborns
infant infants infancy
baby babies
adolescent adolescents adolescence teenager teenagers
elderly geriatric
pregnant pregnancy pregnancies gestational gestation antenatal
breastfeeding breastfeed lactating lactation nursing breast-feeding
woman women female females
man men male males
mother mothers maternal
fever febrile pyrexia fevers
hypertension hypertensive
immediately immediate urgently urgent promptly prompt stat
emergency emergencies
symptom symptoms sign signs feature features manifestation manifestations clinical
complication complications
diagnosis diagnose diagnosed diagnoses diagnostic
investigation investigations investigate
test tests testing tested
monitor monitors monitored monitoring observe observed observation
assess assesses assessed assessment evaluate evaluated evaluation
examine examined examination
refer referral referred refers
surgery surgical surgically operation operative operate
prevent prevents prevented preventing prevention preventive prophylaxis prophylactic prophylactically
cause causes caused causing aetiology etiology lead leads leading
allergy allergic allergies hypersensitivity hypersensitive
renal kidney kidneys
hepatic liver
cardiac heart
pulmonary lung lungs
gastric stomach
ocular eye eyes ophthalmic
skin cutaneous dermal
severe severely severity
mild mildly
acute acutely
chronic chronically
initial initially
maintenance
loading
paracetamol acetaminophen
adrenaline epinephrine
noradrenaline norepinephrine
salbutamol albuterol
furosemide frusemide
lidocaine lignocaine
phenobarbital phenobarbitone
pethidine meperidine
cotrimoxazole co-trimoxazole
sulfamethoxazole sulphamethoxazole
cefalexin cephalexin
amoxicillin amoxycillin
aciclovir acyclovir
ciclosporin cyclosporin cyclosporine
rifampicin rifampin
glibenclamide glyburide
cholecalciferol colecalciferol
infection infections infected infect
injection injections inject injected injecting
infusion infusions infuse infused infusing
tablet tablets
drop drops eyedrop eyedrops
wash washing washes washed
clean cleaning cleaned cleanse cleansing
doctor doctors physician physicians clinician clinicians
hospital hospitalise hospitalize hospitalised hospitalized hospitalisation hospitalization inpatient
admit admitted admission
first-line firstline
drink drinks drinking
bleed bleeding haemorrhage hemorrhage
vomit vomiting emesis
choice preferred prefer preference
alternative alternatively alternatives instead
meal meals food
bedtime night nocte nightly
morning mane
asneeded prn
sex sexual sexually
sugar glucose
history
weight weighing weigh weighs
resolve resolves resolved resolution
improve improves improved improvement
worsen worsens worsened worsening
persist persists persisted persistent persisting persistence
until till
after afterwards
when whenever
side adverse
effect effects
reaction reactions
caution cautions cautious cautiously
single once
wound wounds
swelling swollen oedema edema
ulcer ulcers ulceration
pain painful
tender tenderness
remove removes removed removing removal
replace replaced replacement replacing
divide divided dividing
supplement supplements supplementation supplemental
resistant resistance
sensitive sensitivity
suspect suspected suspicion
confirm confirms confirmed confirming confirmation
correct corrected correcting correction
educate education educated
counsel counselling counseling counselled
vaccinate vaccination vaccine vaccines vaccinated immunise immunize immunisation immunization immunised
vaccinate immunized
""".strip()

# Names of medicines that their ending does not give away.
MEDICINES = words(
    """paracetamol acetaminophen aspirin ibuprofen diclofenac naproxen indomethacin indometacin ketorolac mefenamic
    tramadol morphine codeine pethidine fentanyl methadone naloxone pentazocine metformin insulin glibenclamide
    gliclazide glimepiride acarbose digoxin amiodarone lidocaine lignocaine adrenaline epinephrine noradrenaline
    dopamine dobutamine atropine nitroglycerin nitroglycerine isosorbide nitroprusside hydralazine methyldopa
    nifedipine amlodipine verapamil diltiazem furosemide frusemide spironolactone hydrochlorothiazide
    bendroflumethiazide bumetanide mannitol warfarin heparin enoxaparin clopidogrel streptokinase alteplase
    tranexamic vitamin zinc iron folic folate calcium magnesium potassium sodium dextrose glucose saline ringer
    lactate oxygen albumin salbutamol aminophylline theophylline ipratropium tiotropium montelukast
    beclomethasone beclometasone budesonide fluticasone prednisolone prednisone hydrocortisone dexamethasone
    methylprednisolone betamethasone triamcinolone chlorphenamine chlorpheniramine cetirizine loratadine
    promethazine diphenhydramine metoclopramide domperidone ondansetron loperamide bisacodyl lactulose senna
    omeprazole ranitidine cimetidine famotidine sucralfate diazepam lorazepam midazolam clonazepam phenobarbital
    phenobarbitone phenytoin carbamazepine valproate valproic ethosuximide lamotrigine levetiracetam gabapentin
    pregabalin haloperidol chlorpromazine risperidone olanzapine quetiapine clozapine lithium amitriptyline
    imipramine clomipramine fluoxetine sertraline paroxetine citalopram levodopa carbidopa benzhexol
    trihexyphenidyl bromocriptine amantadine donepezil sumatriptan ergotamine artesunate artemether lumefantrine
    amodiaquine quinine chloroquine mefloquine primaquine proguanil pyrimethamine sulfadoxine sulphadoxine
    halofantrine praziquantel ivermectin diethylcarbamazine pyrantel levamisole niclosamide suramin melarsoprol
    pentamidine eflornithine benznidazole rifampicin rifampin isoniazid ethambutol pyrazinamide streptomycin
    dapsone clofazimine chloramphenicol tetracycline cotrimoxazole trimethoprim sulfamethoxazole nitrofurantoin
    nalidixic vancomycin linezolid colistin fusidic mupirocin nystatin griseofulvin terbinafine amphotericin
    flucytosine aciclovir acyclovir zidovudine lamivudine nevirapine efavirenz tenofovir emtricitabine stavudine
    didanosine abacavir dolutegravir interferon ribavirin methotrexate cyclophosphamide vincristine cisplatin
    doxorubicin bleomycin fluorouracil tamoxifen chlorambucil melphalan busulfan hydroxyurea imatinib
    allopurinol febuxostat colchicine probenecid sulfasalazine hydroxychloroquine azathioprine penicillamine
    gold oxytocin ergometrine misoprostol mifepristone progesterone oestrogen estrogen levonorgestrel clomifene
    clomiphene danazol thyroxine levothyroxine carbimazole propylthiouracil iodine sildenafil tadalafil
    finasteride dutasteride tamsulosin oxybutynin timolol pilocarpine acetazolamide latanoprost benzoyl
    permethrin malathion crotamiton benzyl salicylic podophyllin podophyllotoxin silver povidone chlorhexidine
    gentian calamine hydroquinone tretinoin isotretinoin coal dithranol acitretin ciclosporin tacrolimus
    antivenom antitoxin immunoglobulin desmopressin vasopressin glucagon octreotide terlipressin charcoal
    deferoxamine desferrioxamine ors flumazenil pralidoxime baclofen allantoin co-amoxiclav coamoxiclav
    amoxiclav amoxycillin cefuroxime sulphur sulfur"""
)
MEDICINE_ENDINGS = (
    "cillin", "mycin", "micin", "oxacin", "azole", "cycline", "penem", "vir", "pril", "sartan", "olol", "statin",
    "dipine", "prazole", "tidine", "setron", "triptan", "pam", "lam", "barbital", "caine", "sone", "solone", "olone",
    "mab", "tinib", "parin", "gliptin", "gliflozin", "glitazone", "glutide", "terol", "tropium", "oxetine", "pramine",
    "triptyline", "azine", "idone", "apine", "curium", "curonium", "profen", "coxib", "dronate", "fungin", "bendazole",
    "quine", "thiazide", "semide", "zosin", "afil", "platin", "rubicin", "taxel", "stigmine", "steride",
)  # fmt: skip
MEDICINE_STARTS = ("cef", "ceph", "sulfa", "sulpha", "predni")

POPULATIONS = words("adult child neonate infant baby adolescent elderly pregnant breastfeeding woman man boy girl")
YOUNG = words("child neonate infant baby boy girl")
ROUTES = words(
    "oral intravenous intramuscular subcutaneous rectal vaginal sublingual topical inhaled nebulised intrathecal "
    "intraosseous intradermal intranasal nasal buccal transdermal intravitreal epidural parenteral"
)
ROLES = words("loading maintenance initial starting booster")
# What limits a dose when it labels it ("Severe disease: …").
LIMITERS = words(
    """severe mild moderate acute chronic prevent recurrent complicated uncomplicated resistant emergency late early"""
)
# How a medicine is given or what it comes in: no subject of its own.
FORMS = words(
    "injection infusion tablet drop bolus solution cream ointment syrup suspension capsule slow "
    "slowly day first second third"
)
ACTIONS = words("start stop withhold suspend continue increase decrease double repeat replace remove")
AUXILIARIES = words("should must may can could might will is are was were has have shall")
# Verbs that open a new instruction after a comma or 'and'.
VERBS = words(
    """give use take start stop withhold suspend continue increase decrease double repeat avoid administer treat refer
    monitor check consider apply add ensure keep remove insert wash clean advise prescribe assess admit
    transfuse switch change taper maintain review measure perform obtain send report counsel encourage provide
    offer exclude correct treat infuse inject begin commence discontinue reduce lower raise"""
)
