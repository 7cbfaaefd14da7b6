"""Whether a text names the bot, as a Mattermost server decides it, and the text without the name (pure).

The server reads the text as Markdown, leaves out code, link targets and bare URLs, cuts the rest into words at
everything but letters, digits and `:.-_@`, and compares each word, without the marks around it, with `@name`.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

# The server's parser knows no emphasis and no HTML: their marks stay in the text and part words.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable(["emphasis", "html_block", "html_inline", "autolink"])
_URL = re.compile(r"\b(?:https?|ftp)://\S+|\bwww\.\S+", re.IGNORECASE)
_WORD = re.compile(r"[\w:.\-@]+")
_EDGE = ":.-_"


def names(message: str, username: str) -> bool:
    """Tell whether `message` mentions `@username` in a way that a server counts."""
    if f"@{username}".casefold() not in message.casefold():
        return False
    return any(_is_name(word, username) for stretch in _stretches(message) for word in _WORD.findall(stretch))


def without_name(message: str, username: str) -> str:
    """Return `message` without `@username` where it stands as a word, and without what only led on from it.

    The rest is untouched: code and URLs keep the name, and line breaks stay.
    """

    def take_out(match: re.Match[str]) -> str:
        word = match[0]
        if not _is_name(word, username):
            return word
        start = word.casefold().index("@" + username.casefold())
        return word[:start] + word[start + 1 + len(username) :].strip(_EDGE)

    kept = []
    end = 0
    for hidden in re.finditer(r"```.*?(?:```|\Z)|`[^`\n]+`|(?:https?|ftp)://\S+", message, re.DOTALL):
        kept += [_WORD.sub(take_out, message[end : hidden.start()]), hidden[0]]
        end = hidden.end()
    kept.append(_WORD.sub(take_out, message[end:]))
    text = "".join(kept)
    text = re.sub(r"[ \t]{2,}", " ", text)
    text = re.sub(r"(?:\*\*|__|~~)\s*(?:\*\*|__|~~)", "", text)
    # Never a sign that belongs to a number: -5, .5, <5.
    led_on = r"^\s*(?:[:,;]+|[.!]+(?=\s)|[-–—]+(?=\s))?\s*"
    return re.sub(led_on, "", text).strip() if _led(message, username) else text.strip()


def _led(message: str, username: str) -> bool:
    """Tell whether the name comes first, so that what follows it may be only a comma or a colon."""
    return re.match(rf"[\s*_~#]*@{re.escape(username)}(?![\w@])", message, re.IGNORECASE) is not None


def _is_name(word: str, username: str) -> bool:
    if len(word) > 1 and word[0] == ":" and word[-1] == ":":
        return False  # taken for an emoji
    word = word.lstrip(_EDGE).casefold()
    name = f"@{username}".casefold()
    return word == name or (word.startswith(name) and not word[len(name) :].strip(_EDGE))


def _stretches(message: str) -> list[str]:
    stretches = []
    for token in _MARKDOWN.parse(message):
        if token.type != "inline":
            continue
        run = ""
        for child in token.children or []:
            if child.type in ("text", "text_special"):
                run += child.content
                continue
            stretches += _URL.split(run)
            run = ""
            if child.type == "image":
                stretches.append("".join(part.content for part in child.children or []))
        stretches += _URL.split(run)
    return stretches
