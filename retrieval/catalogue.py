"""What a generation remembers of the files it was made from: in its manifest, as JSON (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from retrieval.guideline import Guideline, Metadata
from retrieval.plan import Known
from retrieval.records import dump_guideline, load_guideline
from retrieval.versions import SERVED, Standing, standings


@dataclass(frozen=True, slots=True)
class Indexed:
    """A file in its last good state, served or not.

    Attributes:
        guideline: what is known of it; its section tree is empty.
        folder, described: see `plan.Known`.
        standing: whether it was served in this generation.
        passages: how many it has there; 0 when it is not served.
    """

    guideline: Guideline
    folder: str
    described: str
    standing: Standing = SERVED
    passages: int = 0

    @property
    def name(self) -> str:
        return self.guideline.name

    @property
    def known(self) -> Known:
        return Known(self.guideline.name, self.folder, self.guideline.sha256, self.described)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All files of a generation.

    Attributes:
        files: by name.
        making: changes with everything but the files that passages and windows depend on.
    """

    files: Mapping[str, Indexed]
    making: str

    @property
    def state(self) -> str:
        """16 hex digits that stay the same while the same files are served in the same way."""
        lines = sorted(
            "\0".join(
                (
                    one.name,
                    one.guideline.sha256,
                    dump_guideline(one.guideline),
                    one.standing.kind or "",
                    *one.standing.superseded_by,
                )
            )
            for one in self.files.values()
        )
        return hashlib.sha256("\n".join((self.making, *lines)).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def differs_from(self, other: Catalogue) -> bool:
        """Tell whether a generation made from this would be another than one made from `other`."""
        return self.making != other.making or self._served_as() != other._served_as()

    def _served_as(self) -> dict[str, tuple[object, ...]]:
        return {name: (one.guideline, one.folder, one.described, one.standing) for name, one in self.files.items()}

    @property
    def served(self) -> tuple[str, ...]:
        return tuple(sorted(name for name, one in self.files.items() if one.standing.served))

    def on(self, today: date) -> Catalogue:
        """Return the same files as they stand on a day."""
        found = standings(self.metadata, today)
        return replace(self, files={name: replace(one, standing=found[name]) for name, one in self.files.items()})

    @property
    def metadata(self) -> dict[str, Metadata]:
        return {name: one.guideline.metadata for name, one in self.files.items()}


def dump(catalogue: Catalogue) -> dict[str, Any]:
    """Write a catalogue as JSON values for a manifest's notes."""
    return {
        "making": catalogue.making,
        "state": catalogue.state,
        "served": len(catalogue.served),
        "files": [
            [
                dump_guideline(one.guideline),
                one.folder,
                one.described,
                one.standing.kind,
                one.standing.reason,
                list(one.standing.superseded_by),
                one.passages,
            ]
            for one in sorted(catalogue.files.values(), key=lambda one: one.name)
        ],
    }


def load(notes: Mapping[str, Any]) -> Catalogue:
    """Read what `dump` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is something else.
    """
    return Catalogue(_files(notes["files"]), str(notes["making"]))


def _files(records: Iterable[Any]) -> dict[str, Indexed]:
    files = {}
    for guideline, folder, described, kind, reason, superseded_by, passages in records:
        standing = Standing(kind, reason, tuple(superseded_by))
        one = Indexed(load_guideline(guideline), folder, described, standing, passages)
        files[one.name] = one
    return files
