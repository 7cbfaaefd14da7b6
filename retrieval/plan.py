"""What an index run has to do: the files that are there against those that were indexed before (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from retrieval.guideline import Problem

FIRST_PAUSE_S = 900.0
LONGEST_PAUSE_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class File:
    """A file of a watched folder, as it is now.

    Attributes:
        name: path relative to its watched folder, with forward slashes.
        folder: the watched folder.
        sha256: of its bytes; "" when it could not be read.
        described: changes when a sidecar says something else about the file; "" without one.
        problem: why it cannot be read or is not looked at; "" when it can.
    """

    name: str
    folder: str
    sha256: str
    described: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """A file of the last generation: the state of its last good reading."""

    name: str
    folder: str
    sha256: str
    described: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be indexed.

    Attributes:
        sha256, described: of the state that failed; any other state is tried at once.
        attempts: how many runs have tried it.
        tried_s: when it was tried last, in seconds since 1970.
        since_s: when it failed first.
    """

    name: str
    sha256: str
    described: str
    reason: str
    page: int | None
    attempts: int
    tried_s: float
    since_s: float


@dataclass(frozen=True, slots=True)
class Loss:
    """A folder that holds fewer files than before."""

    folder: str
    lost: int
    before: int

    @property
    def share(self) -> float:
        return self.lost / self.before if self.before else 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What an index run does; every name of the folders and of the last generation is in one place.

    Attributes:
        added, changed, unchanged: guideline names.
        renamed: (old name, new name); the content is the same.
        removed: names that are no longer there.
        failing: names of added or changed files that failed before and rest until their pause is over.
        unreadable: files that cannot be read at all, with the reason.
        losses: for every watched folder that lost files, how many of how many.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    unreadable: tuple[Problem, ...] = ()
    losses: tuple[Loss, ...] = ()

    @property
    def to_read(self) -> tuple[str, ...]:
        """Names of the files that have to be read anew, in order."""
        return tuple(sorted((*self.added, *self.changed, *(new for _, new in self.renamed))))


def compare(
    files: Sequence[File],
    known: Iterable[Known],
    failures: Mapping[str, Failure],
    now_s: float,
    *,
    keep_last_good: bool = True,
) -> Plan:
    """Compare what is there with what was indexed, by content.

    Args:
        files: what is there now, each name once.
        known: what the last generation remembers.
        failures: by name; what failed before.
        now_s: seconds since 1970.
        keep_last_good: a file that cannot be read keeps its passages; otherwise it counts as lost.
    """
    before = {entry.name: entry for entry in known}
    now = {file.name: file for file in files}
    added: list[str] = []
    changed: list[str] = []
    unchanged: list[str] = []
    failing: list[str] = []
    unreadable: list[Problem] = []
    for name, file in sorted(now.items()):
        old = before.get(name)
        if file.problem:
            unreadable.append(Problem(name, file.problem))
        elif old is not None and (old.sha256, old.described) == (file.sha256, file.described):
            unchanged.append(name)
        elif rests(file, failures.get(name), now_s):
            failing.append(name)
        else:
            (added if old is None else changed).append(name)
    gone = sorted(before.keys() - now.keys())
    renamed = _renamed(added, gone, now, before)
    moved = {old for old, _ in renamed}
    arrived = {new for _, new in renamed}
    removed = tuple(name for name in gone if name not in moved)
    return Plan(
        added=tuple(name for name in added if name not in arrived),
        changed=tuple(changed),
        renamed=tuple(renamed),
        removed=removed,
        unchanged=tuple(unchanged),
        failing=tuple(failing),
        unreadable=tuple(unreadable),
        losses=_losses(removed if keep_last_good else (*removed, *(one.file for one in unreadable)), before),
    )


def rests(file: File, failure: Failure | None, now_s: float) -> bool:
    """Tell whether a file that failed in this very state is still to be left alone."""
    if failure is None or (failure.sha256, failure.described) != (file.sha256, file.described):
        return False
    return 0 <= now_s - failure.tried_s < pause_s(failure.attempts)


def pause_s(attempts: int) -> float:
    """Return how long a file rests after that many failed attempts: a quarter of an hour, doubled up to a week."""
    return min(FIRST_PAUSE_S * 2.0 ** min(max(attempts - 1, 0), 30), LONGEST_PAUSE_S)


def over(losses: Iterable[Loss], max_lost_share: float) -> tuple[Loss, ...]:
    """Return the losses that a person has to confirm: more than the share of a folder's files."""
    return tuple(loss for loss in losses if loss.share > max_lost_share)


def _renamed(
    added: Sequence[str], gone: Sequence[str], now: Mapping[str, File], before: Mapping[str, Known]
) -> list[tuple[str, str]]:
    """Pair files that went with files that came with the same content, each at most once, in name order."""
    came: dict[str, list[str]] = {}
    for name in added:
        came.setdefault(now[name].sha256, []).append(name)
    pairs = []
    for old in gone:
        candidates = came.get(before[old].sha256)
        if candidates:
            # A file that keeps its last part has moved; that is likelier than a new name.
            last = old.rpartition("/")[2]
            new = next((name for name in candidates if name.rpartition("/")[2] == last), candidates[0])
            candidates.remove(new)
            pairs.append((old, new))
    return pairs


def _losses(names: Iterable[str], before: Mapping[str, Known]) -> tuple[Loss, ...]:
    sizes = Counter(entry.folder for entry in before.values())
    lost = Counter(before[name].folder for name in names if name in before)
    return tuple(Loss(folder, count, sizes[folder]) for folder, count in sorted(lost.items()))
