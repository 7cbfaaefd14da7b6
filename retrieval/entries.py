"""What `guidelines` lists: every guideline that is known, served or why not (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from retrieval.access import Viewer, may_see
from retrieval.catalogue import Catalogue, Indexed
from retrieval.guideline import Coverage, Metadata, Problem
from retrieval.plan import Failure
from retrieval.versions import ReviewState, review_state
from retrieval.withdrawn_list import Withdrawn


@dataclass(frozen=True, slots=True)
class GuidelineEntry:
    """A guideline as people are told of it.

    Attributes:
        name: path relative to its watched folder.
        served: questions find it.
        reason: why they do not; "" when they do.
        passages: how many are indexed.
        problems: what its loader and the last index run said of it.
        review: whether its review date is ahead or past.
        last_good: its file cannot be read as it is now; the last good text answers.
        link: where the original can be read; None without one.
    """

    name: str
    metadata: Metadata
    served: bool
    reason: str
    passages: int
    coverage: Coverage
    problems: tuple[Problem, ...]
    review: ReviewState
    last_good: bool
    sha256: str = ""
    link: str | None = None

    @property
    def title(self) -> str:
        return self.metadata.title

    @property
    def version(self) -> str | None:
        return self.metadata.version


def entries_of(
    catalogue: Catalogue,
    failures: Mapping[str, Failure],
    withdrawn: Withdrawn,
    viewer: Viewer,
    today: date,
    *,
    deny_by_default: bool = False,
) -> tuple[GuidelineEntry, ...]:
    """List what a viewer may know of, by name.

    A file that never could be read has no known audience, so only the operator is told of it.
    """
    entries = []
    for name, one in sorted(catalogue.files.items()):
        if is_visible(one, withdrawn, viewer, deny_by_default=deny_by_default):
            entries.append(_entry(one, failures.get(name), withdrawn, today))
    if viewer.readers is None:
        entries += [_unread(failure) for name, failure in failures.items() if name not in catalogue.files]
    return tuple(sorted(entries, key=lambda entry: entry.name))


def is_visible(one: Indexed, withdrawn: Withdrawn, viewer: Viewer, *, deny_by_default: bool) -> bool:
    """Tell whether a viewer may know of a guideline: by its audience in the index, and by that in its file now."""
    audiences = (one.guideline.metadata.audience, withdrawn.audiences.get(one.name))
    return all(
        may_see(audience, viewer, deny_by_default=deny_by_default) for audience in audiences if audience is not None
    )


def hidden_names(
    catalogue: Catalogue, withdrawn: Withdrawn, viewer: Viewer, *, deny_by_default: bool
) -> frozenset[str]:
    """Return the guidelines of a generation that a viewer's questions must not find, though their collection may.

    Those that were withdrawn since, those whose audience was narrowed since, and those that are replaced by one
    which this viewer may see.
    """
    hidden = set()
    for name, one in catalogue.files.items():
        if not one.standing.served:
            continue
        narrowed = withdrawn.audiences.get(name)
        replaced = any(
            new in catalogue.files
            and new not in withdrawn.reasons
            and is_visible(catalogue.files[new], withdrawn, viewer, deny_by_default=deny_by_default)
            for new in one.standing.superseded_by
        )
        if (
            name in withdrawn.reasons
            or replaced
            or (narrowed is not None and not may_see(narrowed, viewer, deny_by_default=deny_by_default))
        ):
            hidden.add(name)
    return frozenset(hidden)


def _entry(one: Indexed, failure: Failure | None, withdrawn: Withdrawn, today: date) -> GuidelineEntry:
    reason = withdrawn.reasons.get(one.name, "") or one.standing.reason
    problems = one.guideline.warnings
    if failure is not None:
        problems = (*problems, Problem(failure.name, failure.reason, failure.page))
    return GuidelineEntry(
        name=one.name,
        metadata=one.guideline.metadata,
        served=not reason,
        reason=reason,
        passages=one.passages,
        coverage=one.guideline.coverage,
        problems=problems,
        review=review_state(one.guideline.metadata, today),
        last_good=failure is not None and not reason,
        sha256=one.guideline.sha256,
        link=one.guideline.link,
    )


def _unread(failure: Failure) -> GuidelineEntry:
    problem = Problem(failure.name, failure.reason, failure.page)
    return GuidelineEntry(
        name=failure.name,
        metadata=Metadata(failure.name),
        served=False,
        reason="It could not be read.",
        passages=0,
        coverage=Coverage(),
        problems=(problem,),
        review="none",
        last_good=False,
    )
