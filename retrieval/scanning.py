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

_CHUNK = 1 << 18
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
        file: where it is.
        size, mtime_ns, inode: what changes when it is written; 0 when it cannot be looked at.
        beside: the files that may say something of it: its sidecars and the lists of the folders above it.
        problem: why it is not looked at; "" when it is.
    """

    name: str
    file: str
    folder: Folder
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    beside: tuple[str, ...] = ()
    problem: str = ""

    @property
    def path(self) -> Path:
        return Path(self.file)


@dataclass(frozen=True, slots=True)
class Scan:
    """What the watched folders hold.

    Attributes:
        entries: by name.
        warnings: what was passed over and a person might miss: links that lead out of a folder, names that two
            folders hold.
        listed: the folders in which a list speaks of their files.
    """

    entries: dict[str, Entry]
    warnings: tuple[Problem, ...] = ()
    listed: tuple[Folder, ...] = ()


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
    listed: list[Folder] = []
    for folder in folders:
        walk = _Walk(folder, os.path.realpath(folder.path), max_bytes, warnings)
        for entry in walk.entries():
            if not entry.name:
                raise SettingError(f"guidelines.folder: {folder.path} {entry.problem}")
            other = entries.get(entry.name)
            if other is None:
                entries[entry.name] = entry
            elif other.file != entry.file:
                warnings.append(
                    Problem(
                        entry.name,
                        f"{folder.path} and {other.folder.path} both hold this name; only the one in "
                        f"{other.folder.path} is indexed: rename the other.",
                    )
                )
        if walk.has_list:
            listed.append(folder)
    return Scan(dict(sorted(entries.items())), tuple(sorted(warnings, key=lambda one: one.file)), tuple(listed))


def hashed(scanned: Scan) -> Iterator[File]:
    """Yield every entry with the hash of its bytes and of what is said of it beside it, in order."""
    remembered: dict[str, bytes] = {}
    buffer = bytearray(_CHUNK)
    folders = {folder: str(folder.path) for folder in {entry.folder for entry in scanned.entries.values()}}
    for entry in scanned.entries.values():
        folder = folders[entry.folder]
        try:
            sha256 = "" if entry.problem else sha256_of(entry.file, buffer)
        except OSError as error:
            yield File(entry.name, folder, "", "", unreadable(error))
            continue
        described = _described(entry, remembered) if entry.beside or entry.folder.base_url else ""
        yield File(entry.name, folder, sha256, described, entry.problem)


def sha256_of(file: str, buffer: bytearray | None = None) -> str:
    """Return the hash of a file's bytes, in hex.

    Args:
        buffer: is read into; one for many files saves its making.

    Raises:
        OSError: it cannot be read.
    """
    space = buffer if buffer is not None else bytearray(_CHUNK)
    view = memoryview(space)
    digest = hashlib.sha256()
    # System calls rather than file objects: a third of the time, ten thousand times a night.
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while length := os.readv(descriptor, [space]):
            digest.update(view[:length])
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def unreadable(error: OSError) -> str:
    """Say in one sentence why a file could not be read and what to do."""
    if isinstance(error, PermissionError):
        return "may not be read; let the bot's account read it."
    if isinstance(error, FileNotFoundError):
        return "went away while it was being read; the next run looks again."
    return f"cannot be read ({error.strerror or type(error).__name__}); check the disk or the share."


def _described(entry: Entry, remembered: dict[str, bytes]) -> str:
    digest = hashlib.sha256(entry.folder.base_url.encode())
    for file in entry.beside:
        if file not in remembered:
            remembered[file] = _digest_of(file)
        digest.update(remembered[file])
    return digest.hexdigest()[:16]


def is_passed_over(name: str) -> bool:
    """Tell whether a file or folder of this name is hidden, temporary, or part of something else."""
    folded = name.casefold()
    return folded.startswith(_TEMPORARY_BEGINNINGS) or folded.endswith(_TEMPORARY_ENDINGS) or folded in _DESKTOP_FILES


class _Walk:
    """A walk through one watched folder."""

    def __init__(self, folder: Folder, root: str, max_bytes: int, warnings: list[Problem]) -> None:
        self.has_list = False
        self._folder = folder
        self._root = root
        self._max_bytes = max_bytes
        self._warnings = warnings
        self._visited: set[str] = set()

    def entries(self) -> Iterator[Entry]:
        """Yield the folder's files."""
        return self._below(self._root, "", ())

    def _below(self, directory: str, above: str, lists: tuple[str, ...]) -> Iterator[Entry]:
        """Yield the files below a directory.

        Args:
            above: the directory's name, relative to the folder; "" for the folder itself.
            lists: what the directories above say of their files.
        """
        self._visited.add(os.path.realpath(directory))
        try:
            with os.scandir(directory) as listing:
                found = list(listing)
        except OSError as error:
            # What lies in it is not gone: it is named, and nothing of it is taken for removed.
            yield Entry(above, directory, self._folder, problem=unreadable(error))
            return
        metadata = {one.name for one in found if one.name.endswith((FOLDER_LIST, SIDECAR_SUFFIX))}
        metadata = {name for name in metadata if is_metadata_file(name)}
        if FOLDER_LIST in metadata:
            self.has_list = True
            lists = (*lists, os.path.join(directory, FOLDER_LIST))  # noqa: PTH118
        for one in found:
            if is_passed_over(one.name) or one.name in metadata:
                continue
            name = f"{above}/{one.name}" if above else one.name
            if not _is_text(name):
                self._warnings.append(Problem(repr(name), "has a name that is no text; rename it."))
                continue
            try:
                if one.is_symlink() and not self._is_followed(one.path, name):
                    continue
                if one.is_dir():
                    yield from self._below(one.path, name, lists)
                elif one.is_file() and not name.casefold().endswith(_COMPANIONS):
                    beside = (*_sidecars(one, directory, metadata), *lists) if metadata else lists
                    yield self._file(one.path, name, one.stat(), beside)
            except OSError as error:
                yield Entry(name, one.path, self._folder, problem=unreadable(error))

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

    def _file(self, path: str, name: str, status: os.stat_result, beside: tuple[str, ...]) -> Entry:
        problem = ""
        if status.st_size > self._max_bytes:
            problem = (
                f"is larger ({status.st_size / 1e6:.0f} MB) than guidelines.max_file_mb allows "
                f"({self._max_bytes / 1e6:.0f}); divide it or raise the setting."
            )
        return Entry(name, path, self._folder, status.st_size, status.st_mtime_ns, status.st_ino, beside, problem)


def _sidecars(one: os.DirEntry[str], directory: str, metadata: set[str]) -> Iterator[str]:
    candidates = dict.fromkeys((one.name + SIDECAR_SUFFIX, Path(one.name).stem + SIDECAR_SUFFIX))
    return (os.path.join(directory, file) for file in candidates if file in metadata)  # noqa: PTH118


def _digest_of(file: str) -> bytes:
    try:
        return sha256_of(file).encode()
    except OSError:
        return b""


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
