"""Read which way a comparison with a number points, from the words before and after it."""

from __future__ import annotations

import re
from typing import Literal

Comparison = Literal["", "<", "<=", ">", ">="]

_NOT = r"(?:not?|never|n't|cannot)"
_FILLER = (
    r"(?:\s+(?:a|an|the|about|approximately|around|total|of|age|value|level|weight|dose|is|are|:|=))*\s*[:=(]?\s*$"
)
_DOSE_WORDS = (
    r"(?:\s+(?:recommended|permitted|allowed|daily|total|single|adult|dose|doses|dosage|dosing|rate|volume|duration|"
    r"amount|cumulative|is|of [\w-]+ is|of [\w-]+ [\w-]+ is|for [\w-]+ is|of|for|to|per|day|weekly|a|the|at|being|be|"
    r"should|must|in|24|hours))*"
)
_LESS = r"(?:less|fewer|lower|smaller|shorter|younger|earlier|sooner)"
_MORE = r"(?:more|greater|higher|larger|longer|older|later)"

# The most specific first; each must end where the number begins.
_WORDS_BEFORE: tuple[tuple[Comparison, str], ...] = (
    ("<=", r"(?:≤|<\s?=|=\s?<)"),
    (">=", r"(?:≥|>\s?=|=\s?>)"),
    ("<=", rf"\b{_LESS} than or equal to|\bequal to or {_LESS} than"),
    (">=", rf"\b{_MORE} than or equal to|\bequal to or {_MORE} than"),
    ("<=", rf"\b{_NOT}\s+(?:be\s+|to\s+be\s+)?(?:given\s+|taken\s+)?{_MORE}\s+than|\bnot (?:\w+ ){{1,4}}{_MORE} than"),
    (">=", rf"\b{_NOT}\s+(?:be\s+)?{_LESS}\s+than"),
    (
        "<=",
        rf"\b{_NOT}\s+(?:be\s+|to\s+)?(?:exceed(?:ing|ed|s)?|surpass(?:ing)?|go(?:ing)?\s+(?:over|above|beyond)|"
        r"above|over|beyond|in excess of)",
    ),
    ("<=", r"\bwithout\s+exceeding|\bavoid\s+exceeding"),
    (">=", rf"\b{_NOT}\s+(?:be\s+|go\s+|fall\s+)?(?:below|under)"),
    ("<=", r"\bup\s?to(?: a maximum(?: of)?)?|\bat\s+(?:the\s+)?most|\bas (?:much|many) as"),
    (">=", r"\bat\s+(?:the\s+)?(?:least|minimum)|\ba minimum"),
    ("<=", rf"\bmax(?:imum|imal|\.)?(?!\w){_DOSE_WORDS}|\bmax(?:imum)?\.? (?:[a-z]+ )?dose(?: [a-z]+){{0,5}}"),
    (">=", rf"\bmin(?:imum|imal|\.)?(?!\w){_DOSE_WORDS}"),
    ("<", rf"<|\b{_LESS}\s+than|\bbelow|\bunder|\blt\b"),
    (">", rf">|\b{_MORE}\s+than|\babove|\bin excess of|\bexceed(?:s|ing|ed)?|\bbeyond|\bgt\b"),
)
_BEFORE: tuple[tuple[Comparison, re.Pattern[str]], ...] = tuple(
    (comparison, re.compile(rf"(?:{words}){_FILLER}", re.IGNORECASE)) for comparison, words in _WORDS_BEFORE
)
_OVER = re.compile(rf"\bover{_FILLER}", re.IGNORECASE)
# 'Over 60 minutes' says how long an infusion runs; 'children over 2 years' and 'lasting over 3 days' compare.
_OVER_COMPARES = re.compile(
    r"(?:age[sd]?|child(?:ren)?|adults?|infants?|babies|neonates?|adolescents?|those|patients?|persons?|people|women|"
    r"men|anyone|just|well|lasts?|lasting|persists?|persisting|is|are|was|if|for|and|boys|girls|weighing)\s*[:(,-]?\s*$",
    re.IGNORECASE,
)
_SHORT_TIMES = frozenset({"second", "minute", "hour", "day", "week"})

_NO_AMOUNT = r"(?!\s*(?:of|dose|daily|every|once|twice|\w+ times|\d|:))"
_WORDS_AFTER: tuple[tuple[Comparison, str], ...] = (
    ("<=", r"(?:of age |old )?(?:or|and|&)\s+(?:less|below|under|younger|fewer|lower|shorter|earlier)\b(?! than)"),
    (
        ">=",
        r"(?:of age |old )?(?:or|and|&)\s+(?:more|above|over|older|greater|higher|longer|upwards?|later)\b(?! than)",
    ),
    (">=", r"\+(?!\s*\d)|plus\b(?=\s*(?:$|[,.;)]))"),
    ("<=", rf"(?:at (?:the )?most|max(?:imum)?|as a maximum)\b{_NO_AMOUNT}"),
    (">=", rf"(?:at (?:the )?least|min(?:imum)?)\b{_NO_AMOUNT}"),
)
_AFTER: tuple[tuple[Comparison, re.Pattern[str]], ...] = tuple(
    (comparison, re.compile(rf"\s*-?(?:\(\s*)?(?:{words})", re.IGNORECASE)) for comparison, words in _WORDS_AFTER
)

_HINT_BEFORE = re.compile(
    r"[<>≤≥]|than|equal|exceed|over|above|below|under|beyond|most|least|max|min|up ?to|much as|many as|surpass|excess|"
    r"\b[lg]t\b",
    re.IGNORECASE,
)
_REACH = 70


def comparison_before(text: str, number: int, unit: str = "", floor: int = 0) -> tuple[Comparison, int]:
    """Return the comparison whose words end where the number begins, and where those words begin.

    Args:
        text: normalised text.
        number: index of the number's first character.
        unit: canonical unit of the number as written; 'over' before a short time is how long something runs.

        floor: end of the quantity before it; its words belong to it.

    Returns:
        the comparison ("" when there is none) and the start of its words (`number` when there are none).
    """
    begin = max(floor, number - _REACH)
    before = text[begin:number]
    stop = max(before.rfind(";"), _last_stop(before))
    if stop >= 0:
        begin += stop + 1
        before = before[stop + 1 :]
    if not _HINT_BEFORE.search(before):
        return "", number
    for comparison, pattern in _BEFORE:
        if match := pattern.search(before):
            return comparison, begin + match.start()
    match = _OVER.search(before)
    if match and (unit not in _SHORT_TIMES or _OVER_COMPARES.search(before[: match.start()])):
        return ">", begin + match.start()
    return "", number


_STOP = re.compile(r"(?<!max)(?<!min)(?<!approx)\.\s", re.IGNORECASE)


def _last_stop(text: str) -> int:
    return max((match.start() for match in _STOP.finditer(text)), default=-1)


def comparison_after(text: str, end: int) -> tuple[Comparison, int]:
    """Return the comparison whose words begin where the number and its unit end, and where those words end."""
    for comparison, pattern in _AFTER:
        if match := pattern.match(text, end):
            return comparison, match.end()
    return "", end
