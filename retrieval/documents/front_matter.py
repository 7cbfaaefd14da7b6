"""YAML in and beside guidelines: front matter, sidecars and folder lists, every scalar kept as written."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import Any

import yaml

from retrieval.errors import DocumentError

_KEY = re.compile(r"^[A-Za-z_][\w -]*\s*:(\s|$)")


class _TextLoader(yaml.BaseLoader):
    """Read every scalar as text (version 2.10 stays 2.10) and refuse a key that is given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key.value}' is given twice", key.start_mark
                )
            if isinstance(key, yaml.ScalarNode):
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(text: str, file: str, *, first_line: int = 1) -> object:
    """Parse YAML with every scalar as text.

    Args:
        file: named in errors.
        first_line: the line of `file` that the text begins at.

    Returns:
        mappings, lists and texts; "" for an empty document.

    Raises:
        DocumentError: no YAML; names the line.
    """
    try:
        # BaseLoader is a safe loader: it makes nothing but mappings, lists and texts.
        content: object = yaml.load(text, Loader=_TextLoader)
    except yaml.MarkedYAMLError as error:
        line = first_line + (error.problem_mark.line if error.problem_mark else 0)
        problem = error.problem or "it is no YAML"
        raise DocumentError(
            file, f"line {line} can't be read as YAML ({problem}); quote values that hold ':'"
        ) from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise DocumentError(file, "can't be read as YAML; check it with a YAML editor") from None
    return "" if content is None else content


def split_front_matter(text: str, name: str) -> tuple[Mapping[str, object], int]:
    """Return the front matter of a Markdown or text file and the number of lines that it takes.

    Front matter stands between a first line '---' and the next line '---' or '...'. What stands there but is
    no mapping is text of the document.

    Raises:
        DocumentError: it looks like front matter and is no YAML, or is never closed.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, 0
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        if len(lines) > 1 and _KEY.match(lines[1]):
            raise DocumentError(name, "its front matter begins on line 1 and never ends; close it with a line '---'")
        return {}, 0
    inside = lines[1:end]
    written = [line for line in inside if line.strip() and not line.lstrip().startswith("#")]
    if not written:
        return {}, end + 1
    if not _KEY.match(written[0]):
        return {}, 0
    content = read_yaml("\n".join(inside), name, first_line=2)
    if not isinstance(content, dict):
        return {}, 0
    return content, end + 1
