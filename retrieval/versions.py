"""Which guidelines are served today: not drafts, not retired ones, of two versions only the current one (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from retrieval.guideline import Metadata

ReviewState = Literal["none", "ahead", "past"]
Unserved = Literal["draft", "retired", "waiting", "superseded"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a guideline is served.

    Attributes:
        kind: why it is not; None when it is.
        reason: the same in one sentence; "" when it is served.
        superseded_by: names of guidelines that replace it for those who may see them, while others still need it.
    """

    kind: Unserved | None = None
    reason: str = ""
    superseded_by: tuple[str, ...] = ()

    @property
    def served(self) -> bool:
        return self.kind is None


SERVED = Standing()


def review_state(metadata: Metadata, today: date) -> ReviewState:
    """Tell whether a guideline's review date has passed; on the day itself it has not."""
    if metadata.review_by is None:
        return "none"
    return "past" if metadata.review_by < today else "ahead"


def standing_of(metadata: Metadata, today: date) -> Standing:
    """Tell whether a guideline is served, seen by itself."""
    if metadata.status == "draft":
        return Standing("draft", "It is a draft.")
    if metadata.status == "retired":
        return Standing("retired", "It is retired.")
    if metadata.effective is not None and metadata.effective > today:
        return Standing("waiting", f"It takes effect on {metadata.effective.isoformat()}.")
    return SERVED


def standings(guidelines: Mapping[str, Metadata], today: date) -> dict[str, Standing]:
    """Tell for every guideline whether it is served.

    A guideline is replaced by one that names it (by name or title) in `supersedes`, and by one of the same title
    and the same audience with a later effective date or, without two different dates, a higher version. Only a
    guideline that is served itself replaces another. Where not everyone who may see the old one may see the new
    one, the old one stays for the others (`superseded_by`): what a reader may not see changes nothing for them.

    Args:
        guidelines: name → what is known of it.
    """
    found = {name: standing_of(metadata, today) for name, metadata in guidelines.items()}
    able = [name for name in sorted(guidelines) if found[name].served]
    replaced_by = _replacements({name: guidelines[name] for name in able})
    for old, successors in replaced_by.items():
        for_all = [new for new in successors if covers(guidelines[new].audience, guidelines[old].audience)]
        if for_all:
            title = guidelines[for_all[0]].title
            found[old] = Standing("superseded", f'It is replaced by "{title}" ({for_all[0]}).')
        else:
            found[old] = Standing(superseded_by=tuple(successors))
    return found


def same_titles(guidelines: Mapping[str, Metadata]) -> tuple[tuple[str, ...], ...]:
    """Return groups of names that share a title and audience: which of them is current cannot be told."""
    groups: dict[tuple[str, frozenset[str]], list[str]] = {}
    for name, metadata in sorted(guidelines.items()):
        groups.setdefault((_folded(metadata.title), _labels(metadata.audience)), []).append(name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def covers(new: Sequence[str], old: Sequence[str]) -> bool:
    """Tell whether everyone who may see a guideline with audience `old` may see one with audience `new`."""
    if _labels(new) == _labels(old) or "everyone" in _labels(new):
        return True
    return bool(old) and _labels(old) <= _labels(new)


def is_later(one: Metadata, other: Metadata) -> bool:
    """Tell whether `one` is a later version of the same guideline: same title and audience, later date or version.

    Effective dates decide where both have one and they differ; otherwise the numbers in the versions, one by
    one ("2.10" is higher than "2.9"). Without either it cannot be told.
    """
    if _folded(one.title) != _folded(other.title) or _labels(one.audience) != _labels(other.audience):
        return False
    if one.effective and other.effective and one.effective != other.effective:
        return one.effective > other.effective
    mine, theirs = _numbers(one.version), _numbers(other.version)
    return bool(mine and theirs) and mine > theirs


def _replacements(served: Mapping[str, Metadata]) -> dict[str, list[str]]:
    """Return for every name that is replaced the names that replace it."""
    by_name = {_folded(name): [name] for name in served}
    by_title: dict[str, list[str]] = {}
    for name, metadata in served.items():
        by_title.setdefault(_folded(metadata.title), []).append(name)
    replaced: dict[str, list[str]] = {}

    def replace(old: str, new: str) -> None:
        if old != new and new not in replaced.setdefault(old, []):
            replaced[old].append(new)

    for new, metadata in served.items():
        for label in metadata.supersedes:
            for old in by_name.get(_folded(label), by_title.get(_folded(label), [])):
                # Its own title means the versions before it, not those after it.
                if not is_later(served[old], metadata):
                    replace(old, new)
    for names in by_title.values():
        for old in names:
            for new in names:
                if is_later(served[new], served[old]):
                    replace(old, new)
    # Guidelines that replace each other in a circle stay: dropping all of them would leave nothing.
    kept = {
        old: [new for new in successors if not _in_circle(old, new, replaced, served)]
        for old, successors in replaced.items()
    }
    return {old: successors for old, successors in kept.items() if successors}


def _in_circle(old: str, new: str, replaced: Mapping[str, Sequence[str]], guidelines: Mapping[str, Metadata]) -> bool:
    """Tell whether `new` is itself replaced by `old`, directly or by way of what all readers of `old` may see."""
    todo, seen = [new], {new}
    while todo:
        for later in replaced.get(todo.pop(), ()):
            if later == old:
                return True
            if later not in seen and covers(guidelines[later].audience, guidelines[old].audience):
                seen.add(later)
                todo.append(later)
    return False


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _labels(audience: Iterable[str]) -> frozenset[str]:
    return frozenset(label.casefold() for label in audience)


def _numbers(version: str | None) -> tuple[int, ...]:
    numbers = [int(number) for number in re.findall(r"\d{1,18}", version or "")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
