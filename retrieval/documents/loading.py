"""The one way in: a file becomes a guideline."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from retrieval.documents.docx import load_docx
from retrieval.documents.formats import media_type_of, suffix_problem
from retrieval.documents.front_matter import split_front_matter
from retrieval.documents.html import load_html
from retrieval.documents.loaded import Loaded
from retrieval.documents.markdown import load_markdown
from retrieval.documents.metadata import Source, metadata_of, sources_beside
from retrieval.documents.pdf import load_pdf
from retrieval.documents.text import load_text
from retrieval.errors import DocumentError
from retrieval.guideline import Guideline, MediaType, Metadata, Section

# A file that is being written is read again this often.
READ_ATTEMPTS = 3
# Front matter that is longer than this is no front matter.
FRONT_MATTER_MAX_BYTES = 65_536


def load(
    path: Path,
    name: str,
    *,
    folder: Path | None = None,
    base_url: str = "",
    max_bytes: int = 100_000_000,
    ocr: bool = False,
) -> Guideline:
    """Read a document as a guideline; its format is told by its bytes.

    Args:
        path: where the file is.
        name: the guideline's name: relative to its watched folder, with forward slashes.
        folder: the watched folder, whose `guidelines.yaml` files are read too; None: only the file's own.
        base_url: where the folder's originals can be read; "": no link.
        max_bytes: a larger file is refused.
        ocr: read scanned pages with ocrmypdf or tesseract, where the machine has one of them.

    Raises:
        DocumentError: the file can't be read as a guideline, or what is said of it can't be read.
    """
    data = _read(path, name, max_bytes)
    media_type = media_type_of(data, name)
    misnamed = suffix_problem(media_type, name)
    try:
        loaded = _loaded(data, media_type, name, ocr)
    except DocumentError:
        raise
    except RecursionError:
        raise DocumentError(name, "is nested too deeply to be read; save it again in a simpler form") from None
    except Exception as error:
        # One file that a library stumbles over must not stop the run over all the others.
        raise DocumentError(name, f"can't be read ({type(error).__name__}); open it and save it again") from error
    own = Source(name, loaded.properties, written=loaded.stated)
    metadata, warnings = metadata_of((*sources_beside(path, name, folder), own), _title(loaded, name))
    root = Section(metadata.title, loaded.root.blocks, loaded.root.children, loaded.root.line, loaded.root.page)
    if not root.blocks and not root.children and not loaded.coverage.empty_pages:
        raise DocumentError(name, "holds no text; put the document in its place again")
    return Guideline(
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        media_type=media_type,
        metadata=metadata,
        root=root,
        coverage=loaded.coverage,
        warnings=(*misnamed, *loaded.warnings, *warnings),
        link=link_to(name, base_url),
    )


def read_status(path: Path, name: str, folder: Path | None = None) -> Metadata:
    """Read what is known of a guideline without reading its text.

    For a file of text that is its front matter with sidecar and folder lists; for the other formats only the
    latter two. The title is the file's name where none of them gives one. A missing file is no error.

    Raises:
        DocumentError: one of them can't be read.
    """
    sources = list(sources_beside(path, name, folder))
    try:
        with path.open("rb") as file:
            head = file.read(FRONT_MATTER_MAX_BYTES)
    except OSError:
        head = b""
    head = head.removeprefix(b"\xef\xbb\xbf")
    if head.startswith(b"---"):
        # A letter cut at the end of the head is beyond any front matter.
        front, _ = split_front_matter(_unified(head.decode("utf-8", "ignore")), name)
        sources.append(Source(name, front))
    metadata, _ = metadata_of(sources, _title_from(name))
    return metadata


def link_to(name: str, base_url: str) -> str | None:
    """Return where the original can be read, or None without a base URL."""
    if not base_url:
        return None
    return base_url + ("" if base_url.endswith(("/", "=", "#")) else "/") + quote(name)


def decoded(data: bytes, name: str) -> str:
    """Return a text file's text with line breaks as "\\n".

    Raises:
        DocumentError: it is no UTF-8 (or UTF-16 with its mark).
    """
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError(name, f"isn't UTF-8 (line {line}); save it as UTF-8") from None
    if "\x00" in text:
        raise DocumentError(name, "isn't text (it holds null characters); save it as PDF, .docx or UTF-8 text")
    return _unified(text)


def _loaded(data: bytes, media_type: MediaType, name: str, ocr: bool) -> Loaded:
    if media_type == "markdown":
        return load_markdown(decoded(data, name), name)
    if media_type == "text":
        return load_text(decoded(data, name), name)
    if media_type == "html":
        return load_html(data, name)
    if media_type == "docx":
        return load_docx(data, name)
    return load_pdf(data, name, ocr=ocr)


def _title(loaded: Loaded, name: str) -> str:
    """Return the title where nobody wrote one: the text's, else the document properties', else the file's name."""
    return loaded.title or loaded.property_title or _title_from(name)


def _read(path: Path, name: str, max_bytes: int) -> bytes:
    try:
        for _ in range(READ_ATTEMPTS):
            with path.open("rb") as file:
                before = os.fstat(file.fileno())
                if not stat.S_ISREG(before.st_mode):
                    raise DocumentError(name, "is no regular file")
                if before.st_size > max_bytes:
                    raise DocumentError(name, f"is larger than the {max_bytes / 1e6:g} MB that are read; split it")
                data = file.read(max_bytes + 1)
                after = os.fstat(file.fileno())
            if (
                (before.st_size, before.st_mtime_ns)
                == (after.st_size, after.st_mtime_ns)
                == (len(data), after.st_mtime_ns)
            ):
                return data
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DocumentError(
            name, f"can't be opened ({reason}); check that it is there and the bot may read it"
        ) from None
    raise DocumentError(name, "changes while it is being read; it is read at the next run")


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _title_from(name: str) -> str:
    stem = PurePosixPath(name).stem.replace("_", " ").replace("-", " ")
    words = " ".join(stem.split())
    return words[:1].upper() + words[1:] if words else name
