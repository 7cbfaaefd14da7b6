"""'≤' that was typed as an underlined '<': the drawn line below the sign is found (pure).

In many documents the sign of 'or equal' is made this way; read as it stands, 'SBP < 100' would be wrong at 100.
"""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.documents.pdf.page import Box, Char

OR_EQUAL = {"<": "≤", ">": "≥"}
# How far below the middle of a line of type an underline may lie, in heights of its box.
UNDERLINE_FROM, UNDERLINE_TO = 0.2, 0.62
MAX_RULE_HEIGHT = 2.5


def or_equal(chars: Sequence[Char], rules: Sequence[Box]) -> list[Char]:
    """Return the characters with every '<' and '>' that is underlined by itself read as '≤' and '≥'.

    A line that also runs below the letters beside the sign underlines a phrase, not the sign.
    """
    result = list(chars)
    if not rules or not any(char.text in OR_EQUAL for char in chars):
        return result
    level = [rule for rule in rules if rule.height <= MAX_RULE_HEIGHT and rule.width > rule.height]
    for place, char in enumerate(chars):
        if char.text in OR_EQUAL and _underlined_alone(chars, place, level):
            result[place] = char._replace(text=OR_EQUAL[char.text])
    return result


def _underlined_alone(chars: Sequence[Char], place: int, rules: Sequence[Box]) -> bool:
    box = _box(chars[place])
    below = [rule for rule in rules if _is_below(rule, box)]
    if not below:
        return False
    covered = sum(max(0.0, min(rule.x1, box.x1) - max(rule.x0, box.x0)) for rule in below)
    if covered < 0.6 * box.width:
        return False
    reach = Box(min(rule.x0 for rule in below), 0, max(rule.x1 for rule in below), 0)
    for beside in (_neighbour(chars, place, -1), _neighbour(chars, place, 1)):
        if beside is None or abs(beside.middle_y - box.middle_y) > box.height / 2:
            continue
        shared = min(reach.x1, beside.x1) - max(reach.x0, beside.x0)
        if shared > 0.5 * min(beside.width, 0.5 * beside.height):
            return False
    return True


def _box(char: Char) -> Box:
    return Box(char.x0, char.y0, char.x1, char.y1)


def _is_below(rule: Box, box: Box) -> bool:
    depth = (rule.middle_y - box.middle_y) / box.height if box.height > 0 else 0.0
    return UNDERLINE_FROM <= depth <= UNDERLINE_TO and rule.x0 < box.x1 and rule.x1 > box.x0


def _neighbour(chars: Sequence[Char], place: int, step: int) -> Box | None:
    """Return the box of the next visible character on the same line, or None."""
    at = place + step
    while 0 <= at < len(chars) and chars[at].text in (" ", "\u00a0"):
        at += step
    if 0 <= at < len(chars) and chars[at].text > " ":
        return _box(chars[at])
    return None
