"""What overrides every generation at answer time: the list of withdrawn guidelines, as it is read before a search.

It is written by `retrieval.withdrawn`, which looks at the documents; this module is apart from it so that who
only answers does not pay for the loaders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from retrieval.errors import IndexMismatch
from retrieval.whole_files import write_whole

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
    """Read the list; an empty one where there is none.

    Raises:
        IndexMismatch: there is one that cannot be read. It is never taken for an empty one: withdrawn doses
            would be answered again.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        reasons = {str(name): str(reason) for name, reason in record["reasons"].items()}
        return Withdrawn(reasons, {name: tuple(labels) for name, labels in record["audiences"].items()})
    except FileNotFoundError:
        return Withdrawn()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise IndexMismatch(
            f"The list of withdrawn guidelines, {path}, cannot be read, so nothing is answered: "
            "run `guideline-bot index`, which writes it anew."
        ) from None


def save_withdrawn(path: Path, withdrawn: Withdrawn) -> None:
    """Write the list in one step, if it is another than before."""
    try:
        before: Withdrawn | None = load_withdrawn(path)
    except IndexMismatch:
        before = None
    if before != withdrawn or not path.exists():
        record = {"reasons": withdrawn.reasons, "audiences": withdrawn.audiences}
        write_whole(path, json.dumps(record, ensure_ascii=False, indent=1))
