"""People's names in a text (pure, over lists of names that Faker ships).

A name is never proved, so each rule is one way in which people write about a person: a title before it, a cue
("patient", "called"), a given name followed by a surname, a surname in capitals before a given name. Eponyms,
drugs and units are no names, and a name that is also a word needs a stronger cue.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module

from bot.identifiers import Finding

_LOCALES = (
    "en_US en_GB en_IN en_NZ en_IE ga_IE de_DE fr_FR es_ES es_MX it_IT pt_BR pt_PT nl_NL pl_PL sv_SE no_NO da_DK fi "
    "fi_FI cs_CZ hu_HU ro_RO hr_HR tr_TR vi_VN id_ID en_PK yo_NG ha_NG ig_NG en_NG sk_SK sl_SI lt_LT lv_LV et_EE "
    "az_AZ zu_ZA sw tw_GH"
).split()

# Given names and surnames that are words of everyday or clinical English, or places, months and weekdays.
_WORDS = frozenset(
    """
    a ace acute ada adam's age aim air alpha amber an angel angle april arch arm art asa ash august aura autumn baby bach bacon ball
    bank banks barber bat baxter bay bean bear beck bed bee bell berry best beta bill bird bishop black bland blanket bliss block
    blood blue boil bond bone book border born bow bowel bowen bowers boy brain branch brand brandy bread breast bridge bright brook
    brown buck bull burn burns bush butcher butler cad cain call camp can candida candy cannon car carbon card care carol carter cash
    case castle cat chance change chase check cherry chest child children china christian church city clare clark clay clear clinic
    close coach coast code cold cole coma come comfort con cook cool cope cord corn cotton count course court cow cox crane cream
    crisp cross crow cruz crystal cup curry cut cyst dale dan dance dash dawn day days dean death deep dell delta den derby destiny
    diamond diet dike dill dim do doc doctor dog dolor don dose dot drain draw drew drop drug drum dry duke dye early earl east easter
    eden egg eli ember england eta etc eve ever ex eye face fair faith fall far farm farmer fast fat favor fay feet fell fern fever
    field fields finger fish fisher fit flood flora floor flow flower floyd fluid foot for force ford forest foster fountain fox
    france frank free freeman frost full fuller gale gamble game gamma garden gates gene general georgia german gift ginger glad glass
    glen glory gold golden good goodman grace grand grant gravel graves gray green grey ground grove guard guide gum gun guy hair hale
    hall hand hands hard hardy harmony harp has hay hazel head heal healthy heart heat heath heaven heel helm help her herb here hero
    high hill hip his ho holder hole holiday holly holmes home honey hood hook hope hopper horn horse house how huff hunger hunt
    hunter hurt ice i im in india iris iron island israel it iva ivory ivy jack jade jasmine jasper jay jean jewel job jordan joy jump
    jury justice kay keen keep key kid kidney kin kind king kiss kitty knee knife knight lace lad ladder lady lake lamb lance land lane
    large lark last laurel law laws leach lead leaf lean leg lemon lent less levy life light lily limb lime line link lip liver list
    little live loan lock london long lord loss lot love low luck lung luna lyme lynch ma mace mack madison mag maid major man many
    mark marker market marks marsh mary mason mass masters mat maximum may mayo me mead meadow means medic melody mercury mercy merit
    merry mid mile miles mill miller min minor mint miracle miss mix mo mode mole mom monday monk month moody moon moor more morgan
    morning moss mouth my nail name neck need needles nephew new news nice night nil no noble noel none noon norm normal north norton
    nose note nova now nurse oak ode of oh oil old olive oliver on one opal open oral orange orchard order orion ounce outlaw owl pace
    pack page pain paint pal palm pansy paris park parker parr part patch patience patient paul pay peace peach peak pearl pelvis
    penny people pepper perfect pe per petty phoenix piece pierce pill pink pink's pit place plain plan plant plate play plum point
    polar pole pond pool poor pope poppy port portal post potter potts pouch power precious press price pride priest prime prince
    princess proctor promise proper pulse pump pure quick quill quiet rain ram ran rash ratio raven ray read real record red reed reef
    reese reference regular rest rex rice rich river rivers road roach robin rock roll rome root rose rosemary rough round rowing royal
    ruby rue rule run rush russia sadler safe sage said sail saint salmon salt sample san sand sands sandy sat sauce savage save saw
    savannah say scale school score sea seal season second see self send serenity set severe shade shadow sharp shaw she shell shield
    shift shin ship shock shoe shore short show sick side sierra sign silk silver sin single skin sky skull slaughter sleep slim small
    smart smoke snow so soft son song sorrow south spain spear spears speed spine spring stacy stage staff star starr start state
    station steel stem step stern still stock stomach stone storm story stout strange street strong style sue sugar summer summers sun
    sunday sunny sweet swift sydney tab table tan target tea teal team temple test thin thomas's thorn tiger time to toe top total
    touch tower town tracheal tract trail tree trial trinity true trust tube tuesday tung turn tyler u un under union unity urban use
    vale valve van vein venus victor victory vine violet virginia vital voice wade wait walk walker wall war ward warm wash water
    waters watt wave way we weak weaver web week weeks weight well wells west wheat wheeler while white wild wilder will wind window
    wine wing winter wise wolf woman wood woods wool word work world worth wound wrist write x yard year yes yet yon york young yi zen
    aids asthma scabies miller's adult adults children elderly women men mother father parent parents sister brother daughter husband
    wife carer nurse consultant registrar pharmacist midwife social spanish english french german polish italian african asian indian
    chinese american british european northern southern western eastern central january february march june july september october
    november december wednesday thursday friday saturday first third fourth type grade class stage group level unit royal national
    international world health hospital clinic emergency department care service trust society association college institute
    """.split()
)

# Diseases, signs, scores and devices are called after people; these names alone never mean a patient.
_EPONYMS = frozenset(
    """
    addison alzheimer apgar babinski barrett barthel bartter basedow battle bazett beck becker behcet bence bernard bishop bouchard
    bowen braden bright broca brown brugada bruce budd burkitt caesar cajal celsius chagas charcot cheyne chiari chvostek cockcroft coombs
    couvade cope creutzfeldt crohn cullen cushing dandy denver doppler down dressler duchenne dupuytren duke durie ebstein edinburgh
    ehlers ekbom epley epstein erb ewing fallot fahrenheit fanconi felty fitzpatrick foley fournier framingham frank friedreich
    gamgee gardner gaucher gault geneva gerdy ghon giemsa gilbert glasgow goodpasture gram graves grey guillain hamilton hartmann hashimoto
    hawkins heberden heimlich henle henoch hirschsprung hodgkin homan horner hunt hunter huntington hutchinson jacksonian jakob
    johnson jones kaposi kawasaki kernig kerley kiesselbach killip kleinfelter klinefelter koch koplik korsakoff kussmaul lachman lewy
    lister ludwig lyme lynch mallory manchester marburg marfan mantoux mayo mccune mcburney mcgill mckenzie meckel meniere miller moro
    morton munchausen murphy naegele nelson nightingale nissen norton norwalk ohm oslo osgood osler ottawa padua paget papanicolaou
    parkinson pascal perthes peyronie phalen pierre prader quincke ramsay ranson raynaud reed reiter reye rinne ringer robin
    rockall romberg rorschach roth rovsing sabin schilling schlatter schönlein seldinger sheehan simmonds sims sjogren sjögren snellen
    spurling stevens still stokes strachan swan sydenham tay thomas tietze tinel tourette trendelenburg trousseau tuohy turner valsalva
    virchow waldenström waterlow weber wells wernicke westergren whipple wilms wilson wolff wood yale yates zenker ziehl zimmer zollinger
    zung abbey bates bristol burke child clark cobb conners edmonton fagerstrom fried hachinski hamwi harris karnofsky katz kessler
    kocher lille lund morse pugh rankin revised schirmer waterhouse wagner winters worthing
    """.split()
)

_CLINICAL_NOUN = (
    r"(?i:disease|syndrome|score|scoring|scale|criteria|criterion|rule|rules|test|sign|signs|palsy|index|classification|method|"
    r"manoeuvre|maneuver|position|formula|equation|solution|lactate|catheter|tube|stain|reaction|reflex|fracture|contracture|"
    r"phenomenon|disorder|lymphoma|sarcoma|tumou?r|nodes?|cells?|bodies|body|hernia|crisis|chorea|dementia|ulcer|virus|fever|"
    r"thyroiditis|encephalopathy|psychosis|oesophagus|esophagus|coma|respiration|breathing|operation|procedure|splint|"
    r"dressing|protocol|guideline|chart|lens|scope|regimen|diet|triad|tetralogy|pyramid|aneurysm|angina|granuloma|keratosis|"
    r"questionnaire|inventory|scan|unit|clinic|hospital|trust|centre|center|wort|ward|team|nomogram|algorithm|score|staging|"
    r"injection|tablets?|capsules?|cream|drops|inhaler|infusion|therapy|treatment|prophylaxis|vaccine|vaccination)"
)

_N = r"[^\W\d_]"
_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪĮİĶĹĻŁŃŅŇŌŐŒŘŚŞŠŢŤŪŮŰŲŸŹŻŽȘȚ"
_CAPITAL = rf"[{_UPPER}](?:{_N}|['\-](?={_N}))*(?<!')"
_CAP_WORD = re.compile(rf"(?<![\w'\-@/]){_CAPITAL}")
_NAME = rf"{_CAPITAL}(?:\s+(?:[A-Z]\.?|(?:van|von|de|del|della|der|den|di|da|dos|du|la|le|bin|ibn|al|el|ten|ter)(?:\s+(?:de|der|den|la))?|{_CAPITAL})){{0,3}}"
_TITLE = re.compile(
    rf"\b(?i:mr|mrs|ms|miss|mx|mister|missus|master|madam|sir|dame|lady|lord|herr|frau|señora?|senora?|sra?|signora?|monsieur|madame|"
    rf"mme|mlle|dr|doctor|prof|professor|rev|reverend|father|sister|nurse|pastor)\b\.?\s+(?P<name>{_NAME})"
)
_TITLE_ANY_CASE = re.compile(rf"\b(?:mr|mrs|ms|mx|mister)\b\.?\s+(?P<name>{_N}{{2,}}(?:\s+{_N}{{2,}})?)", re.I)
_STRONG_CUE = re.compile(
    rf"\b(?i:named|(?:is|was|who\s+is|,)\s+called|name\s*(?:is|was|:|=|-)|(?:pt|patient|first|last|full|sur|family|given|maiden)[\s\-]?name\s*(?:is|:|=|-)?|"
    rf"my\s+name\s+is|known\s+as|goes\s+by|surname|n\.?o\.?k\.?\s*:?|next\s+of\s+kin\s*(?:is|:)?|initials)\s+(?P<name>{_NAME})"
)
_STRONG_ANY_CASE = re.compile(
    rf"\b(?:(?:pt|patient|client|child|baby|boy|girl|man|woman|lady|gentleman|resident|son|daughter)\s+(?:is\s+)?(?:called|named)|"
    rf"(?:pt|patient|full|first|last)?'?s?\s?name(?:\s+is|\s*[:=])|my\s+name\s+is)\s+(?P<name>{_N}{{2,}}(?:\s+{_N}{{2,}})?)",
    re.I,
)
_PERSON_CUE = (
    r"(?i:patients?|pt|pts|client|resident|service\s+user|caller|casualty|in-?patient|out-?patient|neighbou?r|"
    r"child|baby|infant|newborn|boy|girl|lady|gentleman|man|woman|male|female|mother|mum|mom|father|dad|son|daughter|husband|wife|"
    r"partner|brother|sister|aunt|uncle|grand(?:mother|father|ma|pa|son|daughter)|friend|colleague)"
)
_CUE = re.compile(rf"\b{_PERSON_CUE}\b\s*[:,#\-(]?\s*(?P<name>{_NAME})")
_CUE_ANY_CASE = re.compile(rf"\b{_PERSON_CUE}\b\s*[:,#\-(]?\s*(?P<name>{_N}{{2,}}\s+{_N}{{2,}})\b", re.I)
_PREPOSITION = re.compile(
    rf"\b(?i:for|with|about|regarding|re|on|to|from|give|gave|giving|saw|seeing|seen|admit|admitted|discharge|bed\s+\d+)\b:?\s+(?P<name>{_NAME})"
)
_SURNAME_FIRST = re.compile(rf"(?<![\w@])(?P<name>[{_UPPER}][\w'\-]{{1,}},\s*{_CAPITAL}(?:\s+[A-Z]\b\.?)?)")
_ABOUT_ONE = (
    r"(?:\s*,?\s*\(?(?:aged?\s+)?\d{1,3}\s?(?:y\b|yo\b|y/o|yrs?|year|months?|mo\b|m\b|f\b)|\s*,?\s*\(?(?i:d\.?o\.?b|born|nhs|mrn)\b"
    r"|\s+(?i:is|was|has|had|needs|takes|took|feels|felt|says|said|complains|presents|presented|came|lives|weighs|wants|asks|"
    r"refuses|reports|keeps|vomited|fell|collapsed|started|stopped|denies|can't|cannot|doesn't|isn't|hasn't)\b|'s\s+\w+|\s*,\s*\d{1,3}\b)"
)
_ABOUT = re.compile(_ABOUT_ONE)
_INITIALS = re.compile(
    rf"(?P<name>(?<![\w.])(?:[A-Z]\.\s?){{2,3}}|(?<![\w.])[A-Z]{{2,3}})(?=,?\s*\(?(?:d\.?o\.?b|born|NHS|MRN)\b)|"
    rf"\b{_PERSON_CUE}\s+(?P<initials>(?:[A-Z]\.\s?){{2,3}})(?!\w)"
)


def find_names(text: str, allowed: Collection[str] = ()) -> Iterator[Finding]:
    """Yield (start, end, "name") of each name of a person; they may overlap.

    Args:
        text: what a person wrote, with mentions blanked.
        allowed: colleagues' names, in any case; whole or in part they are no details.
    """
    colleagues = {part.casefold() for name in allowed for part in re.split(r"[\s._-]+", name) if part}
    for start, end in _spans(text):
        words = re.findall(rf"{_N}+", text[start:end])
        if not all(word.casefold() in colleagues for word in words):
            yield start, end, "name"


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_TITLE, _STRONG_CUE):
        for match in pattern.finditer(text):
            yield from _trimmed(text, *match.span("name"), strong=True)
    for pattern in (_CUE, _PREPOSITION):
        for match in pattern.finditer(text):
            yield from _trimmed(text, *match.span("name"), strong=False, cue=pattern is _CUE)
    for match in _TITLE_ANY_CASE.finditer(text):
        yield from _lower(text, *match.span("name"), sure=1)
    for match in _STRONG_ANY_CASE.finditer(text):
        yield from _lower(text, *match.span("name"), sure=1)
    for match in _CUE_ANY_CASE.finditer(text):
        yield from _lower(text, *match.span("name"), sure=0)
    for match in _SURNAME_FIRST.finditer(text):
        surname, _, given = match["name"].partition(",")
        known = _is_given(given.split()[0]) and (_is_surname(surname) or surname.isupper())
        if known and not _is_word(surname) and surname.casefold() not in _EPONYMS:
            yield match.span("name")
    yield from _known_pairs(text)
    for match in _INITIALS.finditer(text):
        yield match.span("name") if match["name"] else match.span("initials")


def _trimmed(text: str, start: int, end: int, *, strong: bool, cue: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the part of a capitalised run that is a name."""
    words = [match for match in re.finditer(rf"{_CAPITAL}|[a-z]+", text[start:end])]
    kept = []
    for match in words:
        word = match[0]
        if _ends_a_name(word) or (not kept and (_is_word(word) and not strong)):
            break
        kept.append(match)
    if not kept:
        return
    last = start + kept[-1].end()
    if _is_eponym(text, kept[0][0], start, last, strong=strong):
        return
    first = kept[0][0]
    if not strong:
        given, surname = _is_given(first), len(kept) > 1 and (_is_surname(kept[-1][0]) or _is_given(kept[-1][0]))
        unknown_pair = cue and len(kept) > 1 and not any(_is_word(match[0]) for match in kept)
        alone = len(kept) == 1 and (given or (cue and _is_surname(first))) and not first.isupper()
        if not ((given and surname) or alone or unknown_pair or (cue and surname)):
            return
        if unknown_pair and not (given or surname) and not _ABOUT.match(text, last):
            return
    elif _is_word(first) and len(kept) == 1 and first.casefold() in _NEVER:
        return
    yield start, last


_NEVER = frozenset(
    "the a an of and or in on at for with to not is was if when what which how i you we they he she it".split()
)


def _ends_a_name(word: str) -> bool:
    return word.isupper() and len(word) in (2, 3) and not _is_surname(word) and not _is_given(word)


def _lower(text: str, start: int, end: int, *, sure: int) -> Iterator[tuple[int, int]]:
    """Yield a name written in any case: both words must be names, or one after a cue that asks for a name."""
    words = text[start:end].split()
    first = words[0]
    if first.casefold() in _EPONYMS and not _is_given(first):
        return
    two = len(words) > 1 and _is_given(first) and (_is_surname(words[1]) or _is_given(words[1]))
    if two and not (_is_word(first) and _is_word(words[1])) and not (sure == 0 and _is_word(first)):
        yield start, end
    elif (
        sure and first.casefold() not in _NEVER and not (_is_word(first) and first.islower() and not _is_surname(first))
    ):
        yield start, start + len(first)


def _known_pairs(text: str) -> Iterator[tuple[int, int]]:
    """Yield given name and surname side by side, and a given name of which something personal is said."""
    words = list(_CAP_WORD.finditer(text))
    for place, match in enumerate(words):
        first = match[0].removesuffix("'s")
        if not _is_given(first) or first.casefold() in _EPONYMS and not _is_plain_given(first):
            continue
        following = words[place + 1] if place + 1 < len(words) else None
        between = text[match.end() : following.start()] if following else ""
        if following and re.fullmatch(r"\s+(?:[A-Z]\.?\s+)?", between) and not match[0].endswith("'s"):
            second = following[0].removesuffix("'s")
            eponym = _is_eponym(text, second, match.start(), following.end(), strong=False)
            named = _is_surname(second) or (_is_given(second) and not _is_word(second))
            if (
                named
                and not eponym
                and not (_is_word(first) and _is_word(second))
                and not (first.isupper() != second.isupper() and first.isupper())
            ):
                yield match.start(), following.start() + len(second)
                continue
        if _is_word(first) or len(first) < 3 or first.isupper():
            continue
        end = match.start() + len(first)
        if (
            _ABOUT.match(text, end)
            and not re.match(rf"'s\s+{_CLINICAL_NOUN}\b", text[end:])
            and first.casefold() not in _EPONYMS
        ):
            yield match.start(), end


def _is_eponym(text: str, word: str, start: int, end: int, *, strong: bool) -> bool:
    """Tell whether a name stands for a disease, score or device and not for a person."""
    if re.match(rf"(?:'s?)?[\s\-]+(?:\w+\s+)?{_CLINICAL_NOUN}\b", text[end:]) and not strong:
        return True
    last = re.findall(rf"{_N}+", text[start:end])[-1].casefold()
    known = word.casefold().removesuffix("'s") in _EPONYMS or last in _EPONYMS
    if known and text[end : end + 2] in ("'s", "-"):
        return True
    return known and not strong and len(text[start:end].split()) == 1


def _is_plain_given(word: str) -> bool:
    return _is_given(word) and word.casefold() not in _WORDS


def _is_given(word: str) -> bool:
    return word.casefold().removesuffix("'s") in _lists()[0]


def _is_surname(word: str) -> bool:
    return word.casefold().removesuffix("'s") in _lists()[1]


def _is_word(word: str) -> bool:
    return word.casefold().removesuffix("'s") in _WORDS


@cache
def _lists() -> tuple[frozenset[str], frozenset[str]]:
    """Return the given names and the surnames that Faker knows, casefolded; single words of two letters or more."""
    given: set[str] = set()
    surnames: set[str] = set()
    for locale in _LOCALES:
        try:
            provider = import_module(f"faker.providers.person.{locale}").Provider
        except ImportError:
            continue
        for attribute in dir(provider):
            for prefix, names in (("first_name", given), ("last_name", surnames)):
                value = getattr(provider, attribute)
                if attribute.startswith(prefix) and not callable(value):
                    names.update(name.casefold() for name in value if " " not in name and len(name) > 1)
    return frozenset(given), frozenset(surnames)
