"""What a loader makes of a file's bytes, before what is known beside the text is added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from retrieval.guideline import Coverage, Problem, Section


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file's tree and what the file says of itself.

    Attributes:
        title: the title that the text shows; "" where it shows none.
        property_title: the title in the document's properties, often left over from another; "" for none.
        properties: what the document says of itself (front matter or document properties), as written:
            key → text or list of texts.
        stated: the properties were written for readers of the guideline (front matter), not by a word
            processor.
    """

    root: Section
    title: str = ""
    property_title: str = ""
    properties: Mapping[str, object] = field(default_factory=dict)
    stated: bool = False
    coverage: Coverage = field(default_factory=Coverage)
    warnings: tuple[Problem, ...] = ()
