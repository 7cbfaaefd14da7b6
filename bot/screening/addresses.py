"""Postal addresses and postcodes (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.screening.finding import Finding

# Street types in English: common ones with their short forms, then those of American mail.
_TYPE = (
    r"(?:street|str|st|road|rd|avenue|ave|av|lane|ln|drive|dr|court|ct|close|cl|way|place|pl|crescent|cres|terrace|ter|"
    r"boulevard|blvd|square|sq|gardens?|gdns|grove|mews|parkway|pkwy|highway|hwy|circle|cir|trail|trl|walk|row|hills?|"
    r"rise|loop|alley|quay|wharf|parade|pde|vale|valley|views?|green|meadows?|heights|ridge|run|pike|park|parks|plaza|"
    r"bypass|causeway|arcade|bend|bluffs?|bottom|branch|bridge|brooks?|burgs?|camp|canyon|cape|centers?|centre|cliffs?|"
    r"club|common|corners?|course|courts|coves?|creek|crest|crossing|crossroad|curve|dale|dam|divide|drives|estates?|"
    r"expressway|extensions?|falls?|ferry|fields?|flats?|fords?|forest|forges?|forks?|fort|freeway|gateway|glens?|"
    r"greens|groves|harbors?|haven|hollow|inlet|islands?|isle|junctions?|keys?|knolls?|lakes?|landing|lights?|lock|"
    r"locks|lodge|mall|manors?|mill|mills|mission|motorway|mount|mountains?|neck|orchard|oval|overpass|passage|path|"
    r"pines?|plains?|points?|ports?|prairie|radial|ramp|ranch|rapids?|rest|ridges|river|roads|route|rue|shoals?|shores?|"
    r"skyway|springs?|spurs?|squares|station|stravenue|stream|streets|summit|throughway|trace|track|trafficway|tunnel|"
    r"turnpike|underpass|unions?|valleys|viaduct|villages?|ville|vista|walks|wall|ways|wells)"
)
_SIDE = r"(?:(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\.?\s+)?"
_FLAT_PART = r"(?:,?\s+(?i:apt|apartment|suite|unit|flat|room|#)\.?\s?\w{1,6})?"
_STREET = re.compile(
    rf"(?<![\w.,/])\d{{1,5}}[A-Za-z]?(?:[/\-]\d{{1,4}})?,?\s+{_SIDE}(?:(?:[A-Z][\w'.\-]*|\d{{1,3}}(?:st|nd|rd|th))\s+){{1,4}}"
    rf"(?i:{_TYPE})\b\.?(?!\s*(?i:mg|ml|clinic|unit))(?:\s+(?:N|S|E|W)\b)?{_FLAT_PART}"
)
# "221b baker street", in any case: only types that are hardly ever anything else.
_STREET_LOWER = re.compile(
    r"(?<![\w.,/])\d{1,5}[a-z]?,?\s+(?:[a-z][\w'.\-]*\s+){1,3}?"
    r"(?:street|road|avenue|lane|crescent|terrace|boulevard|blvd|rd|ave|drive|close|gardens|grove|mews|str)\b\.?"
    rf"{_FLAT_PART}",
    re.I,
)
# What a number counts, and words that are in no street's name: "10 minute drive", "3 days of close contact".
_COUNTED = re.compile(
    r"^\d+\w?,?\s+(?:m?c?g|kg|ml|l|iu|units?|hour|hr|h|min|minute|mins|day|week|month|year|yr|km|miles?|metres?|meters?|m|"
    r"patients?|people|times?|tablets?|tabs?|puffs?|doses?|stone|points?|percent|mmol|mm|cm)s?\b"
    r"|\b(?:a|an|and|or|in|to|for|with|on|is|by|per|if|at|from|very|was|be|are|not|then|under|after|before)\b",
    re.I,
)
_NAME = r"[A-ZÄÖÜÅØÆÉÈÀŁŚŻČŠŽÁÍÓÚ][\w'.\-]*"
_LINKS = r"(?:d[eiou'](?:s|l|lla|llo|lle|i)?\s*(?:la\s+|las\s+|los\s+)?)?"
_STREET_ABROAD = re.compile(
    rf"(?:(?<!\w){_NAME}(?:\s{_NAME})?\s?(?:stra(?:ß|ss)e|str\.|weg|platz|gasse|allee|(?<=\w)ring|damm|ufer|gatan|gata|vägen|veien|vej|"
    r"gade|katu|tie|kuja|polku|straat|laan|plein|gracht|kade|utca|út|ulica|sokak|cad\.|mah\.)"
    rf"|\b(?i:rue|avenue|av\.|boulevard|bd|place|chemin|route|impasse|allée|quai|via|viale|piazza|corso|vicolo|calle|c/|"
    rf"avenida|paseo|plaza|camino|carrer|rua|travessa|praça|alameda|estrada|ulica|ul\.|al\.|os\.|jalan|jl\.|calea|strada|str\.|"
    rf"bulevardul|carrera|cra\.?|diagonal|transversal|prolongación|ronda|glorieta)\s+{_LINKS}{_NAME}(?:\s+(?:d[eao]s?\s+)?{_NAME}){{0,4}})"
    r"(?:\s*,?\s*(?:n[º°.o]*\.?\s?)?\d{1,4}\s?[a-zA-Z]?\b(?:\s?/\s?\d{1,4})?)"
    rf"|(?<![\w.,/])\d{{1,5}}(?:\s?(?:bis|ter))?,?\s+(?i:rue|avenue|av\.|boulevard|bd|place|chemin|route|impasse|allée|quai|via|viale|"
    rf"calle|rua|jalan)\s+{_LINKS}{_NAME}(?:[\s\-]+(?:d[eu]s?\s+)?{_NAME}){{0,3}}"
)
# "Koskikatu 25 Apt. 864", "6750 Artilleros 4": a name between numbers, with the flat beside it.
_FLAT = re.compile(
    r"(?<!\w)(?:apt|apartment|flat|suite|ste|unit|wohnung|appt|piso|apto)\.?\s?(?:no\.?\s?|#)?\d{1,5}[a-z]?(?![\w%]|\s*m)"
    r"(?!\s*(?:/|m?c?g\b|ml\b|iu\b|dose))|(?<!\w)p\.?\s?o\.?\s?box\s?\d+|(?<!\w)(?:psc|unit)\s?\d+,?\s+box\s+\d+",
    re.I,
)
_UNIT_OF_DRUG = re.compile(r"(?:per|of|each|one|1|by|every|dose|infusion|heparin|insulin)\s+$", re.I)
_CUE = re.compile(
    r"(?:\b(?:addr(?:ess|\.)?|lives?\s+(?:at|on|in)|living\s+at|lived\s+(?:at|in)|resid(?:es|ing|ent)\s+(?:at|of|in)|home\s+is(?:\s+at)?|"
    r"staying\s+at|moved\s+to|deliver(?:ed)?\s+to|sent?\s+to|send\s+to|located\s+at|visit\s+(?:at|to)|transport\s+(?:to|from)|"
    r"ambulance\s+to|collect\s+from|adress|address\s+to))(?:\s|is|was|:|=|-|the|no\b\.?|number|house|flat)*"
    r"(?P<value>\d{1,5}[A-Za-z]?(?:[/\-]\d{1,4})?\s*,?\s+[A-Za-zÀ-ž][^\n?!;]{2,60}|[A-ZÀ-Ž][\w'\-]+(?:\s+[\w'.\-]+){0,4}\s+\d{1,5}\b)",
    re.I,
)
_COUNT = re.compile(
    r"^\d+\w?\s+(?:days?|weeks?|months?|years?|hours?|mins?|minutes?|mg|mcg|ml|patients?|people|times|or|to|of|and)\b",
    re.I,
)
_AREAS = (
    "AB|AL|BA|BB|BD|BH|BL|BN|BR|BS|BT|B|CA|CB|CF|CH|CM|CO|CR|CT|CV|CW|DA|DD|DE|DG|DH|DL|DN|DT|DY|EC|EH|EN|EX|E|FK|FY|GL|GU|GY|G|"
    "HA|HD|HG|HP|HR|HS|HU|HX|IG|IM|IP|IV|JE|KA|KT|KW|KY|LA|LD|LE|LL|LN|LS|LU|L|ME|MK|ML|M|NE|NG|NN|NP|NR|NW|N|OL|OX|PA|PE|PH|PL|"
    "PO|PR|RG|RH|RM|SA|SE|SG|SK|SL|SM|SN|SO|SP|SR|SS|ST|SW|SY|S|TA|TD|TF|TN|TQ|TR|TS|TW|UB|WA|WC|WD|WF|WN|WR|WS|WV|W|YO|ZE"
)
_UK = re.compile(rf"(?<![\w.\-])(?:(?:{_AREAS})\d[A-Z\d]?\s?\d[ABD-HJLNP-UW-Z]{{2}}|GIR\s?0AA)(?![\w\-])", re.I)
_UK_ANY_AREA = re.compile(r"(?<![\w.\-])[A-PR-UWYZ][A-HK-Y]?\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2}(?![\w\-])")
# "B12 5UG", "T4 5NG": a dose after a vitamin or hormone, or how often.
_DOSE_ENDINGS = frozenset(
    {"BD", "TD", "QD", "HS", "QS", "TS", "NS", "SL", "PR", "PU", "AU", "UG", "NG", "PG", "HR", "WK", "GR", "DL"}
)
_US = re.compile(
    r"\b(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEHINOPST]|N[CDEHJMVY]|O[HKR]|P[ARW]|RI|S[CD]|T[NX]|UT|V[AIT]|"
    r"W[AIVY]|A[AEPS]|FM|GU),?\s+\d{5}(?:-\d{4})?(?!\d)|(?<![\d\-])\d{5}-\d{4}(?![\d\-])"
)
_CODE_CUE = re.compile(
    r"\b(?:zip|post(?:al)?\s?-?code|pin\s?code|plz|eircode)(?![a-z])(?:\s|code|is|:|=|-)*"
    r"(?P<value>[A-Z]{0,2}-?(?=[A-Z\d -]*\d)[A-Z\d]{2,5}(?:[ \-][A-Z\d]{2,4})?)(?!\w)",
    re.I,
)
_CANADA = re.compile(r"\b[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ \-]?\d[ABCEGHJ-NPRSTV-Z]\d\b")
_IRELAND = re.compile(r"\b(?:[AC-FHKNPRTV-Y]\d{2}|D6W) ?(?=[0-9AC-FHKNPRTV-Y]*\d)[0-9AC-FHKNPRTV-Y]{4}\b")
_WITH_CITY = re.compile(
    rf"(?<![\w.,/\-])\d{{4,6}}(?:\s[A-Z]{{2}})?\s+(?=[A-ZÄÖÜÅØ][a-zäöüåøéèß]{{2,}})(?:{_NAME})(?=\s*(?:[,.\n]|$))"
    rf"|{_NAME},?\s(?:[A-Z]{{1,3}}-)?\d{{5}}(?=\s*(?:[,.\n]|$))"
)


def find_addresses(text: str) -> Iterator[Finding]:
    """Yield streets with their numbers, flats and postcodes."""
    streets = [match.span() for pattern in (_STREET, _STREET_ABROAD) for match in pattern.finditer(text)]
    for match in _STREET_LOWER.finditer(text):
        if not _COUNTED.search(match[0]):
            streets.append(match.span())
    for match in _FLAT.finditer(text):
        if not (match[0][:1] in "uU" and _UNIT_OF_DRUG.search(text[: match.start()][-20:])):
            streets.append(match.span())
    for match in _CUE.finditer(text):
        if not _COUNT.match(match["value"]):
            streets.append(match.span("value"))
    yield from (Finding(*span, "address") for span in streets)
    for pattern in (_UK, _UK_ANY_AREA):
        for match in pattern.finditer(text):
            if match[0][-2:].upper() not in _DOSE_ENDINGS:
                yield Finding(*match.span(), "postcode")
    for pattern in (_US, _CANADA, _IRELAND):
        for match in pattern.finditer(text):
            yield Finding(*match.span(), "postcode")
    for match in _CODE_CUE.finditer(text):
        yield Finding(*match.span("value"), "postcode")
    # A number before a town is a postcode only where an address stands already.
    if streets:
        for match in _WITH_CITY.finditer(text):
            if any(0 <= match.start() - end < 30 for _, end in streets):
                yield Finding(*match.span(), "address")
