"""An open generation, and what of it a viewer may see."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from retrieval.access import Viewer, may_see
from retrieval.catalogue import Catalogue, load
from retrieval.counting import definitions_of, terms_of
from retrieval.entries import hidden_names
from retrieval.errors import IndexMismatch
from retrieval.guideline import Passage
from retrieval.store import Audience, Generation
from retrieval.terms import TermStatistics, content_terms
from retrieval.withdrawn_list import Withdrawn

_VIEWS_KEPT = 256


class View:
    """What a viewer may see of a generation: what is left out is as if it were not there.

    Attributes:
        hidden: names of guidelines in collections that the viewer may see, which are left out all the same.
    """

    def __init__(
        self, generation: Generation, viewer: Viewer, hidden: frozenset[str], *, deny_by_default: bool
    ) -> None:
        self.generation = generation
        self.hidden = hidden
        self._viewer = viewer
        self._deny_by_default = deny_by_default

    def sees(self, audience: Audience) -> bool:
        """Tell whether the viewer may see a collection."""
        return may_see(audience, self._viewer, deny_by_default=self._deny_by_default)

    @cached_property
    def hidden_passages(self) -> dict[int, Passage]:
        """The hidden passages of collections that the viewer may see, by number."""
        passages = {}
        for name in sorted(self.hidden):
            numbers = self.generation.numbers_of(name)
            for number, passage in zip(numbers, self.generation.passages(numbers), strict=True):
                if self.sees(passage.metadata.audience):
                    passages[number] = passage
        return passages

    @cached_property
    def statistics(self) -> TermStatistics:
        """Term statistics of what the viewer may see and of nothing else."""
        whole = self.generation.statistics(self.sees)
        if not self.hidden_passages:
            return whole
        frequency = Counter(whole.frequency)
        for passage in self.hidden_passages.values():
            frequency.subtract(set(terms_of(passage)))
        return TermStatistics(whole.documents - len(self.hidden_passages), dict(+frequency))

    @cached_property
    def definitions(self) -> Mapping[tuple[str, str], int]:
        """Abbreviations that passages define which the viewer may see: (short, long) → in how many."""
        whole = self.generation.definitions(self.sees)
        if not self.hidden_passages:
            return whole
        counts = Counter(dict(whole))
        for passage in self.hidden_passages.values():
            counts.subtract(set(definitions_of(passage)))
        return dict(+counts)

    def mentions(self, phrase: str) -> bool:
        """Tell whether a phrase stands in what the viewer may see."""
        if self.hidden_passages:
            # Rare: the words must then stand in what is left; the phrase itself is not looked for again.
            known = self.statistics.frequency
            terms = content_terms(phrase)
            if not terms or any(term not in known for term in terms):
                return False
        return self.generation.mentions(phrase, self.sees)

    @property
    def passages(self) -> int:
        """How many passages the viewer may see."""
        return self.statistics.documents


class OpenGeneration:
    """A generation that is closed when it is retired and the last search on it has ended."""

    def __init__(self, name: str, generation: Generation, deny_by_default: bool) -> None:
        self.name = name
        self.generation = generation
        self.catalogue = _catalogue(name, generation)
        self._deny_by_default = deny_by_default
        self._lock = threading.Lock()
        self._readers = 0
        self._retired = False
        self._views: dict[Viewer, View] = {}
        self._withdrawn: Withdrawn | None = None

    def enter(self) -> bool:
        """Begin to use it; False when it has been retired."""
        with self._lock:
            if self._retired:
                return False
            self._readers += 1
            return True

    def leave(self) -> None:
        """End using it."""
        with self._lock:
            self._readers -= 1
            self._close_when_done()

    def retire(self) -> None:
        """Let no one else begin; close it once those who use it have ended."""
        with self._lock:
            self._retired = True
            self._close_when_done()

    def view(self, viewer: Viewer, withdrawn: Withdrawn) -> View:
        """Return what a viewer may see now; remembered until something else is withdrawn."""
        with self._lock:
            if withdrawn is not self._withdrawn:
                self._withdrawn = withdrawn
                self._views.clear()
            view = self._views.get(viewer)
            if view is None:
                if len(self._views) >= _VIEWS_KEPT:
                    self._views.clear()
                hidden = hidden_names(self.catalogue, withdrawn, viewer, deny_by_default=self._deny_by_default)
                view = self._views[viewer] = View(
                    self.generation, viewer, hidden, deny_by_default=self._deny_by_default
                )
            return view

    def _close_when_done(self) -> None:
        if self._retired and self._readers == 0:
            self.generation.close()


def _catalogue(name: str, generation: Generation) -> Catalogue:
    try:
        return load(generation.manifest.notes)
    except (KeyError, TypeError, ValueError):
        generation.close()
        raise IndexMismatch(
            f"The index {name} was made by another version of the program; run `guideline-bot index --full` to build "
            "it again."
        ) from None
