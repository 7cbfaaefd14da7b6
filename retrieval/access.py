"""Who may see which guideline (pure).

A guideline's audience is a list of labels (`team:nurses`, `channel:icu`, `person:ann`). A reply is read by
everyone who can read the place it is posted in, so a guideline is found only when *each* of those readers
holds at least one of its labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Viewer:
    """The readers of a reply, each as the set of labels held.

    Attributes:
        readers: one set a kind of reader; None: the operator at the command line, who sees everything.
    """

    readers: frozenset[frozenset[str]] | None

    @classmethod
    def of(cls, readers: Iterable[Iterable[str]]) -> Viewer:
        return cls(frozenset(frozenset(label.casefold() for label in labels) for labels in readers))


OPERATOR = Viewer(None)


def may_see(audience: tuple[str, ...], viewer: Viewer, *, deny_by_default: bool = False) -> bool:
    """Tell whether every reader may see a guideline with this audience.

    Args:
        audience: the guideline's labels; empty means everyone, or no one but the operator where
            `deny_by_default` is set. The label `everyone` releases a guideline to all.
        viewer: the readers of the reply. A viewer without any reader sees only what everyone may see.
    """
    if viewer.readers is None:
        return True
    if not audience:
        return not deny_by_default
    labels = {label.casefold() for label in audience}
    if "everyone" in labels:
        return True
    return bool(viewer.readers) and all(labels & reader for reader in viewer.readers)
