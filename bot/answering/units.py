"""Numbers and units as clinical texts write them: spellings, figures, number words; and one way to write a text."""

from __future__ import annotations

import re
import unicodedata

_DASHES = str.maketrans({"‐": "-", "‑": "-", "‒": "–", "—": "–", "―": "–", "−": "–"})
_CHARACTERS = str.maketrans(
    {
        "µ": "u", "μ": "u", "×": " x ", "⁄": "/", "∕": "/", "’": "'", "‘": "'", "“": '"', "”": '"',
        "²": "2", "³": "3", "⁹": "9", "⁶": "6", "₂": "2", "º": "°", "˚": "°", "℃": "°C", "℉": "°F", "％": "%",
        "\u00ad": None, "\u200b": None, "\u200c": None, "\u200d": None, "\u2060": None, "\ufeff": None,
        "½": " 1/2", "¼": " 1/4", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3", "≦": "≤", "≧": "≥", "⩽": "≤", "⩾": "≥",
    }
)  # fmt: skip
_USUAL = {ord(char): None for char in "–≤≥°"}
_WORD_DASH = re.compile(r"(?<=[^\W\d])–(?=\w)|(?<=\w)–(?=[^\W\d])")
_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_SPACES = re.compile(r"\s+")


def normalised(text: str) -> str:
    """Return the text with one kind of space, dash, quote, micro sign, fraction and figure; case is kept."""
    if not text.isascii():
        text = text.translate(_DASHES).translate(_CHARACTERS)
        if not text.translate(_USUAL).isascii():
            text = unicodedata.normalize("NFC", "".join(map(_plain, text)))
        text = _WORD_DASH.sub(" – ", text)
    return _SPACES.sub(" ", _MARKUP.sub("", text)).strip()


def _plain(char: str) -> str:
    if char.isascii():
        return char
    if char.isspace():
        return " "
    return str(unicodedata.digit(char, char)) if char.isdigit() else char


_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000,
}  # fmt: skip
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_WORD = (
    rf"(?:(?:{_TENS})[- ](?:{_ONES})|(?:{_ONES}|ten) (?:hundred|thousand)|"
    rf"{'|'.join(sorted(_WORDS, key=len, reverse=True))})(?!\w)"
)
_FIGURE = (
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d{1,3}(?: \d{3})+(?![\d.,/])|\d+ \d/\d(?![\d/])|"
    r"\d/\d(?![\d/])(?=\s*(?:a |of |tab|tea|cup|-?\s?strength|hour))|\d+(?:[.·]\d+)?|(?<!\d)\.\d+)"
)
NUMBER = rf"(?:{_FIGURE}|{_WORD})"
"""A number as figures or as a word; no groups."""


def number_value(text: str) -> float:
    """Return the value of what NUMBER matched: "1,500", "1 1/2", "twenty-four"."""
    text = text.strip().lower()
    if text[0].isdigit() or text[0] == ".":
        whole, _, fraction = text.rpartition(" ") if "/" in text else (text, "", "")
        if "/" in text:
            numerator, denominator = (fraction or text).split("/")
            return (float(whole) if whole else 0.0) + float(numerator) / max(float(denominator), 1.0)
        return float(text.replace(",", "").replace(" ", "").replace("·", "."))
    parts = re.split(r"[- ]", text)
    if len(parts) == 2:
        first, second = (float(_WORDS[part]) for part in parts)
        return first * second if second >= 100 else first + second
    return float(_WORDS[text])


_SPELLINGS = {
    "mg": "mg,mgs,milligram,milligrams,milligramme,milligrammes,mgm",
    "mcg": "mcg,mcgs,ug,ugs,microgram,micrograms,microgramme,microgrammes",
    "ng": "ng,nanogram,nanograms",
    "pg": "pg,picogram,picograms",
    "g": "g,gm,gms,gram,grams,gramme,grammes",
    "kg": "kg,kgs,kilogram,kilograms,kilo,kilos",
    "ml": "ml,mls,millilitre,millilitres,milliliter,milliliters,cc,ccs",
    "dl": "dl,decilitre,deciliter,decilitres,deciliters",
    "ul": "ul,microlitre,microlitres,microliter,microliters",
    "l": "l,litre,litres,liter,liters,ltr",
    "mmol": "mmol,mmols,millimole,millimoles",
    "umol": "umol,micromole,micromoles,micromol,mcmol",
    "nmol": "nmol,nanomole,nanomoles",
    "pmol": "pmol,picomole,picomoles",
    "mosm": "mosm,mosmol,milliosmole,milliosmoles",
    "meq": "meq,meqs,milliequivalent,milliequivalents",
    "iu": "iu,i.u.,i.u,international unit,international units,unit,units,u",
    "mu": "mu,mega unit,mega units,megaunit,megaunits,million unit,million units,million iu",
    "mmhg": "mmhg,mm hg,millimetres of mercury,millimeters of mercury",
    "cmh2o": "cmh2o,cm h2o,cm of water",
    "kpa": "kpa,kilopascals",
    "°c": "°c,° c,oc,c,degrees c,degrees celsius,degree celsius,degrees centigrade,°celsius,celsius,centigrade",
    "°f": "°f,° f,f,degrees f,degrees fahrenheit,fahrenheit",
    "°": "°,degrees,degree",
    "%": "%,per cent,percent,percentage points",
    "cm": "cm,cms,centimetre,centimetres,centimeter,centimeters",
    "mm": "mm,millimetre,millimetres,millimeter,millimeters",
    "mm3": "mm3,cu mm,cumm,cubic millimetre,cubic millimeter,mm^3",
    "m2": "m2,sq m,square metre,square metres,square meter,square meters,m^2",
    "cm2": "cm2,sq cm",
    "kcal": "kcal,kcals,kilocalories,calories,cal",
    "kj": "kj,kilojoules",
    "joule": "j,joule,joules",
    "gy": "gy,gray,grays",
    "bpm": "bpm",
    "beat": "beat,beats",
    "breath": "breath,breaths",
    "second": "second,seconds,sec,secs,s",
    "minute": "minute,minutes,min,mins",
    "hour": "hour,hours,hr,hrs,h",
    "day": "day,days,d",
    "week": "week,weeks,wk,wks",
    "month": "month,months,mth,mths,mo",
    "year": "year,years,yr,yrs",
    "tablet": "tablet,tablets,tab,tabs",
    "capsule": "capsule,capsules,cap,caps",
    "puff": "puff,puffs,inhalation,inhalations,actuation,actuations",
    "drop": "drop,drops,gtt",
    "spray": "spray,sprays",
    "dose": "dose,doses",
    "divided dose": "divided dose,divided doses,equally divided doses,equal doses,equal divided doses,separate doses",
    "time": "time,times",
    "sachet": "sachet,sachets",
    "ampoule": "ampoule,ampoules,ampule,ampules,amp,amps",
    "vial": "vial,vials",
    "teaspoon": "teaspoon,teaspoons,teaspoonful,teaspoonfuls,tsp",
    "tablespoon": "tablespoon,tablespoons,tablespoonful,tablespoonfuls,tbsp",
    "cup": "cup,cups,cupful,cupfuls",
    "course": "course,courses",
    "cycle": "cycle,cycles",
    "pessary": "pessary,pessaries",
    "suppository": "suppository,suppositories",
    "injection": "injection,injections",
    "cell": "cell,cells",
    "copy": "copy,copies",
    "fold": "fold",
}
_CANONICAL = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings.split(",")}
UNIT = "|".join(re.escape(spelling).replace("\\ ", r"\s?") for spelling in sorted(_CANONICAL, key=len, reverse=True))
"""Any unit; no groups. Case does not matter."""

_RATES = {
    "day": 24.0, "d": 24.0, "24 hours": 24.0, "24hours": 24.0, "24 hour": 24.0, "24 hrs": 24.0, "24hrs": 24.0,
    "24h": 24.0, "24 h": 24.0, "hour": 1.0, "hr": 1.0, "h": 1.0, "minute": 1 / 60, "min": 1 / 60,
    "week": 168.0, "wk": 168.0,
    "month": 730.0, "year": 8760.0, "second": 1 / 3600, "sec": 1 / 3600,
}  # fmt: skip
RATE = "|".join(
    re.escape(s).replace("\\ ", r"\s?")
    for s in sorted(
        {*_RATES, "1.73 m2", "hpf", "high power field", "field", "100 ml", "100ml", *_CANONICAL}
        - {"%", "per cent", "percent"},
        key=len,
        reverse=True,
    )
)
"""What may stand after "per" or "/"; no groups."""


def canonical_unit(spelling: str) -> str:
    """Return the unit's canonical name; a spelling that is not known comes back in lower case without spaces."""
    spelling = _SPACES.sub(" ", spelling.strip().lower())
    if spelling in _CANONICAL:
        return _CANONICAL[spelling]
    compact = spelling.replace(" ", "")
    return _CANONICAL.get(compact) or next((u for s, u in _CANONICAL.items() if s.replace(" ", "") == compact), compact)


def rate_hours(spelling: str) -> float:
    """Return the hours of a rate's period ("day": 24); 0.0 when it is no time."""
    return _RATES.get(_SPACES.sub(" ", spelling.strip().lower()), 0.0)
