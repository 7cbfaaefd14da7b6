"""Answers that rest on passages which have changed since or are not served any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.auditing.exchanges import Exchange, names
from bot.records import passage_sha256
from retrieval.entries import GuidelineEntry
from retrieval.guideline import Passage

Change = Literal["changed", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One cited source that does not stand as it was cited.

    Attributes:
        version: that the answer cited; None when the guideline had none.
        version_now: of the guideline as it is served now; None when it has none or is withdrawn.
    """

    tag: str
    guideline: str
    title: str
    path: tuple[str, ...]
    version: str | None
    version_now: str | None
    change: Change


@dataclass(frozen=True, slots=True)
class Affected:
    """An exchange and what of it does not stand any more."""

    exchange: Exchange
    sources: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Served:
    """What is served now.

    Attributes:
        versions: guideline → version.
        texts: hashes of all passages, by guideline.
        by_title: the same by title: a file that was only renamed is the same guideline.
    """

    versions: Mapping[str, str | None]
    texts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    by_title: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[GuidelineEntry], passages: Iterable[Passage]) -> Served:
        served = {entry.name: entry.version for entry in entries if entry.served}
        texts: dict[str, set[str]] = {}
        by_title: dict[str, set[str]] = {}
        for passage in passages:
            if passage.guideline in served:
                digest = passage_sha256(passage.text)
                texts.setdefault(passage.guideline, set()).add(digest)
                by_title.setdefault(passage.title, set()).add(digest)
        return cls(
            served,
            {name: frozenset(digests) for name, digests in texts.items()},
            {title: frozenset(digests) for title, digests in by_title.items()},
        )

    def change_of(self, source: Mapping[str, Any]) -> Change | None:
        """Tell what became of a cited source; None when its text is served as it was."""
        name, digest = str(source.get("guideline", "")), source.get("text_sha256")
        if name in self.versions:
            return None if digest in self.texts.get(name, ()) else "changed"
        return None if digest in self.by_title.get(str(source.get("title", "")), ()) else "withdrawn"


def affected_by(exchanges: Iterable[Exchange], guideline: str, served: Served) -> list[Affected]:
    """Return the answers that rest on passages of a guideline which do not stand any more, oldest first.

    Args:
        guideline: part of its name or title, any case.
    """
    wanted = guideline.casefold()
    found = []
    for exchange in exchanges:
        if exchange.status != "answered":
            continue
        sources = []
        for source in exchange.cited:
            change = served.change_of(source) if names(source, wanted) else None
            if change is not None:
                sources.append(_standing(source, change, served))
        if sources:
            found.append(Affected(exchange, tuple(sources)))
    return found


def notice_text(affected: Affected) -> str:
    """Return what is said in the thread of an affected answer, as Markdown."""
    from bot.display import display_line

    lines = ["**Notice: this answer cites a version that has been replaced.** Please ask again before you rely on it."]
    for title in dict.fromkeys(source.title for source in affected.sources):
        of_it = [source for source in affected.sources if source.title == title]
        tags = ", ".join(f"[{source.tag}]" for source in of_it)
        if of_it[0].change == "withdrawn":
            lines.append(f"- {tags} {display_line(title)}: is not served any more")
        else:
            versions = _versions(of_it[0])
            lines.append(f"- {tags} {display_line(title)}: what was cited has changed{versions}")
    return "\n".join(lines)


def _versions(source: Standing) -> str:
    from bot.display import display_line

    if source.version == source.version_now or not source.version:
        return ""
    now = f", now {display_line(source.version_now)}" if source.version_now else ""
    return f" (version {display_line(source.version)} then{now})"


def _standing(source: Mapping[str, Any], change: Change, served: Served) -> Standing:
    name = str(source.get("guideline", ""))
    return Standing(
        str(source.get("tag", "")),
        name,
        str(source.get("title", "")),
        tuple(map(str, source.get("path") or ())),
        source.get("version"),
        served.versions.get(name),
        change,
    )
