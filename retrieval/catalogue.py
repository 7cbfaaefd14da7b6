"""What a generation remembers of the files it was made from: in its manifest, as JSON (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

from retrieval.guideline import Guideline, Metadata
from retrieval.plan import Known
from retrieval.records import dump_guideline, load_guideline
from retrieval.versions import SERVED, Standing, standings


@dataclass(frozen=True)
class Indexed:
    """A file in its last good state, served or not.

    Attributes:
        sha256, folder, described: see `plan.Known`.
        record: what is known of the guideline, as JSON text; read only when it is asked for, because an unchanged
            run over ten thousand files asks for none.
        standing: whether it was served in this generation.
        review_by: its review date, as year-month-day; "" without one.
        passages: how many it has there; 0 when it is not served.
    """

    name: str
    sha256: str
    folder: str
    described: str
    record: str
    review_by: str = ""
    standing: Standing = SERVED
    passages: int = 0

    @classmethod
    def of(cls, guideline: Guideline, folder: str, described: str) -> Indexed:
        """Return what is remembered of a guideline that was just read."""
        day = guideline.metadata.review_by
        record = dump_guideline(guideline)
        return cls(
            guideline.name, guideline.sha256, folder, described, record, review_by=day.isoformat() if day else ""
        )

    @cached_property
    def guideline(self) -> Guideline:
        """What is known of it; its section tree is empty."""
        return load_guideline(self.record)

    @property
    def known(self) -> Known:
        return Known(self.name, self.folder, self.sha256, self.described)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All files of a generation.

    Attributes:
        files: by name.
        making: changes with everything but the files that passages and windows depend on.
        since, until: the day of the standings, and the next one on which one of them changes; None for never.
    """

    files: Mapping[str, Indexed]
    making: str
    since: date | None = None
    until: date | None = None

    @property
    def served(self) -> tuple[str, ...]:
        return tuple(sorted(name for name, one in self.files.items() if one.standing.served))

    @property
    def metadata(self) -> dict[str, Metadata]:
        return {name: one.guideline.metadata for name, one in self.files.items()}

    @property
    def state(self) -> str:
        """16 hex digits that stay the same while the same files are served in the same way."""
        lines = ("\0".join(map(str, _key(one))) for _, one in sorted(self.files.items()))
        return hashlib.sha256("\n".join((self.making, *lines)).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def differs_from(self, other: Catalogue) -> bool:
        """Tell whether a generation made from this would be another than one made from `other`."""
        if self is other:
            return False
        mine, theirs = ({name: _key(one) for name, one in each.files.items()} for each in (self, other))
        return self.making != other.making or mine != theirs

    def on(self, today: date) -> Catalogue:
        """Return the same files as they stand on a day."""
        metadata = self.metadata
        found = standings(metadata, today)
        waiting = [one.effective for one in metadata.values() if one.effective and one.effective > today]
        files = {name: replace(one, standing=found[name]) for name, one in self.files.items()}
        return replace(self, files=files, since=today, until=min(waiting, default=None))

    def stands(self, today: date) -> bool:
        """Tell whether every file stands on a day as it did when this was made."""
        return self.since is not None and self.since <= today and (self.until is None or today < self.until)


def _key(one: Indexed) -> tuple[object, ...]:
    return (one.record, one.folder, one.described, one.standing)


def dump(catalogue: Catalogue) -> dict[str, Any]:
    """Write a catalogue as JSON values for a manifest's notes."""
    return {
        "making": catalogue.making,
        "since": catalogue.since and catalogue.since.isoformat(),
        "until": catalogue.until and catalogue.until.isoformat(),
        "state": catalogue.state,
        "served": len(catalogue.served),
        "files": [
            [
                one.name,
                one.sha256,
                one.folder,
                one.described,
                one.record,
                one.review_by,
                [one.standing.kind, one.standing.reason, one.standing.superseded_by] if one.standing != SERVED else 0,
                one.passages,
            ]
            for _, one in sorted(catalogue.files.items())
        ],
    }


def load(notes: Mapping[str, Any]) -> Catalogue:
    """Read what `dump` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is something else.
    """
    since, until = (date.fromisoformat(notes[name]) if notes[name] else None for name in ("since", "until"))
    return Catalogue(_files(notes["files"]), str(notes["making"]), since, until)


def _files(rows: Iterable[Any]) -> dict[str, Indexed]:
    files = {}
    for name, sha256, folder, described, record, review_by, standing, passages in rows:
        stands = SERVED if standing == 0 else Standing(standing[0], standing[1], tuple(standing[2]))
        files[name] = Indexed(name, sha256, folder, described, record, review_by, stands, passages)
    return files
