"""How a question is read: abbreviations in it, with what they stand for put behind them.

What decides, in this order: what the question itself says, the site's own list, the definitions in the
guidelines that the asker may see, and a short list of general clinical abbreviations. An abbreviation of which
several meanings are known is read only if exactly one of them occurs in those guidelines, defined or merely
mentioned; otherwise it is left as it stands and reported with all that it could mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import yaml

from retrieval.abbreviations import defined_in
from retrieval.clinical_abbreviations import CLINICAL_ABBREVIATIONS
from retrieval.english import COMMON_WORDS
from retrieval.errors import SettingError
from retrieval.found import Reading
from retrieval.terms import STOP_WORDS, term_set

Senses = tuple[str, ...]
"""Meanings that differ; the synonyms of one meaning are separated by commas."""

_MAX_WORDS = 3
_MAX_CHARS = 300
_TOKEN = re.compile(r"[^\W_](?:[\w&+/.'’-]*[\w+])?")
_PART = re.compile(r"[^\W_]+")
_DOTTED = re.compile(r"(?:[^\W\d_]\.){1,5}[^\W\d_]\.?")


@dataclass(frozen=True, slots=True)
class Entry:
    """A short form as its list writes it, and what it can mean."""

    short: str
    senses: Senses


@dataclass(frozen=True)
class Glossary:
    """The lists of short forms, by `key`."""

    site: Mapping[str, Entry] = field(default_factory=dict)
    general: Mapping[str, Entry] = field(default_factory=lambda: _GENERAL)

    @classmethod
    def from_file(cls, path: Path) -> Glossary:
        """Read the site's list, a YAML mapping: `hypo: hypoglycaemia, low blood glucose`.

        A text is one meaning with its synonyms; a list holds meanings that differ.

        Raises:
            SettingError: the file cannot be read; names the line and the key.
        """
        return cls(_read_site_list(path))

    def read(
        self,
        question: str,
        definitions: Mapping[tuple[str, str], int] | None = None,
        mentioned: Callable[[str], bool] | None = None,
    ) -> Reading:
        """Read a question.

        Args:
            definitions: (short, long) pairs that the visible guidelines define, with the number of passages.
            mentioned: tells whether a phrase stands in the visible guidelines.

        Returns:
            `read_as` is the question with each abbreviation that has one meaning followed by it in brackets, at its
            first occurrence; a meaning that the question already says is not repeated.
        """
        said = {key(short) for short, _ in defined_in(question)}
        lists = _Lists(self.site, _by_key(definitions or {}), self.general, mentioned)
        expansions: list[tuple[str, str]] = []
        ambiguous: list[tuple[str, Senses]] = []
        pieces: list[str] = []
        end = 0
        for stop, written, name in _short_forms(question, lists):
            if name in said:
                continue
            said.add(name)
            senses = lists.senses(name)
            if any(_says(question, synonym) for sense in senses for synonym in _synonyms(sense)):
                continue
            if len(senses) > 1:
                ambiguous.append((written, senses))
                continue
            expansions.append((written, senses[0]))
            pieces += (question[end:stop], f" ({senses[0]})")
            end = stop
        return Reading(question, "".join((*pieces, question[end:])), tuple(expansions), tuple(ambiguous))


@dataclass(frozen=True)
class _Lists:
    """The lists that decide over one question, by key, the first that has a short form before the others."""

    site: Mapping[str, Entry]
    defined: Mapping[str, list[tuple[int, str, str]]]
    general: Mapping[str, Entry]
    mentioned: Callable[[str], bool] | None

    def written(self, name: str) -> str | None:
        """Return a short form as its list writes it; None when no list has it."""
        if name in self.site:
            return self.site[name].short
        if name in self.defined:
            return self.defined[name][0][2]
        return self.general[name].short if name in self.general else None

    def senses(self, name: str) -> Senses:
        """Return the meanings that cannot be told apart: a single one where the matter is settled."""
        listed = self.site.get(name) or self.general.get(name)
        defined = _distinct(long for _, long, _ in self.defined.get(name, ()))
        if listed is None:
            return defined
        others = [long for long in defined if not any(_same(long, sense) for sense in listed.senses)]
        if len(listed.senses) == 1 and (name in self.site or not others):
            return listed.senses if name in self.site else defined or listed.senses
        # A definition in one guideline settles nothing while others speak of another of the meanings.
        present = [sense for sense in listed.senses if self._in_guidelines(sense, defined)]
        if len(present) + len(others) == 1:
            return tuple(present + others)
        return (*listed.senses, *others)

    def _in_guidelines(self, sense: str, defined: Senses) -> bool:
        if any(_same(synonym, long) for synonym in _synonyms(sense) for long in defined):
            return True
        return self.mentioned is not None and any(self.mentioned(synonym) for synonym in _synonyms(sense))


@lru_cache(maxsize=32_768)
def key(short: str) -> str:
    """Return a short form as it is looked up: any case, without its dots and without a plural s."""
    name = short.strip()
    if _DOTTED.fullmatch(name):
        name = name.replace(".", "")
    if len(name) > 2 and name.endswith("s") and name[-2].isupper():
        name = name[:-1]
    return " ".join(name.replace("’", "'").casefold().split())


def _short_forms(question: str, lists: _Lists) -> Iterator[tuple[int, str, str]]:
    """Yield the known short forms in a question, longest first at each place: (end, as written, key)."""
    shouting = question.upper() == question and any(len(word) > 3 and word.isalpha() for word in question.split())
    tokens = [(match.start(), match.end()) for match in _TOKEN.finditer(question)]
    index = 0
    while index < len(tokens):
        start, end = tokens[index]
        begins = question[:start].rstrip()[-1:] in ("", ".", "?", "!", ":", ";")
        for count in range(min(_MAX_WORDS, len(tokens) - index), 0, -1):
            stop = tokens[index + count - 1][1]
            if question[stop : stop + 1] == "." and _DOTTED.fullmatch(question[start : stop + 1]):
                stop += 1
            name = _lookup(question[start:stop], lists, shouting, begins)
            if name is not None:
                yield stop, question[start:stop], name
                index += count
                break
        else:
            for part in _PART.finditer(question, start, end):
                if part.span() != (start, end) and (name := _lookup(part[0], lists, shouting, begins)) is not None:
                    yield part.end(), part[0], name
            index += 1


def _lookup(written: str, lists: _Lists, shouting: bool, begins: bool) -> str | None:
    """Return the key under which a list has what is written; None for an ordinary word."""
    name = key(written)
    names = (name, name[:-1]) if len(name) > 3 and name.endswith("s") else (name,)
    for candidate in names:
        short = lists.written(candidate)
        if short is None:
            continue
        capitals = not any(char.islower() for char in short)
        if capitals and len(short) <= 3 and written.istitle() and not begins:
            return None  # Ed and Al are people
        wordlike = candidate in COMMON_WORDS or candidate in STOP_WORDS
        if wordlike and capitals:
            return candidate if written.startswith(short) and not shouting else None
        return candidate
    return None


def _by_key(definitions: Mapping[tuple[str, str], int]) -> Mapping[str, list[tuple[int, str, str]]]:
    """Group (short, long) pairs by key, the most frequent first: (−count, long, short)."""
    grouped: dict[str, list[tuple[int, str, str]]] = {}
    for (short, long), count in definitions.items():
        grouped.setdefault(key(short), []).append((-count, long, short))
    for found in grouped.values():
        if len(found) > 1:
            found.sort()
    return grouped


def _distinct(longs: Iterable[str]) -> Senses:
    senses: list[str] = []
    for long in longs:
        if not any(_same(long, sense) for sense in senses):
            senses.append(long)
    return tuple(senses)


def _same(one: str, other: str) -> bool:
    """Tell whether two long forms say the same: spelling, plurals and a word more make no difference."""
    left, right = term_set(one.replace("-", "")), term_set(other.replace("-", ""))
    if left and right and (left <= right or right <= left):
        return True
    left, right = term_set(one), term_set(other)
    return bool(left and right) and (left <= right or right <= left)


def _synonyms(sense: str) -> list[str]:
    return [synonym.strip() for synonym in sense.split(",") if synonym.strip()]


def _says(text: str, phrase: str) -> bool:
    words = r"\s+".join(re.escape(word) for word in phrase.split())
    return re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE) is not None


def _read_site_list(path: Path) -> dict[str, Entry]:
    example = "Write one entry a line, for example `hypo: hypoglycaemia, low blood glucose`."
    try:
        root = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise SettingError(f"guidelines.glossary: {path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise SettingError(f"guidelines.glossary: {path} is not UTF-8 text; save it as UTF-8.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise SettingError(f"guidelines.glossary: {path}{line}: not valid YAML: {problem}. {example}") from None
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise SettingError(f"guidelines.glossary: {path}, line 1: is not a list of `short: meaning`. {example}")
    entries: dict[str, Entry] = {}
    lines: dict[str, int] = {}
    for short_node, sense_node in root.value:
        line = short_node.start_mark.line + 1
        place = f"guidelines.glossary: {path}, line {line}"
        short = short_node.value if isinstance(short_node, yaml.ScalarNode) else ""
        if not short.strip() or len(short.split()) > _MAX_WORDS or len(short) > _MAX_CHARS:
            raise SettingError(f"{place}: the short form must be one to {_MAX_WORDS} words. {example}")
        name = key(short)
        if name in entries:
            raise SettingError(f"{place}: {short} is there already, in line {lines[name]}; join the two in one list.")
        entries[name] = Entry(short.strip(), _site_senses(sense_node, f"{place}: {short.strip()}", example))
        lines[name] = line
    return entries


def _site_senses(node: yaml.Node, place: str, example: str) -> Senses:
    nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
    senses = []
    for item in nodes:
        text = " ".join(item.value.split()) if isinstance(item, yaml.ScalarNode) else ""
        if not text or text in ("null", "~") or len(text) > _MAX_CHARS:
            raise SettingError(f"{place} needs a meaning: a text, or a list of texts where it has several. {example}")
        senses.append(", ".join(_synonyms(text)))
    if not senses or not all(senses):
        raise SettingError(f"{place} needs a meaning. {example}")
    return tuple(dict.fromkeys(senses))


_GENERAL: dict[str, Entry] = {
    key(short): Entry(short, (senses,) if isinstance(senses, str) else senses)
    for short, senses in CLINICAL_ABBREVIATIONS.items()
}
