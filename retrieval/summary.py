"""What an index run did, for people and for the channel (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from retrieval.catalogue import Catalogue, Indexed
from retrieval.guideline import Problem
from retrieval.plan import Failure, Plan
from retrieval.versions import same_titles


@dataclass(frozen=True, slots=True)
class Summary:
    """What an index run did; names of guidelines, in order.

    Attributes:
        generation: the one that answers now.
        built: it is a new one.
        renamed: (old name, new name).
        retired: served before and not any more, though the file is there: (name, reason).
        effective: not served before, though the file was there as it is, and served now.
        past_review: served ones whose review date has passed since the last run.
        failed: files that are not indexed in their present state, and why.
        passages: in the whole generation.
    """

    generation: str
    built: bool
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    unchanged: tuple[str, ...] = ()
    retired: tuple[tuple[str, str], ...] = ()
    effective: tuple[str, ...] = ()
    past_review: tuple[str, ...] = ()
    failed: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    passages: int = 0
    seconds: float = 0.0


def summarise(
    plan: Plan,
    before: Catalogue | None,
    after: Catalogue,
    read: Mapping[str, Indexed],
    failures: Mapping[str, Failure],
    today: date,
    last_run: date | None,
) -> Summary:
    """Say what a run did; the generation, warnings, passages and seconds are left to the caller.

    Args:
        before, after: the catalogues of the last generation and of this run.
        read: what was read anew; of the changed ones, those that came out as they were count as unchanged.
        last_run: when the last run ended; None for the first.
    """
    old = before.files if before else {}
    as_before = {name for name in plan.changed if name in read and read[name].record == old[name].record}
    changed = tuple(name for name in plan.changed if name in read and name not in as_before)
    came = {*plan.added, *changed, *(new for _, new in plan.renamed)}
    return Summary(
        generation="",
        built=False,
        added=tuple(name for name in plan.added if name in read),
        changed=changed,
        removed=plan.removed,
        renamed=tuple(pair for pair in plan.renamed if pair[1] in read),
        unchanged=tuple(sorted({*plan.unchanged, *as_before})),
        retired=tuple(
            (name, one.standing.reason)
            for name, one in sorted(after.files.items())
            if not one.standing.served and name in old and old[name].standing.served
        ),
        effective=tuple(
            name for name in after.served if name not in came and name in old and not old[name].standing.served
        ),
        past_review=tuple(name for name in after.served if _has_passed(after.files[name].review_by, today, last_run)),
        failed=tuple(Problem(one.name, one.reason, one.page) for _, one in sorted(failures.items())),
    )


def warnings_of(catalogue: Catalogue, read: Mapping[str, Indexed]) -> tuple[Problem, ...]:
    """Return what the loaders said of the files that were read, and what is unclear between guidelines."""
    told = [problem for one in read.values() for problem in one.guideline.warnings]
    served = {name: catalogue.files[name].guideline.metadata for name in catalogue.served}
    for first, *others in same_titles(served):
        told += [
            Problem(
                other,
                f'has the same title as {first} ("{served[first].title}") and neither version nor date tells which is '
                "current; both are served. Give them versions, or retire one.",
            )
            for other in others
        ]
    return tuple(told)


def _has_passed(review_by: str, today: date, last_run: date | None) -> bool:
    if not review_by:
        return False
    day = date.fromisoformat(review_by)
    return day < today and (last_run is None or day >= last_run)
