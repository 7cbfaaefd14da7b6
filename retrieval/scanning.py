"""Looking at the watched folders: which files there are, and what their bytes are."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrieval.documents.metadata import FOLDER_LIST, SIDECAR_SUFFIX, is_metadata_file
from retrieval.errors import SettingError
from retrieval.guideline import Problem
from retrieval.plan import File

_CHUNK = 1 << 20
# What editors, copying programs and desktops leave beside documents; compared in lower case.
_TEMPORARY_ENDINGS = (
    "~", ".tmp", ".temp", ".bak", ".swp", ".swo", ".part", ".partial", ".crdownload", ".download", ".lock"
)  # fmt: skip
_TEMPORARY_BEGINNINGS = (".", "~$", "~wr", "#")
_DESKTOP_FILES = frozenset(("thumbs.db", "desktop.ini", "icon\r"))
# Parts of web pages and pictures are no guidelines; they lie beside HTML files by the hundred.
_COMPANIONS = (
    ".css", ".js", ".mjs", ".map", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".bmp", ".tif", ".tiff",
    ".woff", ".woff2", ".ttf", ".eot", ".otf", ".mp3", ".mp4", ".webm",
)  # fmt: skip
_METADATA_MAX_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class Folder:
    """A watched folder.

    Attributes:
        base_url: where its files can be read by people; "" for nowhere.
    """

    path: Path
    base_url: str = ""

    def __post_init__(self) -> None:
        # One spelling, so that a folder is the same one from whichever directory a run is started.
        object.__setattr__(self, "path", self.path.absolute())


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that may be a guideline.

    Attributes:
        name: path relative to its folder, with forward slashes.
        path: where it is.
        size, mtime_ns, inode: what changes when it is written; 0 when it cannot be looked at.
        beside: the files that may say something of it: its sidecars and the lists of the folders above it.
        problem: why it is not looked at; "" when it is.
    """

    name: str
    path: Path
    folder: Folder
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    beside: tuple[Path, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """What the watched folders hold.

    Attributes:
        entries: by name.
        warnings: what was passed over and a person might miss: links that lead out of a folder, names that two
            folders hold.
    """

    entries: dict[str, Entry]
    warnings: tuple[Problem, ...] = ()


def check_folders(folders: Sequence[Folder]) -> None:
    """Check that every watched folder can be looked at.

    Raises:
        SettingError: names the first that is missing, is no folder, or may not be read.
    """
    if not folders:
        raise SettingError(
            'guidelines.folder is not set: name the folder with your guidelines, [[guidelines.folder]] path = "/srv/'
            'guidelines", or run `guideline-bot index --folder /srv/guidelines`.'
        )
    for folder in folders:
        path = folder.path
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            raise SettingError(
                f"guidelines.folder: {path} is not there; correct the path, or mount it and try again."
            ) from None
        except OSError as error:
            raise SettingError(
                f"guidelines.folder: {path} cannot be looked at ({error.strerror}); let the bot's account read it."
            ) from None
        if not stat.S_ISDIR(mode):
            raise SettingError(f"guidelines.folder: {path} is a file; name the folder that holds it.")
        if not os.access(path, os.R_OK | os.X_OK):
            raise SettingError(f"guidelines.folder: {path} may not be read; let the bot's account read it.")


def scan(folders: Sequence[Folder], max_bytes: int) -> Scan:
    """List the files of the watched folders that may be guidelines.

    Hidden and temporary files and folders are passed over, and so are links that lead out of their folder. Of a
    name that two folders hold the first folder's file is taken, and the other is named in a warning.

    Args:
        max_bytes: a larger file is listed with a problem.

    Raises:
        SettingError: see `check_folders`.
    """
    check_folders(folders)
    entries: dict[str, Entry] = {}
    warnings: list[Problem] = []
    for folder in folders:
        root = Path(os.path.realpath(folder.path))
        for entry in _Walk(folder, root, max_bytes, warnings).entries(str(root), ""):
            if not entry.name:
                raise SettingError(f"guidelines.folder: {folder.path} {entry.problem}")
            other = entries.get(entry.name)
            if other is None:
                entries[entry.name] = entry
            elif other.path != entry.path:
                warnings.append(
                    Problem(
                        entry.name,
                        f"{folder.path} and {other.folder.path} both hold this name; only the one in "
                        f"{other.folder.path} is indexed: rename the other.",
                    )
                )
    return Scan(dict(sorted(entries.items())), tuple(warnings))


def hashed(scanned: Scan) -> Iterator[File]:
    """Yield every entry with the hash of its bytes and of what is said of it beside it, in order."""
    remembered: dict[Path, bytes] = {}
    for entry in scanned.entries.values():
        folder = str(entry.folder.path)
        try:
            sha256 = "" if entry.problem else sha256_of(entry.path)
        except OSError as error:
            yield File(entry.name, folder, "", "", unreadable(error))
            continue
        yield File(entry.name, folder, sha256, _described(entry, remembered), entry.problem)


def sha256_of(path: Path) -> str:
    """Return the hash of a file's bytes, in hex.

    Raises:
        OSError: it cannot be read.
    """
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 (half the time of Path.open for ten thousand files)
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def unreadable(error: OSError) -> str:
    """Say in one sentence why a file could not be read and what to do."""
    if isinstance(error, PermissionError):
        return "may not be read; let the bot's account read it."
    if isinstance(error, FileNotFoundError):
        return "went away while it was being read; the next run looks again."
    return f"cannot be read ({error.strerror or type(error).__name__}); check the disk or the share."


def _described(entry: Entry, remembered: dict[Path, bytes]) -> str:
    if not entry.beside and not entry.folder.base_url:
        return ""
    digest = hashlib.sha256(entry.folder.base_url.encode())
    for path in entry.beside:
        if path not in remembered:
            remembered[path] = _digest_of(path)
        digest.update(remembered[path])
    return digest.hexdigest()[:16]


def is_passed_over(name: str) -> bool:
    """Tell whether a file or folder of this name is hidden, temporary, or part of something else."""
    folded = name.casefold()
    return folded.startswith(_TEMPORARY_BEGINNINGS) or folded.endswith(_TEMPORARY_ENDINGS) or folded in _DESKTOP_FILES


class _Walk:
    def __init__(self, folder: Folder, root: Path, max_bytes: int, warnings: list[Problem]) -> None:
        self._folder = folder
        self._root = root
        self._max_bytes = max_bytes
        self._warnings = warnings
        self._visited: set[str] = set()

    def entries(self, directory: str, above: str, lists: tuple[Path, ...] = ()) -> Iterator[Entry]:
        """Yield the files below a directory.

        Args:
            above: the directory's name, relative to the folder; "" for the folder itself.
            lists: what the directories above say of their files.
        """
        self._visited.add(os.path.realpath(directory))
        try:
            with os.scandir(directory) as listing:
                found = sorted(listing, key=lambda one: one.name)
        except OSError as error:
            # What lies in it is not gone: it is named, and nothing of it is taken for removed.
            yield Entry(above, Path(directory), self._folder, problem=unreadable(error))
            return
        metadata = {one.name for one in found if is_metadata_file(one.name)}
        if FOLDER_LIST in metadata:
            lists = (*lists, Path(directory, FOLDER_LIST))
        for one in found:
            name = f"{above}/{one.name}" if above else one.name
            if is_passed_over(one.name) or one.name in metadata:
                continue
            if not _is_text(name):
                self._warnings.append(Problem(repr(name), "has a name that is no text; rename it."))
                continue
            try:
                if one.is_symlink() and not self._is_followed(one.path, name):
                    continue
                if one.is_dir():
                    yield from self.entries(one.path, name, lists)
                elif one.is_file() and not name.casefold().endswith(_COMPANIONS):
                    sidecars = dict.fromkeys((one.name + SIDECAR_SUFFIX, Path(one.name).stem + SIDECAR_SUFFIX))
                    beside = (*(Path(directory, file) for file in sidecars if file in metadata), *lists)
                    yield self._file(one.path, name, one.stat(), beside)
            except OSError as error:
                yield Entry(name, Path(one.path), self._folder, problem=unreadable(error))

    def _is_followed(self, path: str, name: str) -> bool:
        """Tell whether a link stays in the folder and leads to what is not found without it."""
        target = os.path.realpath(path)
        try:
            inside = Path(target).relative_to(self._root)
        except ValueError:
            self._warnings.append(
                Problem(name, "is a link that leads out of its folder and was passed over; copy the file instead.")
            )
            return False
        return any(is_passed_over(part) for part in inside.parts) and target not in self._visited

    def _file(self, path: str, name: str, status: os.stat_result, beside: tuple[Path, ...]) -> Entry:
        problem = ""
        if status.st_size > self._max_bytes:
            problem = (
                f"is larger ({status.st_size / 1e6:.0f} MB) than guidelines.max_file_mb allows "
                f"({self._max_bytes / 1e6:.0f}); divide it or raise the setting."
            )
        return Entry(name, Path(path), self._folder, status.st_size, status.st_mtime_ns, status.st_ino, beside, problem)


def _digest_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.sha256(file.read(_METADATA_MAX_BYTES)).digest()
    except OSError:
        return b""


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
