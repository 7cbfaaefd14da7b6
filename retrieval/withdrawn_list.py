"""What overrides every generation at answer time: the list of withdrawn guidelines, as it is read before a search.

It is written by `retrieval.withdrawn`, which looks at the documents; this module is apart from it so that who
only answers does not pay for the loaders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from retrieval.whole_files import read_record, write_whole

FILE = "withdrawn.json"


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What is not served, whatever a generation holds.

    Attributes:
        reasons: guideline name → why, in one sentence.
        audiences: guideline name → the audience that its file names now, where it differs from the index.
    """

    reasons: Mapping[str, str] = field(default_factory=dict)
    audiences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def load_withdrawn(path: Path) -> Withdrawn:
    """Read the list; an empty one where there is none."""
    record = read_record(path)
    reasons, audiences = record.get("reasons", {}), record.get("audiences", {})
    return Withdrawn(dict(reasons), {name: tuple(labels) for name, labels in audiences.items()})


def save_withdrawn(path: Path, withdrawn: Withdrawn) -> None:
    """Write the list in one step, if it is another than before."""
    if load_withdrawn(path) != withdrawn or not path.exists():
        record = {"reasons": withdrawn.reasons, "audiences": withdrawn.audiences}
        write_whole(path, json.dumps(record, ensure_ascii=False, indent=1))
