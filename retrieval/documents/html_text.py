"""The text of HTML nodes as a reader sees it: signs, superscripts, line breaks."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

SKIPPED = frozenset(
    {
        "script",
        "style",
        "noscript",
        "template",
        "head",
        "svg",
        "canvas",
        "iframe",
        "object",
        "select",
        "button",
        "textarea",
    }
)
# The sign of 'or equal' is typed as an underlined sign where the writer had no other.
UNDERLINED_SIGNS = {"<": "≤", ">": "≥"}
_SUPERSCRIPTS = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_UNDERLINE = re.compile(r"text-decoration[^;]*underline", re.IGNORECASE)


def text_of(node: LexborNode) -> str:
    """Return a node's text: white space as one blank, `<br>` as a line break."""
    return tidy(_raw(node))


def tidy(raw: str) -> str:
    """Collapse white space within lines; leave out empty lines."""
    lines = (" ".join(line.split()) for line in raw.split("\n"))
    return "\n".join(line for line in lines if line)


def raw_text(node: LexborNode, before: str = "") -> str:
    """Return the text of one inline node as it stands, for joining with the text before it."""
    text = _raw(node)
    if node.tag == "sup" and before[-1:].isdigit():
        # 10 to the 9th must not read 109.
        return text.translate(_SUPERSCRIPTS)
    return text


def is_underlined(node: LexborNode) -> bool:
    return node.tag in ("u", "ins") or bool(_UNDERLINE.search(node.attributes.get("style") or ""))


def _raw(node: LexborNode) -> str:
    tag = node.tag or ""
    if tag == "-text":
        return (node.text_content or "").replace("\n", " ").replace("\r", " ").replace("\f", " ")
    if tag == "br":
        return "\n"
    if tag in SKIPPED or tag.startswith(("-", "!")):
        return ""
    parts: list[str] = []
    for child in node.iter(include_text=True):
        part = raw_text(child, parts[-1] if parts else "")
        if part:
            parts.append(part)
    text = "".join(parts)
    if text.strip() in UNDERLINED_SIGNS and is_underlined(node):
        sign = text.strip()
        return text.replace(sign, UNDERLINED_SIGNS[sign])
    return f" {text} " if tag in ("td", "th", "li", "p", "div", "tr", "dd", "dt") else text
