"""Text as it is: escapes that keep Mattermost from acting on what is quoted, and how to take them off (pure).

A quoted text must look as it is stored, in the web and the phone client: its tables and lists drawn, and
nothing in it linked, mentioned, turned into an emoji, loaded from elsewhere or hidden. Four escapes do it,
and `undo_display` takes each of them off again:

    backslash        before marks of Markdown:                     2*3*4   → 2\\*3\\*4
    zero-width space after what starts a mention, link, emoji …:   @all    → @ZWSPall
    ⟨U+…⟩            for what nobody can see (bidi, NUL …):        U+202E  → ⟨U+202E⟩
    &lt;             where nothing else helps:                     <a@b>   → &lt;ZWSPa@ZWSPb>

A table whose rows have no delimiter line (from PDF, DOCX, HTML) gets one, marked so that it comes off too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

ZWSP = "\u200b"

# Harmless where they stand, and common in real documents.
_INVISIBLE_KEPT = frozenset("\n\t\u00ad\u200c\u200d")

_BOLD = re.compile(r"(?<![\w*\\])\*\*(?=\w)[^*\n]*?(?<=[\w.!?%:;,)])\*\*(?![\w*])")
_INLINE = re.compile(
    r"""
    (?P<tag>\[S\d{1,2}\](?![(:]))          # a citation is no link
    |(?P<cell>\\\|)                        # a pipe that is already escaped, in a table
    |(?P<mark>[`*_~\[\]]|\\(?=[!-/:-@\[-`{-~]|$))  # a backslash before a letter is one as it is
    |(?P<latex>\$)
    |(?P<start>
        @(?=\S)                            # mentions, addresses
        |<(?=\S)                           # HTML, and <3, which becomes a heart
        |&(?=\#?\w+;)                      # character references
        |:(?=[\w+\-]+:)                    # :100:
        |:(?=[)(oOdDpPsSxX\[\]@/'’|$-])  # emoticons, and the :// of links
        |(?<=[A-Za-z]):(?=[\w%])           # mailto:, tel:
        |\.(?=[^\W\d_]{2,4}/)              # example.org/
        |;(?=-?\))
        |\#(?=\w)                          # hashtags
        |[wW]{3}\d{0,3}(?=\.)
        |\b[xX](?=-[dD]\b)
        |⟨(?=U\+)
    )
    |(?P<hidden>[^\ -~])
    """,
    re.VERBOSE,
)
_UNDO = re.compile(
    ZWSP
    + r"\n---(?: \| ---)+(?=\n|\Z)|"
    + ZWSP
    + r"|\\(?P<mark>[!-/:-@\[-`{-~])|(?P<less>&lt;)|⟨U\+(?P<code>[0-9A-F]{4,6})⟩"
)

_DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_RULE = re.compile(r"\s*(?:[=-]+|([-*_])\s*(?:\1\s*){2,})\s*")
_BULLET = re.compile(r"(\s*)([-*])( {1,4}|\t)(?=\S)")
_NUMBER = re.compile(r"(\s*)(\d{1,9})([.)])(?=\s|$)")


def display(text: str) -> str:
    """Escape a text so that Mattermost shows it as it is, with its own tables and lists drawn.

    `undo_display(display(text)) == text` for every text.
    """
    return "\n".join(_lines(text.split("\n")))


def display_line(text: str) -> str:
    """Escape a text for a place within a line: a title, a path, a name. Line breaks become spaces."""
    return _inline(" ".join(text.split("\n")))


def quote(text: str) -> str:
    """Return `display(text)` as a block quote."""
    return "\n".join(f"> {line}" for line in display(text).split("\n"))


def undo_display(shown: str) -> str:
    """Take off what `display` and `quote` added, and give back the stored characters."""
    bare = re.sub(r"^> ?", "", shown, flags=re.MULTILINE)
    return _UNDO.sub(_undone, bare)


def _undone(match: re.Match[str]) -> str:
    if match["mark"]:
        return match["mark"]
    if match["less"]:
        return "<"
    return chr(int(match["code"], 16)) if match["code"] else ""


def _lines(lines: list[str]) -> Iterator[str]:
    """Yield the escaped lines; where a delimiter line is added, it comes with its header."""
    tables = _tables(lines)
    lists = _Lists()
    for number, line in enumerate(lines):
        table = tables.get(number)
        if table is not None:
            lists.end()
            if table == "delimiter":
                yield line
            else:
                shown = _row(line)
                yield shown + f"{ZWSP}\n{' | '.join(['---'] * _cells(line))}" if table == "bare header" else shown
        elif not line.strip():
            yield (ZWSP if _width(line) >= 4 else "") + _inline(line)
        else:
            yield _line(line, lists)


def _line(line: str, lists: _Lists) -> str:
    """Escape a line outside a table."""
    indent = _width(line) - _width(line.lstrip(" \t"))
    prefix, rest = "", line
    rule = _RULE.fullmatch(line)
    bullet, number = (None, None) if rule else (_BULLET.match(line), _NUMBER.match(line))
    if bullet and lists.bullet(indent, indent + 1 + _width(bullet[3])):
        prefix, rest = bullet[0], line[bullet.end() :]
    elif (
        number
        and not _is_no_item(line[number.end() :])
        and lists.number(indent, indent + len(number[2]) + 2, int(number[2]))
    ):
        prefix, rest = number[0], line[number.end() :]
    elif indent >= 4 or line.startswith("\t"):
        lists.text(indent)
        return ZWSP + _inline(line)  # else it would be taken for code
    else:
        lists.text(indent)
    return prefix + _line_start(rest)


def _line_start(line: str) -> str:
    """Escape what has a meaning only where a line, or a list item, begins."""
    if _RULE.fullmatch(line):
        return ZWSP + _inline(line)
    stripped = line.lstrip(" \t")
    space = line[: len(line) - len(stripped)]
    if stripped[:1] in ("#", ">") or re.match(r"[-+*](?=\s|$)", stripped):
        mark = stripped[0]
        after = ZWSP if mark == "#" and re.match(r"\w", stripped[1:]) else ""
        return f"{space}\\{mark}{after}{_inline(stripped[1:])}"
    number = _NUMBER.match(stripped)
    if number:
        return f"{space}{number[2]}\\{number[3]}{_inline(stripped[number.end() :])}"
    return space + _inline(stripped)


def _row(line: str) -> str:
    """Escape a row of a table; its pipes stay what they are."""
    stripped = line.lstrip(" \t")
    space = line[: len(line) - len(stripped)]
    return space + (_inline(stripped, table=True) if stripped.startswith("|") else _table_start(stripped))


def _table_start(row: str) -> str:
    if row[:1] in ("#", ">") or re.match(r"[-+*](?=\s)", row):
        return f"\\{row[0]}{_inline(row[1:], table=True)}"
    number = _NUMBER.match(row)
    if number:
        return f"{number[2]}\\{number[3]}{_inline(row[number.end() :], table=True)}"
    return _inline(row, table=True)


def _inline(text: str, *, table: bool = False) -> str:
    """Escape within a line."""
    bold = {at for match in _BOLD.finditer(text) for at in _bold_marks(match)}

    formula = _holds_formula(text)
    addresses = _addresses(text)

    def escaped(match: re.Match[str]) -> str:
        found = match[0]
        kind = match.lastgroup
        if match.start() in addresses:
            return f"&lt;{ZWSP}"
        if kind == "start":
            return found + ZWSP
        if kind == "hidden":
            return found if _is_visible(found, text, match.end()) else f"⟨U+{ord(found):04X}⟩"
        if kind == "cell":
            return "\\\\\\|" if table else "\\\\|"
        if kind == "latex" and formula:
            return f"⟨U+{ord(found):04X}⟩"  # no client lets a dollar be escaped
        if kind in ("tag", "latex") or (found == "*" and match.start() in bold):
            return found
        channel = ZWSP if found == "~" and re.match(r"\w", text[match.end() :]) else ""
        return f"\\{found}{channel}"

    return _INLINE.sub(escaped, text)


def _bold_marks(match: re.Match[str]) -> tuple[int, ...]:
    return (match.start(), match.start() + 1, match.end() - 2, match.end() - 1)


def _holds_formula(text: str) -> bool:
    """Tell whether two dollars of a line could be taken for the ends of a formula."""
    first = text.find("$")
    return first >= 0 and re.search(r"\$(?![A-Za-z0-9])", text[first + 2 :]) is not None


def _addresses(text: str) -> set[int]:
    """Return where a `<` begins what could be taken for an address in angle brackets, <a@b>, and lose them."""
    found: set[int] = set()
    for match in re.finditer(r"[^ >]+(>?)", text):
        if match[1]:
            last = max(match[0].rfind("@"), match[0].rfind(":/"))
            found.update(match.start() + at for at in range(last) if match[0][at] == "<")
    return found


def _is_visible(char: str, text: str, end: int) -> bool:
    if char in _INVISIBLE_KEPT or (char == "\r" and end == len(text)):
        return True
    return unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")


def _tables(lines: list[str]) -> dict[int, str]:
    """Return what each line of a table is: "header", "delimiter", "row", or "bare header" without delimiter."""
    found: dict[int, str] = {}
    number = 0
    while number < len(lines):
        cells = _cells(lines[number])
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if cells > 1 and "|" in following and _DELIMITER.fullmatch(following) and "-" in following:
            found[number], found[number + 1] = "header", "delimiter"
            number += 2
        elif cells > 1 and _cells(following) == cells and _bare(lines[number]):
            found[number] = "bare header"
            number += 1
        else:
            number += 1
            continue
        while number < len(lines) and _cells(lines[number]) > 1:
            found[number] = "row"
            number += 1
    return found


def _cells(line: str) -> int:
    """Return how many cells a line has as a row of a table: 1 for a line that is none."""
    bare = re.sub(r"\\\|", "", line).strip()
    return bare.strip("|").count("|") + 1 if "|" in bare.strip("|") else 1


def _bare(line: str) -> bool:
    """Tell whether a line looks like a row as loaders join cells: 'a | b', without pipes at its ends."""
    return " | " in line and not line.strip().startswith("|") and not line.endswith("\r")


class _Lists:
    """Which list a line stands in. A number is drawn as a list only where it would be drawn as it is written:
    a list that counts from 1 by 1; elsewhere clients would count anew."""

    def __init__(self) -> None:
        self._open: list[tuple[int, int, int]] = []  # indent of marker and content, last number (0: bullets)

    def bullet(self, indent: int, content: int) -> bool:
        return self._enter(indent, content, 0)

    def number(self, indent: int, content: int, value: int) -> bool:
        last = next((number for at, _, number in reversed(self._open) if at == indent), 0)
        return value == last + 1 and self._enter(indent, content, value)

    def text(self, indent: int) -> None:
        if indent == 0:
            self._open.clear()

    def end(self) -> None:
        self._open.clear()

    def _enter(self, indent: int, content: int, value: int) -> bool:
        if any(at == indent and (number == 0) != (value == 0) for at, _, number in self._open):
            return False  # a client would go on with the list that is there
        above = [each for each in self._open if each[0] < indent]
        if indent >= (above[-1][1] if above else 0) + 4:
            return False  # so far in that it would be taken for code
        self._open = [*above, (indent, content, value)]
        return True


def _is_no_item(rest: str) -> bool:
    """Tell whether what follows a list marker is nothing, or so far off that it would be taken for code."""
    return not rest.strip() or _width(rest) - _width(rest.lstrip(" \t")) > 4 or rest.startswith("\t")


def _width(text: str) -> int:
    return len(text.expandtabs(4))
