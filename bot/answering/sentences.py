"""Split text into sentences: pure rules that know clinical abbreviations, decimals, list items and [S#] tags."""

from __future__ import annotations

import re
from functools import lru_cache

from bot.answering import vocabulary as v

TAG = re.compile(r"\[\s*(S\d{1,3}(?:\s*[,;&]\s*S?\d{1,3})*)\s*\]")
"""One or several source tags in square brackets: [S1], [S1, S3]."""

_TAGS_ONLY = re.compile(rf"(?:{TAG.pattern}[\s.,;]*)+")
_TRAILING_TAGS = re.compile(rf"\s*(?:{TAG.pattern}[ \t]*[.,;]?[ \t]*)+")
_ITEM = re.compile(r"^\s*(?:[-*+•·▪◦‣]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+(?=\S)", re.IGNORECASE)
_END = re.compile(r"[.!?…]+[\"'”’)\]*_]*(?=\s|$|\[S)")

# Words whose full stop ends no sentence, without their own last dot.
_ABBREVIATIONS = v.words(
    """e.g i.e eg ie etc vs viz cf ca approx appr al a.m p.m am pm b.d b.i.d t.d.s t.i.d q.d.s q.i.d o.d q.d q.h
    q.q.h a.c p.c h.s o.n o.m p.r.n p.o p.r p.v i.v i.m s.c s.l stat nocte fig figs no nos vol dr mr mrs
    ms prof st inc max min wt tab tabs cap caps inj soln susp syr amp mg kg ml sp spp dept u.s u.k w.h.o n.b nb hr
    hrs wk wks mo mos yr yrs jan feb mar apr jun jul aug sept sep oct nov dec incl excl esp resp temp"""
)
# Of these, the ones that may well end a sentence: they do when a capital letter follows.
_MAY_END = v.words(
    """etc am pm a.m p.m stat nocte max min no mg kg ml hr hrs wk wks mo mos yr yrs b.d b.i.d t.d.s t.i.d
    q.d.s q.i.d o.d q.d p.r.n p.o p.r p.v i.v i.m s.c s.l a.c p.c h.s o.n o.m al temp tab tabs cap caps inj amp"""
)


def split_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of `text` in order, each stripped; list items and lines of their own are sentences.

    A tag that follows a full stop belongs to the sentence before it; a line that is only broken (it ends
    without a full stop and the next begins in lower case) is one sentence with the next.
    """
    return _split(text)


@lru_cache(maxsize=2048)
def _split(text: str) -> tuple[str, ...]:
    sentences: list[str] = []
    for line in _joined_lines(text):
        sentences.extend(_split_line(line))
    return tuple(sentences)


def _joined_lines(text: str) -> list[str]:
    lines: list[str] = []
    open_line = False
    for raw in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        line = raw.strip()
        if not line:
            open_line = False
            continue
        starts_item = bool(_ITEM.match(raw)) or line.startswith(("|", "#", ">"))
        if open_line and not starts_item and (line[0].islower() or line[0] in "[("):
            lines[-1] = f"{lines[-1]} {line}"
        else:
            lines.append(line)
        open_line = not lines[-1].rstrip().endswith((".", "!", "?", ":")) and not lines[-1].startswith(("|", "#"))
        if lines[-1].endswith((".", "!", "?")):
            # A tag alone on the next line still belongs here.
            open_line = False
        if len(lines) > 1 and _TAGS_ONLY.fullmatch(lines[-1]) and lines[-2].endswith((".", "!", "?")):
            tags = lines.pop()
            lines[-1] = f"{lines[-1]} {tags}"
    return lines


def _split_line(line: str) -> list[str]:
    marker = _ITEM.match(line)
    start = marker.end() if marker else 0
    parts: list[str] = []
    position = start
    while match := _END.search(line, position):
        end = match.end()
        if not _ends_sentence(line, match.start(), end):
            position = end
            continue
        if tags := _TRAILING_TAGS.match(line, end):
            end = tags.end()
        parts.append(line[start:end].strip())
        start = position = end
    if rest := line[start:].strip():
        parts.append(rest)
    if marker and parts:
        parts[0] = line[: marker.end()].strip() + " " + parts[0]
    return [part for part in parts if part]


def _ends_sentence(line: str, dot: int, end: int) -> bool:
    rest = line[end:].lstrip()
    if line[dot] in "!?":
        return True
    if line[dot:end].startswith("..") or line[dot] == "…":
        return not rest or not rest[0].islower()
    word = re.search(r"[\w.]*$", line[max(0, dot - 24) : dot])
    before = (word.group().lower() if word else "").strip(".")
    following = rest.lstrip("\"'“‘([*_")
    if not following:
        return True
    if before in _ABBREVIATIONS:
        return before in _MAY_END and following[0].isupper()
    return not following[0].islower()


def tags_of(sentence: str) -> tuple[str, ...]:
    """Return the source tags of a sentence in order, each once: "x [S2][S1, S2]" gives ("S2", "S1")."""
    found: dict[str, None] = {}
    for match in TAG.finditer(sentence):
        for number in re.findall(r"\d+", match.group(1)):
            found[f"S{int(number)}"] = None
    return tuple(found)


def without_tags(sentence: str) -> str:
    """Return the sentence without its source tags and without a list marker in front."""
    return re.sub(r"\s+([.,;:])", r"\1", TAG.sub(" ", _ITEM.sub("", sentence))).strip()


def is_tags_only(sentence: str) -> bool:
    """Tell whether nothing but tags stands in the sentence."""
    return _TAGS_ONLY.fullmatch(sentence.strip()) is not None
