"""Cut a source into statements: a sentence, a list item, a table row, each with what must be read with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from bot.answering import vocabulary as v
from bot.answering.affirmations import LABEL_ENDS, affirmed_concepts
from bot.answering.clauses import CLAUSE_ENDS, Token, concepts, is_negative, tokens_of
from bot.answering.conditions import Condition, conditions_of
from bot.answering.groups import Group, groups_of
from bot.answering.quantities import Quantity
from bot.answering.sentences import split_sentences
from bot.answering.units import normalised
from bot.answering.wording import concepts_of, medicines_of


@dataclass(frozen=True)
class Statement:
    """What a source says in one place.

    Attributes:
        text: the sentence, item or row.
        leads: what must be read with it: lead-in, parent items, its label, table headers; nearest first.
        governing: earlier items that it goes on from ("Amoxicillin", "Adult: …"); nearest first.
        before: the sentence before it in the same paragraph or item.
        path: headings, innermost first, the title last.
        index: position in the source.
    """

    text: str
    leads: tuple[str, ...]
    governing: tuple[str, ...]
    before: str
    path: tuple[str, ...]
    index: int

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def own(self) -> frozenset[str]:
        return concepts_of(self.text)

    @cached_property
    def led(self) -> frozenset[str]:
        return _concepts_of_all((*self.leads, *self.path))

    @cached_property
    def near(self) -> frozenset[str]:
        """Concepts of what it goes on from, without medicines and populations that it names itself."""
        near = frozenset().union(concepts_of(self.before), *map(concepts_of, self.governing))
        if self.own & medicines_of(self.text):
            near -= frozenset().union(medicines_of(self.before), *map(medicines_of, self.governing))
        return near - v.POPULATIONS - v.ROLES - v.ACTIONS

    @cached_property
    def available(self) -> frozenset[str]:
        return self.own | self.led | self.near | self._implied

    @cached_property
    def _implied(self) -> frozenset[str]:
        """'6 – 12 years: 480 mg' speaks of a child."""
        if not _AGES.search(self.text):
            return frozenset()
        ages = [max(q.values) for q in self.quantities if q.dimension == "age" and q.unit == "month"]
        return frozenset(["child"]) if ages and max(ages) <= 18 * 12 else frozenset()

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        tokens = tokens_of(self.text)
        if self.forbids:
            return tuple(_flipped(token) for token in tokens)
        return tokens

    @cached_property
    def forbids(self) -> bool:
        """A heading or lead-in right above forbids it."""
        return any(is_negative(lead) for lead in (*self.leads[:2], *self.path[:1]))

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        return tuple(t.quantity for t in self.tokens if t.quantity)

    @cached_property
    def led_quantities(self) -> tuple[Quantity, ...]:
        return tuple(t.quantity for text in (*self.leads, *self.path) for t in tokens_of(text) if t.quantity)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        return groups_of(self.tokens)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        return conditions_of(self.tokens)

    @cached_property
    def signs(self) -> dict[str, frozenset[bool]]:
        signs: dict[str, frozenset[bool]] = {}
        label = max((i for i, t in enumerate(self.tokens[:10]) if t.word in (":", "–", "-")), default=0)
        for index, token in enumerate(self.tokens):
            if token.concept:
                # What a label names is the subject of all that follows, denied or not.
                both = {True, False} if token.vague or index < label else {token.negated}
                signs[token.concept] = signs.get(token.concept, frozenset()) | both
        return signs

    @cached_property
    def label(self) -> frozenset[str]:
        """Concepts in front of its first colon, near its start."""
        end = next((i for i, t in enumerate(self.tokens[:9]) if t.word == ":"), 0)
        return concepts(self.tokens[:end])

    @cached_property
    def denies(self) -> bool:
        words = {t.word for text in (self.text, *self.leads, *self.path[:1]) for t in tokens_of(text)}
        return bool(words & (v.NEGATORS | v.LOCAL_NEGATORS))

    @cached_property
    def denies_bare(self) -> bool:
        """It denies in a clause that names nothing itself ("… (should be avoided)"), and not only of a label."""
        clause: list[Token] = []
        opening = ""
        for token in (*self.tokens, Token("", ".")):
            if token.word in CLAUSE_ENDS and token.quantity is None:
                bare = any(t.word in v.NEGATORS for t in clause) and not any(t.carries for t in clause)
                if bare and opening not in LABEL_ENDS:
                    return True
                clause, opening = [], token.word
            else:
                clause.append(token)
        return False

    @cached_property
    def affirmed(self) -> frozenset[str]:
        """Its own concepts that no denial reaches."""
        return affirmed_concepts(self.tokens)

    @cached_property
    def medicines(self) -> frozenset[str]:
        """The medicines it speaks of: its own, else those of the nearest text that it is read with."""
        for text in (self.text, *self.leads, *self.governing, self.before, *self.path):
            if found := medicines_of(text):
                return found
        return frozenset()

    @cached_property
    def populations(self) -> frozenset[str]:
        """The populations of its lead-ins and headings; its own are those of its groups."""
        return frozenset().union(*(concepts_of(text) & v.POPULATIONS for text in (*self.leads, *self.path)))


@lru_cache(maxsize=4096)
def _concepts_of_all(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*map(concepts_of, texts))


def plain(text: str) -> str:
    """Return the text for a comparison word by word: no markup, no end punctuation, one case."""
    return normalised(re.sub(r"^\s*[-*+•]\s+", "", text)).lower().rstrip(" .;:,")


def _flipped(token: Token) -> Token:
    if not token.carries:
        return token
    return Token(
        token.concept,
        token.word,
        token.quantity,
        not token.negated,
        token.action,
        token.medicine,
        token.population,
        token.role,
    )


_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*$")
_ITEM = re.compile(r"^(\s*)(?:[-*+•·▪◦‣]|\(?(?:\d{1,2}|[a-z])[.)])\s+(\S.*)$", re.IGNORECASE)
_ROW_RULE = re.compile(r"^[\s|:+-]+$")
_LABEL = re.compile(r"^(?P<label>[^:.;]{2,80}?)(?::| [-–] )\s*(?=\S)")
_CONTINUES = re.compile(
    r"^\W*(?:adults?|child(?:ren)?|infants?|neonates?|newborns?|adolescents?|elderly|pregnan\w+|or|plus|and|then|"
    r"followed|max\w*|initial\w*|maintenance|loading|repeat|may|under|over|above|below|up to|age[sd]?|usual|dose|"
    r"orally|oral|by|given|\d)\b",
    re.IGNORECASE,
)
_AGES = re.compile(r"\d\s*(?:years|months|yrs)", re.IGNORECASE)
_REACH = 8


@lru_cache(maxsize=256)
def statements_of(text: str, path: tuple[str, ...] = (), title: str = "") -> tuple[Statement, ...]:
    """Return the statements of a source in reading order.

    Args:
        text: the passage (Markdown or plain).
        path: its headings from the top.
        title: of its guideline.
    """
    return _Reader((*reversed(path), title) if title else tuple(reversed(path))).read(text)


class _Reader:
    def __init__(self, path: tuple[str, ...]) -> None:
        self.outer = path
        self.inner: tuple[str, ...] = ()
        self.statements: list[Statement] = []
        self.items: list[str] = []
        self.stack: list[tuple[int, str]] = []
        self.lead = ""
        self.header: list[str] = []

    def read(self, text: str) -> tuple[Statement, ...]:
        paragraph: list[str] = []
        for line in text.replace("\r", "").split("\n"):
            stripped = line.strip()
            heading, item = _HEADING.match(line), _ITEM.match(line)
            is_row = stripped.startswith("|") or " | " in stripped
            if paragraph and (not stripped or heading or item or is_row):
                self.paragraph(" ".join(paragraph))
                paragraph = []
            if not is_row:
                self.header = []
            if heading:
                self.inner = (heading[1],)
                self.items, self.stack, self.lead = [], [], ""
            elif item:
                self.item(len(item[1].expandtabs(4)), item[2])
            elif is_row:
                self.row(stripped)
            elif stripped and self.stack and line[:1].isspace():
                self.add(stripped, (self.stack[-1][1],))
            elif stripped:
                paragraph.append(stripped)
        if paragraph:
            self.paragraph(" ".join(paragraph))
        return tuple(self.statements)

    def paragraph(self, text: str) -> None:
        self.stack = []
        self.add(text, ())
        sentences = split_sentences(text)
        self.lead = sentences[-1] if sentences else ""
        if not self.lead.endswith(":"):
            self.items = []

    def item(self, indent: int, text: str) -> None:
        while self.stack and self.stack[-1][0] >= indent:
            self.stack.pop()
        leads = tuple(parent for _, parent in reversed(self.stack))
        if self.lead:
            leads = (*leads, self.lead) if self.lead.endswith(":") else leads
        self.add(text, leads, self._governing(text))
        self.stack.append((indent, text))
        self.items.append(text)

    def _governing(self, text: str) -> tuple[str, ...]:
        """Return the earlier items that this one goes on from: the nearest that names a medicine or is a label."""
        found: list[str] = []
        if _CONTINUES.match(text):
            for earlier in reversed(self.items[-_REACH:]):
                label = len(earlier) < 60 and not any(c.isdigit() for c in earlier)
                if not _CONTINUES.match(earlier) and (label or medicines_of(earlier)):
                    found.append(earlier)
                    break
        headed = next((earlier for earlier in reversed(self.items) if earlier.endswith(":")), "")
        if headed:
            found.append(headed)
        if self.lead and not self.lead.endswith(":"):
            found.append(self.lead)
        return tuple(found)

    def row(self, line: str) -> None:
        if _ROW_RULE.match(line):
            return
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not self.header:
            self.header = cells
            self._push(" | ".join(cells), (self.lead,) if self.lead else (), (), "")
            return
        headers = [*self.header, *[""] * len(cells)][: len(cells)]
        lead = (self.lead,) if self.lead.endswith(":") else ()
        by_group = [concepts_of(header) & (v.POPULATIONS | v.ROLES) for header in headers]
        if sum(map(bool, by_group)) < 2:
            self._push(" | ".join(cells), (" | ".join(headers), *lead), (), "")
        for header, cell in list(zip(headers, cells, strict=True))[1:]:
            if cell:
                self._push(f"{cells[0]}: {header}: {cell}", (headers[0], *lead), (), "")

    def add(self, text: str, leads: tuple[str, ...], governing: tuple[str, ...] = ()) -> None:
        label = _LABEL.match(text)
        before = ""
        for sentence in split_sentences(text):
            own_leads = (label["label"], *leads) if label and before else leads
            self._push(sentence, own_leads, governing, before)
            before = sentence

    def _push(self, text: str, leads: tuple[str, ...], governing: tuple[str, ...], before: str) -> None:
        self.statements.append(
            Statement(text, leads, governing, before, (*self.inner, *self.outer), len(self.statements))
        )
