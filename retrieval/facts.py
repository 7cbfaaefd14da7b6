"""What kind of fact a question asks for, and whether a text holds that kind (pure).

Patterns of language only: how doses, intervals, limits and so on are asked for and written. No drug, illness or
other topic is named here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal[
    "dose", "rate", "frequency", "duration", "threshold", "age", "price", "number", "contact",
    "route", "yes or no", "steps", "definition", "reason",
]  # fmt: skip

# Kinds that a pattern finds or misses in a text; the others can't be told from the shape of a sentence.
CHECKED_KINDS: frozenset[Kind] = frozenset(
    {"dose", "rate", "frequency", "duration", "threshold", "age", "price", "number", "contact"}
)

# How much of the asked kind a text holds when it has the kind without the unit asked for ('per kg'), and when it
# has some other number only.
WITHOUT_UNIT = 0.5
OTHER_NUMBER = 0.3


@dataclass(frozen=True, slots=True)
class AskedFact:
    """What a question asks for.

    Attributes:
        kinds: in the order of `Kind`; empty where no pattern says.
        units: patterns of units that the answer must carry beside its number ('mg/kg', 'vials').
    """

    kinds: tuple[Kind, ...]
    units: tuple[str, ...] = ()

    @property
    def checked(self) -> tuple[Kind, ...]:
        """The kinds whose presence in a text can be told."""
        return tuple(kind for kind in self.kinds if kind in CHECKED_KINDS)


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_DIGITS = r"\d[\d,.]*(?:\s*(?:[-–—/]|to|or|and)\s*\d[\d,.]*)?"
_WORDS = r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|a single|single|an?)\b"
_NUMBER = rf"(?:\d[\d,.]*(?:\s*(?:[-–—]|to|or)\s*\d[\d,.]*)?|½|¼|¾|{_WORDS})"
_SPAN = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|wks?|months?|years?|yrs?)"
_TIME = rf"(?:{_SPAN}|h|hourly|daily|weekly)"
_AGES = r"(?:years?|yrs?|months?|weeks?|days?)"
_MASS = r"(?:mgs?|milligrams?|grams?|gm?s?|mcgs?|[µμu]gs?|micrograms?|microgrammes?|nanograms?|ng|kg)"
_VOLUME = r"(?:mls?|millilit(?:er|re)s?|lit(?:er|re)s?|l|dl|cc)"
_PORTIONS = (
    r"tabs?|tablets?|caps?|capsules?|drops?|puffs?|sprays?|vials?|ampoules?|amps?|sachets?|suppositor(?:y|ies)|"
    r"patch(?:es)?|doses?|teaspoons?|tsp|tablespoons?|applicators?(?:ful)?|lozenges?|pessar(?:y|ies)|bags?"
)
_AMOUNT = (
    rf"(?:{_MASS}|{_VOLUME}|i\.?u\.?|m\.?u\.?|(?:million |mega|international )?units?|mmols?|meqs?|mosm|%|percent|"
    rf"{_PORTIONS}|cells?|gy|mbq|mci|kcals?|joules?)"
)
_PER = r"(?:/|per|a|an|each|every)"
_COMPARED = (
    r"(?:[<>≤≥]|\b(?:below|above|under|over|(?:less|more|greater|fewer|higher|lower) than|at least|at most|up to|"
    r"exceed(?:s|ing)?|max(?:imum)?|min(?:imum)?|within|between|from|reach(?:es|ing)?|falls? to|rises? to)\b)"
)

_HELD: dict[Kind, re.Pattern[str]] = {
    "dose": _any(rf"{_NUMBER}\s*(?:-\s*)?{_AMOUNT}(?![a-z])"),
    "rate": _any(
        rf"(?:{_AMOUNT}|beats|breaths|cm|mm)\s*{_PER}\s*(?:kg|m2|m²)?\s*{_PER}?\s*{_TIME}\b",
        rf"{_DIGITS}\s*{_AMOUNT}.{{0,40}}\b(?:over|in)\s+{_NUMBER}\s*{_SPAN}\b",
        rf"{_DIGITS}\s*(?:{_AMOUNT}|cm|mm)\s*(?:daily|hourly|weekly)\b",
        rf"\bslow(?:ly)?\b.{{0,30}}{_DIGITS}",
    ),
    "frequency": _any(
        r"\b(?:once|twice|thrice|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annual(?:ly)?|hourly|stat)\b",
        r"\b(?:nocte|regularly|periodic(?:ally)?|from time to time|promptly|immediately|as soon as)\b",
        r"\b(?:bd|bid|b\.d\.?|b\.i\.d\.?|tds|tid|t\.d\.s\.?|t\.i\.d\.?|qid|qds|q\.i\.d\.?|od|prn|q\d+h)\b",
        r"\b(?:single dose|one dose|continuous(?:ly)?|at (?:night|bedtime))\b",
        rf"\b(?:every|each)\s+(?:other\s+)?(?:{_NUMBER}\s*)?{_TIME}\b",
        rf"\b{_NUMBER}[\s-]*(?:times?|doses?)\s*(?:a|per|each|every|in|/|daily|weekly)",
        rf"{_NUMBER}\s*-?\s*hourly",
        r"(?:times|/|per|a)\s*(?:day|week|month|year)\b",
    ),
    "duration": _any(
        r"\b(?:for|over|within|after|until|during|at least|up to|to|lasting)\b[^.;]{0,40}?"
        rf"{_NUMBER}[\s-]*(?:more\s+)?{_SPAN}\b",
        rf"{_NUMBER}[\s-]*{_SPAN}[\s-]*(?:course|long|therapy|treatment|period|later|after|before)",
        rf"{_DIGITS}[\s-]*{_SPAN}\b(?!\s*(?:old|of age))",
        r"\blife[\s-]?long\b|\bfor life\b|\bindefinitely\b|\bsingle dose\b",
        r"[x×]\s*\d+",
    ),
    "threshold": _any(
        rf"{_COMPARED}[^.;\d]{{0,40}}{_DIGITS}",
        rf"{_DIGITS}\s*\S{{0,12}}\s*(?:or|and)\s*(?:more|less|above|below|over|under|higher|lower|greater|older|younger|fewer)\b",
        rf"{_DIGITS}\s*(?:%|°|mm\s?hg|mmol|[µμ]mol|mg\s*/|g\s*/|iu\s*/|cells|/\s*[µμ]?l|cm\b|mm\b)",
        rf"{_DIGITS}\s*[-–—]\s*{_DIGITS}",
    ),
    "age": _any(
        rf"\b(?:aged?|under|over|below|above|from|until|(?:older|younger) than)\b[^.;]{{0,20}}{_DIGITS}(?:\s*{_AGES})?",
        rf"{_DIGITS}\s*{_AGES}\b(?:\s*(?:old|of age|and (?:above|over|older|below|under)))?",
        rf"[<>≤≥]\s*\d+\s*{_AGES}",
        r"\bat birth\b|\bnewborns?\b",
    ),
    "number": _any(_DIGITS, r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b"),
    "price": _any(
        rf"(?:[$€£¥₦₹]|\b(?:usd|eur|gbp|aed|ngn)\b)\s*{_DIGITS}|{_DIGITS}\s*(?:[€£%]|(?:usd|eur|gbp|aed|ngn)\b)",
        rf"{_DIGITS}\s*(?:thousand |million )?(?:dollars?|euros?|pounds? sterling|dirhams?|naira|cents?|pence)\b",
    ),
    "contact": _any(
        r"\+?\d[\d\s()/-]{5,}\d|\bext(?:ension|n)?\.?\s*\d+|[\w.+-]+@[\w-]+\.\w+|https?://|\bwww\.",
        r"\b(?:bleep|pager?|dial|call|telephone|phone|ring|hotline|switchboard)\b[^.;]{0,40}\d{3,}",
    ),
}

_COUNTED = (
    r"mgs?|milligrams?|grams?|micrograms?|mcg|units?|ius?|mls?|millilit(?:er|re)s?|lit(?:er|re)s|tablets?|capsules?|"
    r"drops?|puffs?|vials?|ampoules?|sachets?|sprays?|mmol"
)
_ASKS: dict[Kind, re.Pattern[str]] = {
    "rate": _any(
        r"\b(?:infusion|drip|flow|injection|administration)\s+(?:rate|speed)s?\b|\brate of (?:infusion|injection)",
        r"\bhow (?:fast|quickly|rapidly|slowly) (?:do|does|can|should|may|must|is|are|to)\b[^?]*"
        r"\b(?:give|infuse|inject|run|push|administ|lower|raise|correct|pull|remove|drain)",
        r"\b(?:mg|ml|mcg|µg|g|units?|drops?|mmol)s?\s*(?:/|per)\s*(?:kg\s*(?:/|per)\s*)?(?:min|minute|h|hour)\b",
        r"\b(?:fastest|maximum|safe|slowest)\b[^?]*\brate\b|\brate\b[^?]*\b(?:iv|intravenous|infus)",
    ),
    "dose": _any(
        rf"\bdos(?:e|es|ed|age|ages|ing)\b|\bhow (?:much|many (?:{_COUNTED}))\b|\bposology\b|\btitrat|\bbolus\b",
        r"\b(?:mgs?|milligrams?|micrograms?|mcg|grams|mls?|iu|mmol|units (?:per|for|of))\b(?!\s*(?:/|per)\s*d?l\b)",
        r"\bmax(?:imum)?\b[^?]*\b(?:a|per|in (?:a|one)|each) (?:day|24)",
    ),
    "frequency": _any(
        r"\bhow (?:often|frequently|regularly|many times|many doses|soon (?:again|repeat))\b|\bfrequency\b",
        r"\b(?:dosing|monitoring|screening|review|testing|follow[- ]?up) (?:interval|frequency|schedule)s?\b",
        r"\btimes (?:a|per) (?:day|week|month)\b",
    ),
    "duration": _any(
        rf"\bhow long\b|\bhow many {_SPAN}\b|\bduration\b|\bfor how (?:long|many)\b|\bhow soon\b",
        r"\blength of (?:treatment|therapy|course|stay)\b|\bcourse length\b|\bincubation (?:period|time)\b",
        r"\bwithin what time\b|\bhow quickly (?:must|should|do|does|is|are|can)\b",
    ),
    "threshold": _any(
        r"\b(?:above|below|over|beyond|at) (?:which|what)\b(?! (?:age|dose|rate|point|time|stage|phase|step|place))",
        r"\bthreshold\b|\bcut[- ]?offs?\b|\bnormal range\b|\b(?:upper|lower) limit\b",
        r"^\W*(?:[\w-]+\W+){0,3}(?:target|goal)s?\b(?! of)",
        r"\bhow (?:high|low|large|big|small|heavy)\b",
        r"\bwhat (?:level|value|score|count|size|weight|temperature|pressure)\b",
    ),
    "age": _any(
        r"\b(?:what|which|minimum|maximum|youngest|oldest|lower|upper) age\b|\bage (?:limit|cut)|\bhow (?:old|young)\b",
    ),
    "number": _any(r"\bhow many\b|\bwhat (?:percentage|proportion|share|number)\b|\bhow (?:far|deep|wide)\b"),
    "price": _any(
        r"\bhow much\b[^?]*\b(?:cost|costs|pay|paid|fined?|fees?|charged?|price|salary|money)\b",
        r"\b(?:price|cost|fee|fine|salary) (?:of|for|in)\b|\bwhat (?:is|are) the (?:price|cost|fee|fine)s?\b",
    ),
    "contact": _any(
        r"\b(?:phone|telephone|contact|hotline|bleep|pager|fax|extension)\s+(?:numbers?|no\b|line|details?|of)\b",
        r"\b(?:what|which) number\b[^?]*\b(?:call|ring|dial|phone)\b|\be-?mail (?:address|do|to)\b",
        r"\bnumber (?:do|should|can) (?:i|we) (?:ring|call|dial|phone)\b",
    ),
    "route": _any(r"\broutes?\b|\b(?:iv or|oral or|im or|orally or)\b"),
    "definition": _any(
        r"\bdefin(?:e|ed|ition)\b|\bwhat (?:does|do)\b[^?]*\b(?:mean|stand for)\b|\bmeaning of\b",
        r"^\s*what(?:'s| is| are)\s+(?:an?\s+)?[\w-]+(?:\s+[\w-]+)?\s*\??\s*$",
    ),
    "reason": _any(r"^\s*why\b|\breasons?\b|\bwhat causes\b|\bcauses? of\b"),
    "steps": _any(
        r"\bhow (?:do|can|should|would|to)\b|\bsteps?\b|\bprocedure\b|\blist\b|\bwhat (?:should|do|can) (?:i|we)\b"
    ),
    "yes or no": _any(
        r"^\s*(?:is|are|am|was|can|could|may|might|must|should|shall|do|does|did|will|would|has|have|need)\b",
        r"[,:;.]\s*(?:is|are|can|may|must|should|do|does|will)\s+(?:it|there|they|we|i|he|she|[a-z]+)\b[^?]*\?",
    ),
}

# A unit that is asked for by name → how it may be written. Anything else after 'how many' stands for itself.
_UNIT_FORMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), written)
    for asked, written in (
        (r"\b(?:/|per) ?(?:kg|kilo(?:gram)?s?)\b|/kg\b|\bper body ?weight", r"(?:/|per)\s*(?:kg|kilo)"),
        (r"\b(?:/|per) ?(?:m2|m²|square met)", r"(?:/|per)\s*(?:m2|m²|square met)"),
        (r"\b(?:/|per) ?(?:min|minute)s?\b|/min\b", r"(?:/|per|a|each|every)\s*min|\bminutes?\b"),
        (r"\b(?:/|per|an|each) ?(?:h|hour)s?\b|/h\b", r"(?:/|per|an|each|every)\s*h(?:r|our)?s?\b|hourly|\bhours?\b"),
        (r"\b(?:per|a|each|every) week\b|\bweekly\b", r"week"),
        (r"\bhow many (?:mgs?|milligrams?|grams?|micrograms?|mcgs?)\b", rf"{_DIGITS}\s*{_MASS}\b"),
        (r"\bhow many (?:units?|ius?)\b|\bunits\b", r"\bi\.?u\.?\b|units?"),
        (r"\bhow many (?:mls?|millilit\w+|lit(?:er|re)s?)\b|\bmls?\b", rf"{_DIGITS}\s*{_VOLUME}\b"),
    )
)
# 'At what weight does the dose change?' wants the weight.
_LIMIT_FIRST = re.compile(r"\s*(?:at|above|below|from|over|under) (?:which|what) (?!dose)", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many (?:more |single |whole )?([a-z]{3,})", re.IGNORECASE)
# After 'how many' these name no unit that must stand in the answer; a span of days may be given in weeks.
_NO_UNITS = """
    times people persons patients cases different kinds types of in are is do does can should
    seconds minutes hours days nights weeks months years
"""
_NOT_A_UNIT = frozenset(_NO_UNITS.split())
_LIST_NUMBER = re.compile(r"^\s*(?:\(?\d{1,2}[.)]|[a-z][.)])\s+", re.IGNORECASE)
# Words that only say which kind of fact is wanted; what remains of a question is what it is about.
_KIND_WORDS = """
    dose doses dosed dosing dosage dosages often frequently frequency times time many much long duration course
    courses regimen regimens rate rates fast fastest quickly speed level levels value values range threshold cutoff
    target targets goal goals age ages old years year yr months month weeks week wk days day daily hours hour hr
    hourly minutes minute min maximum minimum max mg mgs milligram milligrams gram grams gm kg microgram micrograms
    mcg ml mls litre litres unit units iu tablet tablets number phone telephone contact starting start initial loading
    maintenance titration titrate schedule interval route define definition mean list steps step reason reasons
    recommended recommend usual standard correct safe allowed ok okay high higher low lower limit amount quantity
    strength score percent percentage regime prescribe prescribed administer administered
"""
KIND_WORDS = frozenset(_KIND_WORDS.split())


@lru_cache(maxsize=4096)
def asked_fact(question: str) -> AskedFact:
    """Return the kinds of fact that a question asks for, and the units that it names.

    A question may ask for several ('dose and duration'). `number` counts only where nothing more exact does.
    """
    kinds = [kind for kind, pattern in _ASKS.items() if pattern.search(question)]
    if _LIMIT_FIRST.match(question) or "price" in kinds:
        kinds = [kind for kind in kinds if kind != "dose"]
    exact = [kind for kind in kinds if kind in CHECKED_KINDS and kind != "number"]
    if exact:
        kinds = [kind for kind in kinds if kind in CHECKED_KINDS and kind != "number"]
    units = [written for asked, written in _UNIT_FORMS if asked.search(question)] if exact else []
    counted = _HOW_MANY.search(question)
    if counted and not units and counted[1].lower() not in _NOT_A_UNIT:
        units.append(rf"\b{re.escape(counted[1].lower().rstrip('s'))}")
    return AskedFact(tuple(kinds), tuple(units))


def holds(fact: AskedFact, text: str) -> float:
    """Return how much of the checked kinds a text holds: the mean over them, in [0, 1]; 1 when none is checked.

    Args:
        text: one unit, with its table header where it has one.
    """
    if not fact.checked:
        return 1.0
    text = _LIST_NUMBER.sub("", text)
    has_units = all(re.search(unit, text, re.IGNORECASE) for unit in fact.units)
    number = re.search(r"\d", text) is not None
    shares = []
    for kind in fact.checked:
        if holds_kind(kind, text):
            shares.append(1.0 if has_units else WITHOUT_UNIT)
        else:
            shares.append(OTHER_NUMBER if number else 0.0)
    return sum(shares) / len(shares)


@lru_cache(maxsize=65_536)
def holds_kind(kind: Kind, text: str) -> bool:
    """Tell whether a text holds a checked kind of fact; remembered, because every question meets the same units."""
    return _HELD[kind].search(text) is not None
