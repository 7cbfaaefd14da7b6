"""Numbers, contacts, dates of birth and addresses by which a person could be recognised (pure).

National numbers are known by their shape and check digits (python-stdnum); where a number only looks like
one, a word beside it decides ("NHS", "MRN", "record"). Doses, laboratory values, scores, guideline numbers,
emergency and poison lines are not touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

Finding = tuple[int, int, str]

_SEP = "[ \\-.\u2060]?"

_EMAIL = re.compile(r"[\w.+'-]+(?:@|\s?\[at\]\s?|\s\(at\)\s)[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}", re.I)
_IP = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_SSN = re.compile(rf"(?<![\d-])(?!000|666)\d{{3}}([- ])\d{{2}}\1\d{{4}}(?![\d-])")
_NINO = re.compile(r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[A-D]\b", re.I)

# A run of digits, perhaps in groups, of 9 to 19 digits.
_DIGITS = re.compile("(?<![\\w.,+/\u2060-])\\d(?:[ \\-\u2060]?\\d){7,18}(?![\\w/]|[.,]\\d)")
_TOKEN = re.compile(r"(?<![\w/])(?=[A-Z0-9 \-]{8,20}(?![\w/]))[A-Z0-9]{2,}(?:[ -]?[A-Z0-9]+)*(?![\w/])", re.I)

# What may follow a long number that is a quantity, and what may stand before one that names a publication.
_QUANTITY = re.compile(
    r"\s?(?:units?|iu|i\.u\.|copies|cells|cfu|mg|mcg|µg|ug|g|kg|ml|l|per|/|x\s?10|×|%|bpm|steps|eur|usd|gbp|years?)\b|\s?[/%]",
    re.I,
)
_PUBLICATION = re.compile(
    r"(?:pmid|pmc|doi|isbn|issn|isrctn|nct|clinicaltrials?|guidelines?|guidance|protocol|policy|polic(?:y|ies)|sop|form|"
    r"section|chapter|article|ref(?:erence)?|version|standard|iso|ng|cg|qs|ta|batch|lot|gtin|ndc|atc|icd|snomed|"
    r"loinc|cpt|hcpcs)(?:\s*(?:no\.?|number|code|id|#|:))*\s*[:#]?\s*$",
    re.I,
)

_RECORD = re.compile(
    r"""\b(?:
        (?P<plain>mrn|nhs|chi|hcn|ssn|nino|ni\s?number|umrn|emr|ehr|medicare|medicaid|mbi|pid|hosp(?:ital)?\.?\s?(?:no\.?|num(?:ber)?|id|\#)
          | (?:social\ security|national\ insurance|national|identity|identification|passport|insurance|insured|policy\ ?holder
             | member(?:ship)?|subscriber|health\ ?(?:card|plan|care)?|medical\ record|record|chart|case|file|encounter
             | visit|admission|episode|account|accession|specimen|sample|bed\ card|driver'?s?\ licen[cs]e|licen[cs]e|personal
             | patient|pt|client|hospital|unit|clinic|card|device|serial|tax|fiscal)
            \s*(?:card\s*)?(?:id(?:entifier)?|no|nr|num(?:ber)?|number|\#|code)\b\.?
        )
        | (?:record|chart|patient|pt|client|mc|id|patient's|acct|acc)\s*\#?
    )
    \s*(?:is|was|:|=|\#|no\.?|number|nr\.?|,|-)*\s*
    (?P<value>(?=[A-Z0-9/\-]*\d)[A-Z0-9](?:[ \-/\u2060]?[A-Z0-9]){3,19})(?![\w])
    """,
    re.I | re.X,
)

_TOLL_FREE = re.compile(
    r"^(?:\+?1)?(?:800|888|877|866|855|844|833)\d{7}$|^0800\d{4,7}$|^0808\d{6,7}$|^1800\d{6}$|^13\d{4}$"
)
# Published lines that anybody may call: emergency, poison information, crisis.
_PUBLIC_LINES = frozenset(
    "911 999 112 111 000 988 101 116117 116123 116111 131126 18002221222 8002221222 03448920111 3448920111 "
    "442083011500 1300659467 131114 08457909090 0761192 40 1455 145".split()
)
_PHONE = re.compile(
    r"""(?<![\w.,/+\-])(?:
        \+\d{1,3}(?:[\ .\-\u2060]?\(?\d{1,4}\)?){2,6}
      | 00[1-9]\d{0,2}(?:[\ .\-]?\d{1,4}){2,5}
      | \(\d{2,5}\)[\ .\-]?\d{2,4}(?:[\ .\-]?\d{2,4}){1,3}
      | (?:1[\ .\-])?\d{3}[.\-]\d{3}[.\-]\d{4}
      | \d{3}\ \d{3}\ \d{4}
      | \d{3}[.\-]\d{4}(?=\s*(?:x|ext|\(|,|;|$|[.?!]))
      | 0\d{1,4}(?:[\ .\-\u2060]?\d{2,4}){2,5}
      | 0\d{9,10}
      | \d{2}(?:([.\-])\d{2})(?:\1\d{2}){2,3}
      | \d{2}(?:\ \d{2}){3,4}
      | \d{3}\ \d{2}\ \d{2}(?:\ \d{2})?
    )(?:\s?(?:x|ext\.?)\s?\d{1,6})?(?![\w]|[.,/%]\d)""",
    re.X | re.I,
)
_PHONE_CUE = re.compile(
    r"\b(?:tel(?:ephone)?|phone|mobile|mob|cell(?:phone)?|ring|call(?:ing)?|fax|pager|whatsapp|sms|text|contact|"
    r"ph|number)\b[^\d\n]{0,25}?(?P<value>\+?\(?\d(?:[ .\-()/\u2060]{0,2}\d){5,14})(?![\w]|[.,/%]\d)",
    re.I,
)

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = (
    r"(?:\d{1,2}\s?[/.\-]\s?\d{1,2}\s?[/.\-]\s?(?:\d{4}|\d{2})|\d{4}[/.\-]\d{1,2}[/.\-]\d{1,2}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?:\s+of)?[\s\-]{_MONTH}[,\s\-]+(?:\d{{4}}|'?\d{{2}})"
    rf"|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}"
    r"|(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])(?:19|20)\d{2}|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))"
)
_BIRTH = re.compile(
    r"\b(?:d\.?\s?o\.?\s?b\b\.?|date\s+of\s+birth|birth\s?-?\s?date|birthday|born|birth|geb(?:oren)?\.?|né(?:e)?\s+le|"
    rf"nacid[oa](?:\s+el)?)(?:\s*(?:is|was|on|the|in|:|=|,|-|\())*\s*(?P<value>{_DATE})(?!\d)",
    re.I,
)
_BIRTH_SHORT = re.compile(
    rf"\b(?:d\.?o\.?b\.?|date of birth|born(?: on)?)(?:\s*(?:is|was|:|=|the))*\s*(?P<value>\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}|\d{{1,2}}[/.]\d{{1,2}})(?![\d/.])",
    re.I,
)
# The date of an old full year, or one beside initials or "b.", can only be somebody's.
_OLD_DATE = re.compile(rf"(?<![\d/.\-])(?P<value>{_DATE})(?![\d/\-]|\.\d)", re.I)
_BORN_SHORT = re.compile(rf"(?:\bb\.|\*)\s?(?P<value>{_DATE})", re.I)
_INITIALS_DATE = re.compile(rf"(?P<value>\b(?:[A-Z]\.?\s?){{2,3}},?\s*(?:\(|-)?\s*{_DATE})(?!\d)")
_NO_BIRTH = re.compile(
    r"(?:guid\w+|version|dated?|updated?|updates|published|publication|protocol|policy|edition|effective|issued|"
    r"reviewed?|revised|review|valid|from|since|of|as\s+at|until|by|expires?|expiry)\W*(?:\w+\W+){0,2}$",
    re.I,
)

_STREET_TYPE = (
    r"(?:street|st|road|rd|avenue|ave|av|lane|ln|drive|dr|court|ct|close|way|place|pl|crescent|cres|terrace|"
    r"boulevard|blvd|square|sq|gardens?|gdns|grove|mews|parkway|pkwy|highway|hwy|circle|cir|trail|trl|walk|row|hill|"
    r"rise|loop|alley|quay|wharf|parade|vale|view|green|meadows?|heights|ridge|run|pike|park|plaza|bypass|causeway)"
)
_STREET = re.compile(
    rf"(?<![\w.,/])\d{{1,5}}[A-Za-z]?(?:-\d{{1,4}})?,?\s+(?:(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\.?\s+)?"
    rf"(?:(?:[A-Z][\w'’.\-]*|\d{{1,3}}(?:st|nd|rd|th))\s+){{1,4}}(?i:{_STREET_TYPE})\b\.?(?:\s+(?:N|S|E|W)\b)?"
    r"(?:,?\s+(?:Apt|Apartment|Suite|Unit|Flat|#)\.?\s?\w+)?"
)
_STREET_EUROPEAN = re.compile(
    r"\b(?:[A-ZÄÖÜÅØÆ][\wäöüßåøæé\-]*(?:stra(?:ß|ss)e|str\.|weg|platz|gasse|allee|gatan|gata|vägen|veien|vej|gade|katu|tie|"
    r"straat|laan|plein|gracht)|(?:rue|avenue|boulevard|place|chemin|via|viale|piazza|corso|calle|avenida|plaza|paseo|rua|"
    r"ulica|ul\.)\s+(?:d[eiu'](?:s|lla|l)?\s*(?:la\s+)?)?[A-ZÉÀ][\w'\-]+(?:\s+[A-ZÉÀ][\w'\-]+){0,3})\s*,?\s*\d{1,4}\s?[a-zA-Z]?\b"
    r"|\b\d{1,4},?\s+(?:rue|avenue|boulevard|place|chemin|via|calle)\s+(?:d[eiu'](?:s|lla|l)?\s*(?:la\s+)?)?[A-ZÉÀ][\w'\-]+",
)
_FLAT = re.compile(
    r"\b(?:apt|apartment|flat|suite)\.?\s?(?:no\.?\s?)?#?\d{1,5}[a-z]?\b|\bP\.?\s?O\.?\s?Box\s?\d+", re.I
)
_ADDRESS_CUE = re.compile(
    r"\b(?:address|addr|lives?\s+(?:at|on|in\s+(?:the\s+)?(?:flat|house))|living\s+at|resid(?:es|ing|ent)\s+(?:at|of)|"
    r"home\s+is\s+at)\s*(?:is|was|:|=|-)*\s*(?P<value>(?:no\.?\s*)?\d{1,5}[A-Za-z]?\s*,?\s+[A-Z][^\n?!;]{2,60}|[A-Z][\w'\-]+(?:\s+[A-Z][\w'\-]+)*\s+\d{1,5}\b)",
    re.I,
)
_UK_POSTCODE = re.compile(
    r"\b(?:GIR ?0AA|[A-PR-UWYZ](?:\d{1,2}|[A-HK-Y]\d|[A-HK-Y]\d\d|\d[A-HJKPSTUW]|[A-HK-Y]\d[ABEHMNPRVWXY]) ?\d[ABD-HJLNP-UW-Z]{2})\b"
)
_DOSE_ENDINGS = frozenset({"BD", "TD", "QD", "HS", "QS", "TS", "NS", "SL", "PR", "PU", "AU"})
_US_ZIP = re.compile(
    r"\b(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AIT]|W[AIVY])"
    r",?\s+\d{5}(?:-\d{4})?\b|(?<![\d-])\d{5}-\d{4}(?![\d-])|\b(?:zip|post(?:al)?\s?code|postcode|plz)(?:\s*(?:code|is|:|=))*\s*[A-Z]{0,2}-?\d[\d -]{2,8}\d\b",
    re.I,
)
_CANADA = re.compile(r"\b[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z] \d[ABCEGHJ-NPRSTV-Z]\d\b")
_PLATE = re.compile(
    r"\b(?:plate|registration|vrn|vin)\s*(?:no\.?|number|:|is|#)*\s*(?P<value>(?=[A-Z0-9 -]*\d)[A-Z0-9][A-Z0-9 -]{3,16})\b",
    re.I,
)


def find_identifiers(text: str) -> Iterator[Finding]:
    """Yield (start, end, kind) of each identifier; places are 0-based, the end excluded; they may overlap."""
    for match in _EMAIL.finditer(text):
        yield *match.span(), "e-mail address"
    yield from _numbers(text)
    yield from _phones(text)
    yield from _births(text)
    yield from _addresses(text)
    for match in _IP.finditer(text):
        if all(int(part) < 256 for part in match[0].split(".")) and not _PUBLICATION.search(text[: match.start()]):
            yield *match.span(), "network address"


def _numbers(text: str) -> Iterator[Finding]:
    for match in _SSN.finditer(text):
        yield *match.span(), "social security number"
    for match in _NINO.finditer(text):
        yield *match.span(), "national insurance number"
    for match in _RECORD.finditer(text):
        value = match["value"]
        digits = sum(character.isdigit() for character in value)
        needed = 4 if match["plain"] else 5
        if digits >= needed and not _is_excused(text, match.start(), match.end(), value):
            yield *match.span("value"), "record number"
    for match in _PLATE.finditer(text):
        yield *match.span("value"), "licence number"
    for match in _DIGITS.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _is_excused(text, match.start(), match.end(), match[0]):
            continue
        kind = _national(digits) or ("record number" if _is_one_number(match[0]) else None)
        if kind:
            yield *match.span(), kind
    for match in _TOKEN.finditer(text):
        value = match[0]
        if any(c.isdigit() for c in value) and any(c.isalpha() for c in value):
            kind = _lettered(re.sub(r"[ -]", "", value).upper())
            if kind:
                yield *match.span(), kind


def _is_excused(text: str, start: int, end: int, value: str) -> bool:
    """Tell whether a long number is a quantity, a thousands-grouped value or names a publication."""
    if _QUANTITY.match(text, end) or _PUBLICATION.search(text[max(0, start - 40) : start]):
        return True
    round_number = re.fullmatch(r"\d{1,3}(?: \d{3})+|[1-9]0{5,}", value)
    return round_number is not None and value.replace(" ", "").endswith("000")


def _is_one_number(value: str) -> bool:
    """Tell whether digits belong together: written without gaps, or in regular groups."""
    groups = re.split("[ \\-\u2060]", value)
    return len(groups) == 1 or (len(groups) >= 3 and min(map(len, groups)) >= 2) or "\u2060" in value


@cache
def _check(name: str) -> Callable[[str], bool]:
    valid: Callable[[str], bool] = import_module(f"stdnum.{name}").is_valid
    return valid


# Lengths → number systems with check digits; a bare run of digits that fits one is that number.
_NATIONAL: dict[int, tuple[tuple[str, str], ...]] = {
    9: (("nl.bsn", "national number"), ("ca.sin", "social insurance number"), ("us.ssn", "social security number")),
    10: (("gb.nhs", "NHS or CHI number"), ("no.fodselsnummer", "national number"), ("cz.rc", "national number")),
    11: (
        ("pl.pesel", "national number"),
        ("no.fodselsnummer", "national number"),
        ("be.nn", "national number"),
        ("br.cpf", "national number"),
        ("de.idnr", "national number"),
        ("ee.ik", "national number"),
        ("tr.tckimlik", "national number"),
    ),
    12: (("in_.aadhaar", "national number"), ("se.personnummer", "national number")),
    13: (("za.idnr", "national number"), ("ro.cnp", "national number"), ("fr.nir", "national number")),
    15: (("fr.nir", "national number"),),
    18: (("cn.ric", "national number"),),
}


def _national(digits: str) -> str | None:
    for name, kind in _NATIONAL.get(len(digits), ()):
        if _valid(name, digits):
            return kind
    if 13 <= len(digits) <= 19 and _valid("luhn", digits):
        return "card number"
    return None


_LETTERED = (
    ("iban", "bank account number"),
    ("us.mbi", "health insurance number"),
    ("it.codicefiscale", "national number"),
    ("es.dni", "national number"),
    ("es.nie", "national number"),
    ("ie.pps", "national number"),
    ("fi.hetu", "national number"),
    ("in_.pan", "national number"),
    ("sg.nric", "national number"),
    ("mx.curp", "national number"),
    ("cn.ric", "national number"),
    ("de.kvnr", "health insurance number"),
)


def _lettered(value: str) -> str | None:
    for name, kind in _LETTERED:
        if _valid(name, value):
            return kind
    return None


def _valid(name: str, value: str) -> bool:
    try:
        return _check(name)(value)
    except (ImportError, AttributeError, ValueError):
        return False


def _phones(text: str) -> Iterator[Finding]:
    for pattern, group in ((_PHONE, 0), (_PHONE_CUE, "value")):
        for match in pattern.finditer(text):
            start, end = match.span(group)
            value = text[start:end]
            digits = re.sub(r"\D", "", re.split(r"(?i)x|ext", value)[0])
            if not 6 <= len(digits) <= 15 or digits in _PUBLIC_LINES or _TOLL_FREE.match(digits):
                continue
            if re.fullmatch(_DATE, value, re.I) or _is_excused(text, start, end, value):
                continue
            yield start, end, "phone number"


def _births(text: str) -> Iterator[Finding]:
    for pattern in (_BIRTH, _BIRTH_SHORT, _BORN_SHORT, _INITIALS_DATE):
        for match in pattern.finditer(text):
            yield *match.span("value"), "date of birth"
    for match in _OLD_DATE.finditer(text):
        year = re.search(r"(?<!\d)(?:18|19|20)\d{2}(?!\d)|^(?:19|20)\d{2}|(?:19|20)\d{2}$", match[0])
        if year is None or int(year[0]) > 2019:
            continue
        if re.fullmatch(r"\d{8}", match[0]) or not _NO_BIRTH.search(text[max(0, match.start() - 30) : match.start()]):
            yield *match.span("value"), "date of birth"


def _addresses(text: str) -> Iterator[Finding]:
    for pattern in (_STREET, _STREET_EUROPEAN, _FLAT):
        for match in pattern.finditer(text):
            yield *match.span(), "address"
    for match in _ADDRESS_CUE.finditer(text):
        yield *match.span("value"), "address"
    for match in _UK_POSTCODE.finditer(text):
        if match[0][-2:] not in _DOSE_ENDINGS:
            yield *match.span(), "postcode"
    for pattern in (_US_ZIP, _CANADA):
        for match in pattern.finditer(text):
            yield *match.span(), "postcode"
