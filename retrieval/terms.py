"""The words that carry a text's content, and how rare each of them is (pure)."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import snowballstemmer

SIMILAR_FROM_CHARS = 5
TWO_EDITS_FROM_CHARS = 9
MAX_SIMILAR = 4

# Function words, and words that ask or make polite noise. No word here names a thing.
_STOP_WORDS = """
    a about above according after again against all also although am among an and any anybody anyone anything are
    as ask asked asking at away be because become been before being below between both but by can cannot could did
    do does doing done down due during each either else especially etc even ever every few for from further get
    gets getting give given gives giving go goes going got had has have having he hello help her here hers herself
    hi him himself his how however i if in into is it its itself just kind know let like likely lot made make makes
    many may me might mine more most much must my myself need needs neither no nobody nor not nothing now of off
    ok on once only onto or other others otherwise ought our ours ourselves out over own per please possible
    provide provided quite rather really regarding right said same say says shall she should show simply since so
    some somebody someone something somewhat soon still such sure take taken tell than thank thanks that the their
    theirs them themselves then there these they thing things think this those though through thus to together too
    under unless until up upon us use used uses using very via want wants was way we well were what whatever when
    whenever where whether which while who whoever whom whose why will with within without would yes yet you your
    yours yourself
    clarify describe detail detailed details elaborate example examples explain outline particular particularly
    specific specifically specify
    advice advise answer find finding hear heard info information learn look looking question questions wonder wondering
    ain aren arent cant couldn couldnt didn didnt doesn doesnt don dont hadn hasn hasnt haven havent id ill im isn
    isnt ive ll mustn re shan shouldn shouldnt thats theres ve wasn wasnt weren whats wont wouldn wouldnt youre
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Only from the beginning of a word: tried from each letter, one endless word would take seconds.
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]+(?:[-‐‑][^\W_]+)+")
# 'type 2', 'stage 3b', 'Rule 11.12.3', 'section 92(4)': the number is part of the name.
_NUMBERED = re.compile(
    r"\b(appendix|article|category|chapter|class|day|factor|figure|grade|group|level|paragraph|part|phase|principle|"
    r"regulation|rule|schedule|section|stage|step|table|tier|type|week)s?\s+(\d[\w.()]*|[ivx]{1,4}\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_APOSTROPHE = re.compile(r"['’](s|S)?")
# British and American spellings meet: (pattern, replacement), on folded words of at least five letters.
_SPELLINGS = (
    (re.compile(r"ae(?=[a-z]{2})|oe(?=[a-z]{2})"), "e"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"is(?=(e|ed|es|er|ing|ation|ations)$)"), "iz"),
    (re.compile(r"our(?=s?$|ed$|ing$|al$|less$)"), "or"),
    (re.compile(r"tre(?=s?$)"), "ter"),
)


def words(text: str) -> list[str]:
    """Return the words of a text in order, lower case, accents and possessives taken off."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(char for char in plain if not unicodedata.combining(char)) if not plain.isascii() else plain
    return [_APOSTROPHE.sub("", word) for word in _WORD.findall(plain)]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem that the forms and spellings of a word share (Porter 2, after spelling is evened out).

    Args:
        word: lower case, one of `words()`.
    """
    if len(word) >= 5:
        for pattern, replacement in _SPELLINGS:
            word = pattern.sub(replacement, word)
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


@lru_cache(maxsize=4096)
def content_terms(text: str) -> tuple[str, ...]:
    """Return the stems of a text's content words, in order, each once.

    Stop words, single letters and bare numbers are left out, but for numbers that end a name ('type 2'): the number
    in a question ('eGFR of 40') is rarely the number in the text that answers it ('below 45').
    """
    seen = dict.fromkeys(stem(word) for word in words(text) if is_content(word))
    seen.update(dict.fromkeys(numbered(text)))
    return tuple(seen)


def numbered(text: str) -> list[str]:
    """Return the names that a number ends, as one term each: 'type 2' gives 'type 2'."""
    return [f"{name.casefold()} {number.rstrip('.').casefold()}" for name, number in _NUMBERED.findall(text)]


def compounds(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return (stem of the word written as one, terms of its parts) for each hyphenated word of a text.

    'anti-emetics' gives ('antiemet', ('anti', 'emet')), so that it meets 'antiemetics'.
    """
    found = {}
    for match in _COMPOUND.findall(text):
        joined = "".join(words(match))
        if not any(char.isdigit() for char in joined):
            found[stem(joined)] = content_terms(match)
    return tuple(found.items())


def is_content(word: str) -> bool:
    """Tell whether a word of `words()` carries content."""
    return len(word) > 1 and word not in STOP_WORDS and not word.isdigit()


@lru_cache(maxsize=32_768)
def term_set(text: str) -> frozenset[str]:
    """Return a text's content terms and its hyphenated words as one; remembered: questions meet the same passages."""
    return frozenset(content_terms(text)) | {joined for joined, _ in compounds(text)}


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """In how many passages each term stands, over the passages that the asker may see.

    Attributes:
        documents: number of passages counted.
        frequency: term → number of passages that hold it, in text or path.
    """

    documents: int = 0
    frequency: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str]) -> TermStatistics:
        """Count texts: one a passage, path and text together (`units.full_text`)."""
        frequency: Counter[str] = Counter()
        documents = 0
        for text in texts:
            documents += 1
            frequency.update(term_set(text))
        return cls(documents, dict(frequency))

    def idf(self, term: str) -> float:
        """Return how much a term tells: ln(1 + (N − n + ½) / (n + ½)), above 0 (Robertson and Spärck Jones)."""
        held_by = min(self.frequency.get(term, 0), self.documents)
        return math.log(1 + (self.documents - held_by + 0.5) / (held_by + 0.5))

    def similar(self, term: str) -> tuple[str, ...]:
        """Return the known terms that an unknown one may be, mistyped or cut short, most frequent first.

        One edit (of neighbours exchanged, a letter more, less or other) is allowed from five letters on, two from
        nine; the first letter must stand. A known term that goes on where the word stops ('schisto') counts from
        five letters on.
        """
        if len(term) < SIMILAR_FROM_CHARS or term in self.frequency:
            return ()
        edits = 2 if len(term) >= TWO_EDITS_FROM_CHARS else 1
        near = [
            known
            for known in self.frequency
            if known[0] == term[0]
            and (
                (len(known) > len(term) and known.startswith(term))
                or (abs(len(known) - len(term)) <= edits and edit_distance(known, term, edits) <= edits)
            )
        ]
        return tuple(sorted(near, key=lambda known: (-self.frequency[known], known))[:MAX_SIMILAR])

    def merged(self, others: Iterable[TermStatistics]) -> TermStatistics:
        """Return the statistics of this and the other sets of passages together (they must not overlap)."""
        frequency: Counter[str] = Counter(self.frequency)
        documents = self.documents
        for other in others:
            documents += other.documents
            frequency.update(other.frequency)
        return TermStatistics(documents, dict(frequency))


def edit_distance(one: str, two: str, limit: int) -> int:
    """Return the optimal string alignment distance of two words, or `limit + 1` where it is larger.

    Insertions, deletions, substitutions and exchanges of neighbours count one each (Damerau 1964).
    """
    before_last: list[int] = []
    last = list(range(len(two) + 1))
    for i, char in enumerate(one, start=1):
        row = [i]
        for j, other in enumerate(two, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (char != other))
            if i > 1 and j > 1 and char == two[j - 2] and one[i - 2] == other:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before_last, last = last, row
    return min(last[-1], limit + 1)


@lru_cache(maxsize=1)
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")
