"""Check a written answer against the sources that it cites, sentence by sentence; report, never edit.

A sentence passes when each of its pieces (the whole sentence, or its enumerated parts with the subject and
conditions they share) is carried by one statement of a cited source, slot by slot: words, quantities, negation,
conditions, medicine, population. A number elsewhere in the source carries nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.answering import vocabulary as v
from bot.answering.asked import answers_otherwise, of_another_kind
from bot.answering.clauses import Token, concepts, tokens_of
from bot.answering.conditions import conditions_of
from bot.answering.groups import groups_of
from bot.answering.pieces import Piece, Problem
from bot.answering.relations import wrong_sequence
from bot.answering.sentences import split_sentences, tags_of, without_tags
from bot.answering.shape import runs_on, tag_stands_before, without_hedge, wrong_shape
from bot.answering.statements import Statement, plain, statements_of
from bot.answering.support import problems_with
from bot.answering.wording import concepts_of
from bot.exchange import SentenceCheck


@dataclass(frozen=True, slots=True)
class SourceText:
    """What the model was shown of one source.

    Attributes:
        text: the passage as it is quoted.
        path: headings from the top.
        title: of the guideline.
    """

    text: str
    path: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What the checker found.

    Attributes:
        supported: the answer has at least one sentence and none has a problem.
        sentences: in order; problems are (kind, detail) with kind citation, number, unit, negation, term or
            unsupported.
    """

    supported: bool
    sentences: tuple[SentenceCheck, ...]


def check(
    answer: str,
    sources: Mapping[str, SourceText | str],
    *,
    question: str = "",
    glossary: Mapping[str, str] | None = None,
) -> Report:
    """Check every sentence of `answer` against the sources it cites.

    Args:
        answer: as the model wrote it, with [S#] tags.
        sources: tag → what the model was shown; only kept sources.
        question: as it was read; decides what yes and no mean, and whom an answer that names no one is about.
            It never supports anything.
        glossary: abbreviation → long form.
    """
    texts = {tag: source if isinstance(source, SourceText) else SourceText(source) for tag, source in sources.items()}
    checking = _Checking(texts, question, glossary or {})
    checks = tuple(checking.sentences(answer))
    return Report(bool(checks) and not any(c.problems for c in checks), checks)


_YES_NO = re.compile(r"^\W*(?P<word>yes|no)\b\s*(?:[,.:;!–-]|$)\s*", re.IGNORECASE)
_SPLITS = v.words("; , and or but while whereas then ( ) plus followed . & +")
_AGAINST = ("negation", "unsupported")
_MAX_RUNS = 24


@dataclass(frozen=True, slots=True)
class _Cited:
    tag: str
    statement: Statement
    also: frozenset[str]


class _Checking:
    """One answer being checked: what was said before a sentence counts for it."""

    def __init__(self, texts: Mapping[str, SourceText], question: str, glossary: Mapping[str, str]) -> None:
        self.texts = texts
        self.question = tokens_of(question)
        self.glossary = [
            (frozenset([short.lower()]) | concepts_of(short), concepts_of(long)) for short, long in glossary.items()
        ]
        self.medicines = frozenset(t.concept for t in self.question if t.medicine)
        self.populations = concepts(self.question) & v.POPULATIONS
        self.cited: dict[str, tuple[_Cited, ...]] = {}
        self.led = False

    def sentences(self, answer: str) -> list[SentenceCheck]:
        sentences = _joined_yes_no(split_sentences(answer))
        checks: list[SentenceCheck] = []
        for index, sentence in enumerate(sentences):
            cites = tags_of(sentence)
            leads = without_tags(sentence).rstrip("*_ .").endswith(":") and not runs_on(sentence)
            if leads and (following := _tags_below(sentences[index + 1 :])):
                following = list(dict.fromkeys((*cites, *following)))
                checks.append(SentenceCheck(sentence, cites, tuple(self._lead_problems(sentence, following))))
                continue
            checks.append(SentenceCheck(sentence, cites, tuple(self._problems(sentence, cites))))
        return checks

    def _lead_problems(self, lead: str, tags: Sequence[str]) -> list[Problem]:
        known = [tag for tag in tags if tag in self.texts]
        problems: list[Problem] = [
            ("citation", f"[{tag}] is not among the sources") for tag in tags_of(lead) if tag not in known
        ]
        problems += self._supported(tokens_of(without_tags(lead)), known)[0] if known else []
        self._remember(tokens_of(lead))
        self.led = True
        return problems

    def _remember(self, tokens: Sequence[Token]) -> None:
        if medicines := frozenset(t.concept for t in tokens if t.medicine):
            self.medicines = medicines
        if populations := concepts(tuple(tokens)) & v.POPULATIONS:
            self.populations = populations

    def _problems(self, sentence: str, cites: tuple[str, ...]) -> list[Problem]:
        body = without_tags(sentence)
        if wrong := wrong_shape(sentence, body, cites):
            return wrong
        problems: list[Problem] = []
        if tag_stands_before(sentence):
            problems.append(("citation", "the tag stands before the sentence"))
        problems += [("citation", f"[{tag}] is not among the sources") for tag in cites if tag not in self.texts]
        known = [tag for tag in cites if tag in self.texts]
        if not known:
            return problems
        body = without_hedge(body)
        yes_no = _YES_NO.match(body)
        if yes_no:
            body = body[yes_no.end() :]
            if not re.search(r"\w", body):
                return [*problems, ("unsupported", "a bare yes or no")]
        tokens = tokens_of(body)
        found, used = self._supported(tokens, known, plain(body))
        problems += found
        if not found:
            problems += [("citation", f"[{tag}] does not carry this") for tag in known if tag not in used]
            if yes_no:
                problems += self._wrong_yes_no(yes_no["word"].lower(), tokens, used)
            carrying = [s for found_in in used.values() for s in found_in]
            problems += of_another_kind(
                tokens, self.question, carrying, [c.statement for tag in known for c in self._statements(tag)]
            )
            if not self.led:
                problems += answers_otherwise(tokens, self.question, carrying)
            own = frozenset().union(*(s.own for s in carrying))
            if not problems and not any(t.quantity or t.concept in own for t in tokens):
                problems.append(("unsupported", "headings without a statement"))
        self._remember(tokens)
        return problems

    def _statements(self, tag: str) -> tuple[_Cited, ...]:
        if tag not in self.cited:
            source = self.texts[tag]
            self.cited[tag] = tuple(
                _Cited(tag, s, self._expansions(s.available))
                for s in statements_of(source.text, tuple(source.path), source.title)
            )
        return self.cited[tag]

    def _expansions(self, said: frozenset[str]) -> frozenset[str]:
        found: set[str] = set()
        for short, long in self.glossary:
            if short & said:
                found |= long
            if long and long <= said:
                found |= short
        return frozenset(found)

    def _supported(
        self, tokens: tuple[Token, ...], tags: Sequence[str], body: str = ""
    ) -> tuple[list[Problem], dict[str, list[Statement]]]:
        """Return the problems of a sentence, and the statements that carry it by tag."""
        candidates = [c for tag in tags for c in self._statements(tag)]
        same = [c for c in candidates if body and c.statement.plain == body]
        if same:
            return [], _by_tag(same)
        whole = Piece(tokens, tokens, self.medicines, self.populations)
        carrying, best = self._carriers(whole, candidates)
        if body and len(whole.concepts) == 1 and not conditions_of(tokens) and not any(t.quantity for t in tokens):
            # 'Transfusion is recommended': only a statement about nothing else carries so bare a claim.
            carrying = [c for c in carrying if len(c.statement.own) <= 2]
            if not carrying:
                return best or [("unsupported", "the source says more than this, or something else")], {}
        if carrying:
            return [], _by_tag(carrying)
        used: dict[str, list[Statement]] = {}
        chunks = _chunks(tokens)
        start = 0
        problems: list[Problem] = []
        last: tuple[Piece, list[_Cited]] | None = None
        while start < len(chunks):
            for end in range(len(chunks), start, -1):
                if start == 0 and end == len(chunks):
                    continue
                piece = self._piece(tokens, chunks, start, end)
                carrying, _ = self._carriers(piece, candidates)
                if not carrying and piece.conditional:
                    carrying, _ = self._carriers(self._piece(tokens, chunks, start, end, front_only=True), candidates)
                if carrying and last and (wrong := _wrong_between(last, (piece, carrying), whole)):
                    return wrong, {}
                if carrying:
                    last = (piece, carrying)
                    for tag, statements in _by_tag(carrying).items():
                        used.setdefault(tag, []).extend(statements)
                    start = end
                    break
            else:
                problems = best or [("unsupported", "no statement of the source carries this")]
                break
        return problems, used

    def _piece(
        self, tokens: tuple[Token, ...], chunks: list[tuple[int, int]], start: int, end: int, front_only: bool = False
    ) -> Piece:
        first, last = chunks[start][0], chunks[end - 1][1]
        before = tokens[:first]
        run = tokens[first:last]
        medicines, populations = self.medicines, self.populations
        for token in before:
            if token.medicine:
                medicines = frozenset([token.concept])
            if token.population:
                populations = frozenset([token.concept])
        prefix: list[Token] = []
        behind = False
        label = next((i for i, t in enumerate(tokens[:10]) if t.word in (":", "–", "-")), 0)
        if label and label < first:
            prefix += tokens[: label + 1]
        for condition in conditions_of(tokens):
            tied_first, tied_last = condition.tied
            inside = first <= condition.start < last
            if not inside and tied_first < last and first < tied_last:
                if tied_first < condition.start:
                    # It stands behind: in 'fever, cough in severe cases and pain' it may limit its neighbour only.
                    behind = True
                    if front_only:
                        continue
                prefix += tokens[condition.start : condition.end]
        heads: frozenset[str] = frozenset()
        bare = not any(t.concept and not t.population and not t.role for t in run)
        acts = not any(t.quantity or (t.concept and t.concept not in v.ACTIONS) for t in run)
        if (bare and any(t.quantity for t in run)) or acts:
            heads = frozenset(t.concept for t in before if t.concept and not t.population and not t.role)
        return Piece((*prefix, *run), tokens, medicines, populations, heads, behind)

    def _carriers(self, piece: Piece, candidates: Sequence[_Cited]) -> tuple[list[_Cited], list[Problem]]:
        """Return the statements that carry the piece, and the problems with the one that comes nearest."""
        said = piece.concepts
        numbers = [t.quantity for t in piece.tokens if t.quantity]
        carrying: list[_Cited] = []
        ranked: list[tuple[float, int, _Cited]] = []
        for order, cited in enumerate(candidates):
            missing = len(said - cited.statement.available - cited.also)
            overlap = len(said & cited.statement.own) + 0.5 * len(said & cited.statement.led)
            ranked.append((overlap - 2 * missing, -order, cited))
            if missing:
                continue
            if not overlap and not numbers:
                continue
            if not problems_with(piece, cited.statement, cited.also):
                carrying.append(cited)
        if carrying and not numbers and len(said) <= 4 and not any(said <= c.statement.own for c in carrying):
            # A mere mention carries nothing where the source speaks of just this otherwise.
            for cited in candidates:
                if said <= cited.statement.own:
                    against = [p for p in problems_with(piece, cited.statement, cited.also) if p[0] in _AGAINST]
                    if against:
                        return [], against
        if carrying:
            return carrying, []
        best: list[Problem] = []
        for _, _, cited in sorted(ranked, key=lambda r: r[:2], reverse=True)[:3]:
            found = problems_with(piece, cited.statement, cited.also)
            if found and (not best or _distance(found) < _distance(best)):
                best = found
        return [], best

    def _wrong_yes_no(
        self, word: str, tokens: tuple[Token, ...], used: Mapping[str, Sequence[Statement]]
    ) -> list[Problem]:
        statements = [s for found in used.values() for s in found]
        words = {t.word for t in tokens} | {t.word for s in statements for t in s.tokens}
        negative = bool(words & (v.NEGATORS | v.LOCAL_NEGATORS)) or any(s.forbids for s in statements)
        asked = {t.concept: t.negated for t in self.question if t.concept}
        if not asked:
            if word == "yes" and any(t.negated for t in tokens if t.concept):
                return [("negation", "'yes' before a sentence that denies")]
            if word == "no" and not negative:
                return [("negation", "'no' before a sentence that affirms")]
            return []
        disagree = sum(
            (not asked[concept]) in signs and asked[concept] not in signs
            for statement in statements
            for concept, signs in statement.signs.items()
            if concept in asked
        )
        if word == "yes" and disagree:
            return [("negation", "'yes', but the source says otherwise")]
        if word == "no" and not disagree and not negative:
            return [("negation", "'no', but the source does not say so")]
        return []


def _distance(problems: Sequence[Problem]) -> float:
    """How far a statement is from carrying a piece; a number that it lacks weighs more than one it has otherwise."""
    return sum(
        2.0 if "is not in the source's statement" in detail or kind == "term" else 1.0 for kind, detail in problems
    )


def _joined_yes_no(sentences: Sequence[str]) -> list[str]:
    joined: list[str] = []
    held = ""
    for sentence in sentences:
        if not held and re.fullmatch(r"\W*(?:yes|no)\W*", sentence, re.IGNORECASE):
            held = sentence
            continue
        joined.append(f"{held} {sentence}" if held else sentence)
        held = ""
    return [*joined, held] if held else joined


def _tags_below(sentences: Sequence[str]) -> list[str]:
    tags: dict[str, None] = {}
    for sentence in sentences:
        if not re.match(r"\s*(?:[-*+•]|\d+[.)])", sentence) and tags:
            break
        tags.update(dict.fromkeys(tags_of(sentence)))
    return list(tags)


def _chunks(tokens: tuple[Token, ...]) -> list[tuple[int, int]]:
    """Cut at commas and joining words, never inside a condition."""
    conditions = conditions_of(tokens)
    inside = {i for c in conditions for i in range(c.start, c.end)}
    for group in groups_of(tokens):
        if any(q.dimension in ("dose", "age", "interval") for q in group.quantities):
            inside |= set(range(*group.span))
    chunks: list[tuple[int, int]] = []
    start = 0
    for index, token in enumerate(tokens):
        cuts = token.word in _SPLITS and not token.quantity and index not in inside
        if cuts and any(t.carries for t in tokens[start:index]):
            chunks.append((start, index))
            start = index
    if any(t.carries for t in tokens[start:]):
        chunks.append((start, len(tokens)))
    elif chunks:
        chunks[-1] = (chunks[-1][0], len(tokens))
    return chunks[:_MAX_RUNS] if len(chunks) <= _MAX_RUNS else [(0, len(tokens))]


def _wrong_between(last: tuple[Piece, list[_Cited]], this: tuple[Piece, list[_Cited]], whole: Piece) -> list[Problem]:
    """Return what is wrong with how two pieces are joined: 'and' for the source's 'or', steps in another order."""
    (left, before), (right, after) = last, this
    common = [c for c in after if any(c is b for b in before)]
    found = [wrong_sequence(left, right, whole, c.statement) for c in common]
    if found and all(found):
        return found[0]
    if not common:
        first = next((t.word for t in right.tokens if t.word in ("and", "or")), "")
        opens = {c.statement.tokens[0].word for c in after if c.statement.tokens}
        if (first == "and" and opens == {"or"}) or (first == "or" and opens == {"plus"}):
            return [("unsupported", f"the source joins these with '{min(opens)}', not '{first}'")]
    return []


def _by_tag(carrying: Sequence[_Cited]) -> dict[str, list[Statement]]:
    used: dict[str, list[Statement]] = {}
    for cited in carrying:
        used.setdefault(cited.tag, []).append(cited.statement)
    return used
