"""What is known of a guideline beside its text, and where it was said.

A key is taken from the first of these that gives it:

1. the sidecar `NAME.meta.yaml` beside the file (`chest-pain.pdf.meta.yaml`, or `chest-pain.meta.yaml`);
2. `guidelines.yaml` in the file's folder, then in each folder above it up to the watched one;
3. the front matter of a Markdown or text file;
4. the document's own properties (PDF, Word, HTML).

A title that nobody wrote (1 to 3) is the one that the text shows, then that of the properties, then the file's
name. `status` is the strictest that any of them gives (retired, then draft, then current), so that whoever
withdraws a guideline is heard. A bad value of a known key is an error and never passed over: a mistyped 'retired'
must not be served. Only what a word processor wrote by itself (4) may be wrong in silence.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath

from retrieval.documents.front_matter import read_yaml
from retrieval.errors import DocumentError
from retrieval.guideline import Metadata, Problem, Status

KEYS = ("title", "version", "owner", "effective", "review_by", "status", "supersedes", "audience", "language")
FOLDER_LIST = "guidelines.yaml"
SIDECAR_SUFFIX = ".meta.yaml"
YAML_MAX_BYTES = 5_000_000

_STRICTEST: tuple[Status, ...] = ("retired", "draft", "current")
_LABEL = re.compile(r"everyone|(team|channel|person):\S.*", re.IGNORECASE)
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}\S*)?")


@dataclass(frozen=True, slots=True)
class Source:
    """One place where something is said of a guideline.

    Attributes:
        file: named in errors and warnings.
        values: key → text, list of texts.
        written: a person wrote it, so a value that can't be read is an error.
    """

    file: str
    values: Mapping[str, object]
    written: bool = True


def is_metadata_file(name: str) -> bool:
    """Tell whether a file speaks of guidelines and is none itself."""
    base = PurePosixPath(name).name
    return base == FOLDER_LIST or base.endswith(SIDECAR_SUFFIX)


def sources_beside(path: Path, name: str, folder: Path | None) -> tuple[Source, ...]:
    """Read what the sidecar and the folders' lists say of a file, strongest first.

    Args:
        path: of the guideline; it need not exist.
        name: relative to the watched folder.
        folder: the watched folder; None: only the file's own folder is looked at.

    Raises:
        DocumentError: one of them can't be read.
    """
    found: list[Source] = []
    beside = dict.fromkeys((path.name + SIDECAR_SUFFIX, path.stem + SIDECAR_SUFFIX))
    for sidecar in (path.with_name(file) for file in beside):
        if sidecar.is_file():
            file = str(PurePosixPath(name).with_name(sidecar.name))
            found.append(Source(file, _mapping(_content(sidecar, file), file)))
    for directory, prefix in _folders(path, name, folder):
        if (directory / FOLDER_LIST).is_file():
            file = str(prefix / FOLDER_LIST)
            values = _entries(_content(directory / FOLDER_LIST, file), file).get(
                str(PurePosixPath(name).relative_to(prefix))
            )
            if values:
                found.append(Source(file, values))
    return tuple(found)


def metadata_of(sources: Sequence[Source], title: str) -> tuple[Metadata, tuple[Problem, ...]]:
    """Merge what the sources say, strongest first.

    Args:
        title: where no source gives one.

    Returns:
        the metadata, and a warning for each source with keys that have no meaning here.

    Raises:
        DocumentError: a written value can't be read; names file and key.
    """
    merged: dict[str, object] = {}
    statuses: list[Status] = []
    warnings: list[Problem] = []
    for source in sources:
        for key, value in source.values.items():
            if key not in KEYS or value in ("", None, []):
                continue
            try:
                read = _read(source.file, key, value)
            except DocumentError:
                if source.written:
                    raise
                continue
            if key == "status":
                statuses.append(read)  # type: ignore[arg-type]
            merged.setdefault(key, read)
        if source.written:
            warnings.extend(_unknown_keys(source))
    status = min(statuses, key=_STRICTEST.index, default="current")
    return Metadata(**{"title": title, **merged, "status": status}), tuple(warnings)  # type: ignore[arg-type]


def folder_problems(folder: Path) -> tuple[Problem, ...]:
    """Warn of entries in the `guidelines.yaml` files of a watched folder that name no file.

    A mistyped name would leave a guideline in use that someone meant to retire.
    """
    problems: list[Problem] = []
    for path in sorted(folder.rglob(FOLDER_LIST)):
        file = path.relative_to(folder).as_posix()
        try:
            entries = _entries(_content(path, file), file)
        except DocumentError as error:
            problems.append(Problem(file, error.reason))
            continue
        for name in entries:
            if not (path.parent / name).is_file():
                problems.append(Problem(file, f"the entry '{name}' names no file; nothing is done with it"))
    return tuple(problems)


def _folders(path: Path, name: str, folder: Path | None) -> Iterable[tuple[Path, PurePosixPath]]:
    """Yield the folders whose lists may name a file, nearest first, and their names."""
    parents = list(PurePosixPath(name).parents)
    if folder is None:
        yield path.parent, parents[0]
        return
    for prefix in parents:
        yield folder / prefix, prefix


def _content(path: Path, file: str) -> object:
    try:
        if path.stat().st_size > YAML_MAX_BYTES:
            raise DocumentError(file, f"is larger than {YAML_MAX_BYTES // 1_000_000} MB; that is no list of guidelines")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DocumentError(file, f"can't be read ({error.strerror}); check that the bot may read it") from None
    except UnicodeDecodeError:
        raise DocumentError(file, "isn't UTF-8; save it as UTF-8") from None
    return read_yaml(text, file)


def _mapping(content: object, file: str, what: str = "the file") -> Mapping[str, object]:
    if content == "":
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise DocumentError(file, f"{what} must hold lines like 'status: retired'")
    return content


def _entries(content: object, file: str) -> dict[str, Mapping[str, object]]:
    """Return file name → what a folder's list says of it.

    The list is a mapping of names, by itself or under `guidelines:`, or a list of mappings with a key `file`.
    """
    if isinstance(content, dict) and set(content) == {"guidelines"}:
        content = content["guidelines"]
    if isinstance(content, list):
        entries: dict[str, Mapping[str, object]] = {}
        for item in content:
            entry = dict(_mapping(item, file, "each entry"))
            name = entry.pop("file", None)
            if not isinstance(name, str) or not name:
                raise DocumentError(file, "each entry of the list needs a key 'file', such as 'file: chest-pain.pdf'")
            if _relative(name) in entries:
                raise DocumentError(file, f"the file '{name}' is listed twice; keep one entry")
            entries[_relative(name)] = entry
        return entries
    named = _mapping(content, file)
    return {_relative(name): _mapping(entry, file, f"the entry '{name}'") for name, entry in named.items()}


def _relative(name: str) -> str:
    return str(PurePosixPath(name.replace("\\", "/")))


def _read(file: str, key: str, value: object) -> object:
    if key in ("effective", "review_by"):
        return _day(file, key, value)
    if key in ("supersedes", "audience"):
        return _texts(file, key, value)
    if not isinstance(value, str):
        raise DocumentError(file, f"'{key}' must be one text, such as '{key}: {_EXAMPLES[key]}'")
    text = " ".join(value.split())
    if key == "status":
        if text.lower() not in _STRICTEST:
            raise DocumentError(file, f"'status' is '{text}'; it must be current, draft or retired")
        return text.lower()
    return text


_EXAMPLES = {"title": "Chest Pain", "version": '"2.1"', "owner": "Cardiology", "status": "current", "language": "en"}


def _day(file: str, key: str, value: object) -> date:
    match = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        if match:
            return date.fromisoformat(match[1])
    except ValueError:
        pass
    shown = value if isinstance(value, str) else "a list"
    raise DocumentError(file, f"'{key}' is '{shown}'; write the date as year-month-day, such as 2026-01-15")


def _texts(file: str, key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        # A title may hold a comma, a label of an audience can't.
        parts: Sequence[object] = value.split(",") if key == "audience" else [value]
    elif isinstance(value, list):
        parts = value
    else:
        raise DocumentError(file, f"'{key}' must be a text or a list of texts")
    texts: list[str] = []
    for part in parts:
        if not isinstance(part, str):
            raise DocumentError(file, f"'{key}' must be a text or a list of texts")
        text = " ".join(part.split())
        if key == "audience" and text and not _LABEL.fullmatch(text):
            raise DocumentError(
                file, f"'audience' has '{text}'; labels look like team:nurses, channel:icu, person:ann or everyone"
            )
        if text:
            texts.append(text)
    return tuple(texts)


def _unknown_keys(source: Source) -> Iterable[Problem]:
    unknown = [str(key) for key in source.values if key not in KEYS]
    if not unknown:
        return
    hints = []
    for key in unknown:
        near = difflib.get_close_matches(key.lower().replace("-", "_").replace(" ", "_"), KEYS, 1, 0.7)
        hints.append(f"'{key}' (is '{near[0]}' meant?)" if near else f"'{key}'")
    noun = "key" if len(unknown) == 1 else "keys"
    yield Problem(source.file, f"the {noun} {', '.join(hints)} mean nothing here; known are {', '.join(KEYS)}")
