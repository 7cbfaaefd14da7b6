"""Whom a post notifies, as a Mattermost server decides it (pure).

The text is parsed as Markdown; code, link targets and bare URLs are left out; what remains is cut into words
at everything but letters, digits and `:.-_@`, and each word is compared with each member's keywords.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

EVERYONE = ("@channel", "@all")

# A server's own parser knows no emphasis and no HTML: the marks stay in the text, and split words.
_PARSER = MarkdownIt("commonmark", {"html": False}).disable(["emphasis", "html_block", "html_inline", "autolink"])
_BARE_URL = re.compile(r"\b(?:https?|ftp)://\S+|\bwww\.\S+", re.IGNORECASE)
_WORD = re.compile(r"(?:[:.\-@]|\w)+")
_ENDS = ".-:_"


@dataclass(frozen=True, slots=True)
class Reader:
    """A member of the channel, as far as mentions go."""

    user_id: str
    username: str
    notify_props: Mapping[str, str]
    first_name: str = ""
    online: bool = False


def mentioned(texts: Iterable[str], readers: Sequence[Reader]) -> list[str]:
    """Return the ids of the members whom `texts` (the message, its attachments' texts) notify, in their order."""
    words = {word for text in texts for stretch in _stretches(text) for word in _words(stretch)}
    lowered = {word.casefold() for word in words}
    found = []
    for reader in readers:
        props = reader.notify_props
        keys = {f"@{reader.username}"} | {key.casefold() for key in props.get("mention_keys", "").split(",") if key}
        if props.get("channel", "true") == "true":
            keys.update(EVERYONE)
            if reader.online:
                keys.add("@here")
        by_name = props.get("first_name") == "true" and reader.first_name in words
        if by_name or keys & lowered:
            found.append(reader.user_id)
    return found


def _stretches(text: str) -> Iterator[str]:
    """Yield the runs of plain text of a Markdown text."""
    for token in _PARSER.parse(text):
        if token.type == "inline":
            run = ""
            for child in token.children or []:
                if child.type in ("text", "text_special"):
                    run += child.content
                else:
                    yield from _BARE_URL.split(run)
                    run = ""
                    if child.type == "image":
                        yield from _image_text(child)
            yield from _BARE_URL.split(run)


def _image_text(token: Token) -> Iterator[str]:
    yield "".join(child.content for child in token.children or [])


def _words(stretch: str) -> Iterator[str]:
    """Yield every form under which a word of plain text may name somebody."""
    for word in _WORD.findall(stretch):
        if word[0] == ":" and word[-1] == ":":
            continue  # taken for an emoji
        word = word.lstrip(":.-_")
        yield word
        bare = word
        while bare and bare[-1] in _ENDS:
            bare = bare[:-1]
            yield bare
        if not word.startswith("@"):
            yield from (part for part in re.split(r"[.\-:]", word) if part)
