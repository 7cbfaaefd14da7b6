"""Read the numbers of a text with what they measure: doses, ranges, frequencies, ages, durations, thresholds.

Two quantities mean the same when value, unit, comparison and the role of a time agree. Spelling does not
matter ("15 g", "15 grams"; "twice daily", "bd", "every 12 hours"; "six", "6"). Weeks, days, hours and minutes
are brought to one unit, as are years and months, since that is how frequencies are read; masses, volumes and
concentrations are not: "1 g" where the source says "1000 mg" is a calculation, and a slip in one is a thousandfold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from bot.answering import vocabulary as v
from bot.answering.comparisons import Comparison, comparison_after, comparison_before
from bot.answering.units import NUMBER, RATE, UNIT, canonical_unit, number_value, rate_hours

Role = Literal["", "age", "for", "within", "after", "before", "over"]
Shape = Literal["one", "range", "ratio"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, or a range or ratio of numbers, with its unit.

    Attributes:
        values: one for a number; two for a range; the parts of a ratio (140/90, 1:1000).
        unit: canonical ("mg", "mg/kg", "mmol/l", "%", "tablet"); "hour" and "month" for times; "interval" for
            how often, its values then being hours between doses; "" for a bare number.
        per_h: hours of a rate's "per day" or "per hour" (24, 1), 0 when none is said.
        role: what a time is, where the text says it: an age, a duration …
        start, end: span in the text that was read, comparison words included.
        text: as written, for messages.
    """

    values: tuple[float, ...]
    unit: str
    shape: Shape = "one"
    per_h: float = 0.0
    comparison: Comparison = ""
    role: Role = ""
    start: int = 0
    end: int = 0
    text: str = ""

    @property
    def dimension(self) -> str:
        """Its kind: two doses of one medicine share it, a dose and a duration do not."""
        if self.unit in ("hour", "month"):
            return "age" if self.role == "age" else "time"
        base = self.unit.split("/")[0]
        if base in _DOSE_UNITS:
            return "dose"
        return self.unit

    def same_value(self, other: Quantity) -> bool:
        return (
            self.shape == other.shape
            and len(self.values) == len(other.values)
            and all(
                abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1.0) for a, b in zip(self.values, other.values, strict=True)
            )
        )

    def same_role(self, other: Quantity) -> bool:
        """Roles agree when they are equal or one text does not say; an age is no duration."""
        return self.role == other.role or not self.role or not other.role


_DOSE_UNITS = v.words("mg mcg ng g ml l iu mu mmol meq tablet capsule puff drop spray sachet ampoule vial teaspoon")
_HOURS = {"second": 1 / 3600, "minute": 1 / 60, "hour": 1.0, "day": 24.0, "week": 168.0, "month": 730.0, "year": 8760.0}
_REACH = 80  # characters before a number that may say what it is
_MONTHS = {"month": 1.0, "year": 12.0}

_SEP = r"\s*(?:-|–|\bto\b|\bor\b)\s*"
_TIMES = r"seconds?|secs?|minutes?|mins?|hours?|hrs?|h|days?|weeks?|wks?|months?|years?|yrs?"
_PERIOD = r"(?:24 ?(?:hours?|hrs?|h)|days?|daily|hours?|hourly|weeks?|weekly|months?|monthly|years?|yearly)"
_EVERY = re.compile(
    rf"(?<!\w)(?:(?:once|one dose)\s+)?(?:every|each|q\.?)\s*(?P<a>{NUMBER})(?:{_SEP}(?P<b>{NUMBER}))?"
    rf"\s*-?\s*(?P<u>hourly|hrly|{_TIMES})(?!\w)",
    re.IGNORECASE,
)
_HOURLY = re.compile(
    rf"(?<![\w.])(?P<a>{NUMBER})(?:\s*(?:hours?|hrs?|h)?{_SEP}(?P<b>{NUMBER}))?"
    r"\s*-?\s*(?P<u>hourly|hrly|weekly|monthly)(?!\w)",
    re.IGNORECASE,
)
_TIMES_PER = re.compile(
    rf"(?<![\w.])(?:(?P<w>once|twice|thrice)|(?P<a>{NUMBER})(?:{_SEP}(?P<b>{NUMBER}))?\s*-?\s*(?:times?|x))\s*-?\s*"
    rf"(?:/\s*|(?:(?:a|an|per|each|every|in|in a|in each|in every)\s+)?)(?P<p>{_PERIOD})(?![\w])",
    re.IGNORECASE,
)
_OR_TIMES = re.compile(
    rf"(?<![\w])(?P<a>once|twice)\s*(?:-|–|to|or)\s*(?P<b>twice|thrice|three times|3 times)\s*"
    rf"(?:(?:a|per|each|every)\s+)?(?P<p>{_PERIOD})(?![\w])",
    re.IGNORECASE,
)
_LATIN = {
    "bd": 12.0, "bid": 12.0, "bds": 12.0, "tds": 8.0, "tid": 8.0, "qds": 6.0, "qid": 6.0, "od": 24.0, "qd": 24.0,
}  # fmt: skip
_LATIN_RE = re.compile(
    r"(?<![\w.])(b\.?d\.?s?|b\.?i\.?d|t\.?d\.?s|t\.?i\.?d|q\.?d\.?s|q\.?i\.?d|o\.?d|q\.?d)\.?(?![\w])", re.IGNORECASE
)
_PLAIN = re.compile(
    r"(?<![\w-])(?P<other>every (?:other|second) day|(?:on )?alternate days?|(?:on )?every alternate day)(?![\w])|"
    r"(?<![\w])(?:once[ -])?(?P<p>daily|hourly|weekly|monthly|yearly|annually|fortnightly)(?![\w])|"
    r"(?<![\w])(?:every|each|per)\s+(?P<q>24 hours|day|hour|week|month|year)(?![\w])|"
    r"(?<![\w])(?:in|over|within) (?:a|any|one)?\s?(?P<s>24)[- ]?(?:hours?|hrs?|h) ?(?:period)?(?![\w])|"
    r"(?<!\bfor )(?<!\bwithin )(?<!\bafter )(?<!\bin )(?<!\bthan )(?<![\w])a\s+(?P<r>day|week|month)(?![\w])",
    re.IGNORECASE,
)
_LATIN_HINTS = ("bd", "b.d", "bid", "b.i", "tds", "t.d", "tid", "t.i", "qds", "q.d", "qid", "q.i", "od", "o.d", "qd")
_PERIOD_HINTS = ("ily", "rly", "kly", "hly", "ally", "day", "hour", "week", "month", "year", "24")
_PERIOD_HOURS = {
    "daily": 24.0, "day": 24.0, "24": 24.0, "hourly": 1.0, "hour": 1.0, "weekly": 168.0, "week": 168.0,
    "monthly": 730.0, "month": 730.0, "yearly": 8760.0, "year": 8760.0, "annually": 8760.0, "fortnightly": 336.0,
}  # fmt: skip

_ANY = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|"
    r"seventy|eighty|ninety|hundred|thousand|once|twice|thrice|daily|hourly|weekly|monthly|yearly|annually|fortnightly|"
    r"an? (?:hour|day|week|fortnight|month|year)|(?:every|each|per|alternate|other) \w+|[bqt]\.?[id]\.?[ds]?|od)\b",
    re.IGNORECASE,
)
_A_TIME = re.compile(
    r"\b(for|within|after|in|about)\s+(an?)\s+(?=(?:hour|day|week|fortnight|month|year)\b)", re.IGNORECASE
)
_NUMERAL = re.compile(rf"(?<![A-Za-z_\d])(?<![A-Za-z]-)(?<!\d[.,:/])(?P<n>{NUMBER})", re.IGNORECASE)
_UNIT_HERE = re.compile(rf"\s*-?\s?(?P<u>{UNIT})(?![A-Za-z])", re.IGNORECASE)
_RATIO = re.compile(r"\s?[/:]\s?(?P<n>\d+(?:\.\d+)?)(?![A-Za-z]|\.\d)")
_RANGE = re.compile(rf"\s*(?P<s>-|–|\bto\b|\bor\b|\band\b)\s*(?P<n>{NUMBER})", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s*$", re.IGNORECASE)
_RATE_HERE = re.compile(rf"\s*(?:/|\bper\b)\s*(?P<r>{RATE})(?![A-Za-z])", re.IGNORECASE)
_BODY_WEIGHT = re.compile(r"\s*(?:of\s+)?(?:body\s?-?\s?(?:weight|wt)|bw|bwt)\b", re.IGNORECASE)
_LABEL = re.compile(
    r"\b(type|stage|grade|step|class|category|phase|table|figure|section|day|week|level|group)\s*$", re.IGNORECASE
)

_AGE_BEFORE = re.compile(
    r"(?:\bage[sd]?(?: (?:of|group|range|between))?|"
    r"\b(?:child(?:ren)?|adults?|infants?|neonates?|babies|adolescents?|boys|girls))"
    r"\s*(?:is|aged?|from|between|of|:|-|–|\(|,)*\s*$",
    re.IGNORECASE,
)
_AGE_AFTER = re.compile(r"\s*-?\s*(?:olds?\b|of age\b|(?:and|or) (?:older|younger)\b|\)?\s*:|[–]\s)", re.IGNORECASE)
_WORDS_OF_ROLE: tuple[tuple[Role, str], ...] = (
    (
        "for",
        r"\bfor(?: a (?:total|period|duration|minimum|maximum) of| (?:about|approximately|a|another|up to))?|\bx|"
        r"\bcourse of|\bduration(?: of| is)?|\blasting|\blasts",
    ),
    ("within", r"\bwithin"),
    ("after", r"\bafter"),
    ("before", r"\bbefore"),
    ("over", r"\bover(?: a period of)?|\bduring"),
)
_ROLE_BEFORE: tuple[tuple[Role, re.Pattern[str]], ...] = tuple(
    (role, re.compile(rf"(?:{words})\s*(?:a|an|the|another|further|about|first|next|every)?\s*$", re.IGNORECASE))
    for role, words in _WORDS_OF_ROLE
)
_ROLE_AFTER: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("after", re.compile(r"\s*(?:after|following|later|post)\b", re.IGNORECASE)),
    ("before", re.compile(r"\s*(?:before|prior to|preceding|ahead of)\b", re.IGNORECASE)),
    ("for", re.compile(r"\s*-?\s*(?:course|treatment|therapy|regimen)\b", re.IGNORECASE)),
)


@lru_cache(maxsize=4096)
def quantities_of(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a normalised text in order; their spans do not overlap.

    A figure that is part of a name (B12, COVID-19, 5-fluorouracil) is no quantity.
    """
    if not _ANY.search(text):
        return ()
    found = _intervals(text)
    taken = [(q.start, q.end) for q in found]
    position = floor = 0
    while match := _NUMERAL.search(text, position):
        span = next(((s, e) for s, e in taken if s < match.end() and match.start() < e), None)
        if span:
            position = max(span[1], match.start() + 1)
            floor = position
            continue
        quantity = _read(text, match, floor)
        if quantity is None:
            position = match.end()
            continue
        floor = quantity.end
        position = max(quantity.end, match.end())
        limit = min((s for s, _ in taken if s >= match.end()), default=len(text))
        if quantity.end > limit:
            quantity = _read(text[:limit], match, floor) or quantity
            position = max(min(quantity.end, limit), match.end())
        found.append(quantity)
    found += _single_times(text)
    return tuple(sorted(found, key=lambda q: q.start))


def _intervals(text: str) -> list[Quantity]:
    found: list[Quantity] = []

    def add(match: re.Match[str], hours: tuple[float, ...]) -> None:
        if any(match.start() < q.end and q.start < match.end() for q in found):
            return
        values = tuple(sorted(hours))
        shape: Shape = "one" if len(values) == 1 else "range"
        written = match.group().strip()
        comparison, begin = comparison_before(text, match.start(), floor=max((q.end for q in found), default=0))
        if comparison not in ("<=", ">="):
            comparison, begin = "", match.start()
        found.append(Quantity(values, "interval", shape, 0.0, comparison, "", begin, match.end(), written))

    lower = text.lower()
    if "every" in lower or "each" in lower or "q" in lower:
        for m in _EVERY.finditer(text):
            unit = m["u"].lower()
            step = 1.0 if unit.startswith("hr") or unit == "hourly" else _HOURS[canonical_unit(unit)]
            add(m, tuple(number_value(m[g]) * step for g in ("a", "b") if m[g]))
    if "rly" in lower or "ekly" in lower or "thly" in lower:
        for m in _HOURLY.finditer(text):
            step = {"w": 168.0, "m": 730.0}.get(m["u"][0].lower(), 1.0)
            add(m, tuple(number_value(m[g]) * step for g in ("a", "b") if m[g]))
    if any(hint in lower for hint in ("once", "twice", "thrice", "times", "x ", "time ")):
        for m in _OR_TIMES.finditer(text):
            period = _period(m["p"])
            add(m, (period / _times(m["a"]), period / _times(m["b"])))
        for m in _TIMES_PER.finditer(text):
            period = _period(m["p"])
            counts = [_times(m["w"])] if m["w"] else [number_value(m[g]) for g in ("a", "b") if m[g]]
            if all(counts):
                add(m, tuple(period / count for count in counts))
    if any(hint in lower for hint in _LATIN_HINTS):
        for m in _LATIN_RE.finditer(text):
            key = m.group(1).replace(".", "").lower()
            if key in _LATIN and (m.group().islower() or m.group().isupper()):
                add(m, (_LATIN[key],))
    if any(hint in lower for hint in _PERIOD_HINTS):
        for m in _PLAIN.finditer(text):
            add(m, (48.0,) if m["other"] else (_period(m["p"] or m["q"] or m["r"] or m["s"]),))
    return found


def _period(word: str) -> float:
    word = word.lower()
    return 24.0 if word.startswith("24") else _PERIOD_HOURS.get(word) or _PERIOD_HOURS[word.rstrip("s")]


def _times(word: str) -> float:
    word = word.lower()
    return {"once": 1.0, "twice": 2.0}.get(word, 3.0)


def _single_times(text: str) -> list[Quantity]:
    """Read 'for a week' and 'within an hour' as times of one unit."""
    found = []
    for match in _A_TIME.finditer(text):
        unit = re.compile(r"\w+").match(text, match.end())
        assert unit is not None
        word = unit.group().lower()
        hours, name = (336.0, "hour") if word == "fortnight" else _time((1.0,), canonical_unit(word))
        first = match.group(1).lower()
        role: Role = first if first in ("for", "within", "after") else ""  # type: ignore[assignment]
        values = (hours,) if isinstance(hours, float) else hours
        found.append(
            Quantity(
                values, name, role=role, start=match.start(2), end=unit.end(), text=text[match.start(2) : unit.end()]
            )
        )
    return found


def _time(values: tuple[float, ...], unit: str) -> tuple[tuple[float, ...], str]:
    if unit in _MONTHS:
        return tuple(value * _MONTHS[unit] for value in values), "month"
    return tuple(value * _HOURS[unit] for value in values), "hour"


def _read(text: str, match: re.Match[str], floor: int) -> Quantity | None:
    start, end = match.start("n"), match.end("n")
    values = [number_value(match["n"])]
    units: list[str] = []
    shape: Shape = "one"
    unit, after_unit = _unit_at(text, end)
    word = match["n"].isalpha()
    if unit:
        end = after_unit
        units.append(unit)
    elif not word and (
        text[end : end + 1].isalpha() or (text[end : end + 1] == "-" and text[end + 1 : end + 2].isalpha())
    ):
        return None  # part of a name: 3TC, 5-fluorouracil
    if word and match["n"].lower() == "one" and not unit:
        return None
    if not unit:
        while ratio := _RATIO.match(text, end):
            shape = "ratio"
            values.append(number_value(ratio["n"]))
            end = ratio.end()
    if shape == "one" and (other := _range_at(text, start, end, unit, values[0])):
        shape = "range"
        values.append(number_value(other["n"]))
        end = other.end()
    if not unit or shape != "one":
        second, after_unit = _unit_at(text, end)
        if second:
            units.append(second)
            end = after_unit
    written_unit = units[-1] if units else ""
    per_h = 0.0
    suffix = ""
    while rate := _RATE_HERE.match(text, end):
        hours = rate_hours(rate["r"])
        if hours:
            per_h = hours
        else:
            suffix += "/" + canonical_unit(rate["r"])
        end = rate.end()
        if weight := _BODY_WEIGHT.match(text, end):
            end = weight.end()
    if written_unit == "bpm":
        written_unit, per_h = "", 1 / 60
    if per_h and written_unit in ("beat", "breath", "cycle"):
        written_unit = ""
    if (
        shape == "one"
        and not units
        and not suffix
        and not per_h
        and (label := _LABEL.search(text, max(0, start - _REACH), start))
    ):
        return Quantity(tuple(values), label.group(1).lower(), start=start, end=end, text=text[label.start() : end])
    comparison, begin = comparison_before(text, start, written_unit, floor)
    if not comparison:
        comparison, end = comparison_after(text, end)
    if shape == "range" and (between := _BETWEEN.search(text, max(0, start - _REACH), start)):
        begin = between.start()
    if written_unit in _HOURS and not suffix and not per_h:
        return _read_time(text, values, units, shape, comparison, begin, end, start)
    if len(units) == 2 and units[0] != units[1]:
        written_unit = f"{units[0]}–{units[1]}"
    return Quantity(
        tuple(values), written_unit + suffix, shape, per_h, comparison, "", begin, end, text[start:end].strip()
    )


def _read_time(
    text: str,
    values: list[float],
    units: list[str],
    shape: Shape,
    comparison: Comparison,
    begin: int,
    end: int,
    start: int,
) -> Quantity:
    pairs = [_time((v,), units[min(i, len(units) - 1)] if len(units) > 1 else units[-1]) for i, v in enumerate(values)]
    if len({name for _, name in pairs}) > 1:
        scaled = tuple(v[0] if name == "hour" else v[0] * 730.0 for v, name in pairs)
        name = "month"
        scaled = tuple(v / 730.0 for v in scaled)
    else:
        scaled, name = tuple(v[0] for v, _ in pairs), pairs[0][1]
    before = text[max(0, begin - _REACH) : begin]
    role: Role = ""
    long = name == "month" or units[-1] in ("week", "day")
    if long and (_AGE_AFTER.match(text, end) or _AGE_BEFORE.search(before)):
        role = "age"
    else:
        role = next((r for r, pattern in _ROLE_BEFORE if pattern.search(before)), "") or next(
            (r for r, pattern in _ROLE_AFTER if pattern.match(text, end)), ""
        )
    return Quantity(scaled, name, shape, 0.0, comparison, role, begin, end, text[start:end].strip())


def _unit_at(text: str, position: int) -> tuple[str, int]:
    match = _UNIT_HERE.match(text, position)
    if not match:
        return "", position
    return canonical_unit(match["u"]), match.end()


def _range_at(text: str, start: int, end: int, first_unit: str, first: float) -> re.Match[str] | None:
    match = _RANGE.match(text, end)
    if not match:
        return None
    has_unit = bool(first_unit)
    separator = match["s"].lower()
    if match["n"].lower() == "one":
        return None
    second = number_value(match["n"])
    if separator == "and":
        return match if _BETWEEN.search(text, max(0, start - _REACH), start) else None
    if separator == "or":
        return match if not has_unit and second == first + 1 else None
    unit, _ = _unit_at(text, match.end())
    attached = text[match.end() : match.end() + 1]
    if not unit and attached.isalpha():
        return None
    if has_unit and _family(unit) != _family(first_unit):
        return None
    return match


def _family(unit: str) -> str:
    """Units of one family may stand at the two ends of a range: '500 mg – 1 g', '1 month – 12 years'."""
    if unit in _HOURS:
        return "time"
    return "mass" if unit in ("mg", "g", "mcg", "ng", "kg") else "volume" if unit in ("ml", "l", "dl") else unit
