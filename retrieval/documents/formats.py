"""What a file is, by its bytes and not by its name (pure)."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePosixPath

from retrieval.errors import DocumentError
from retrieval.guideline import MediaType, Problem

MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_PROMISES: dict[str, MediaType] = {".pdf": "pdf", ".docx": "docx"}
_NAMES: dict[MediaType, str] = {"pdf": "PDF", "docx": "Word", "html": "HTML", "text": "text", "markdown": "Markdown"}
# A PDF may begin with some other bytes; readers look for its mark this far.
_PDF_MARK_WITHIN = 1024
_HTML = re.compile(
    rb"^(?:\s|<!--.*?-->|<\?xml[^>]*\?>)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_ANY_TAGS = re.compile(rb"<(?:p|div|h[1-6]|table|ul|ol|section|article)\b[^>]*>", re.IGNORECASE)
_OTHER_KINDS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Word, Excel or Outlook file; save it as .docx or PDF"),
    (b"{\\rtf", "rich text (RTF); save it as .docx or PDF"),
    (b"\x89PNG", "a picture; put its text into a document"),
    (b"\xff\xd8\xff", "a picture; put its text into a document"),
    (b"GIF8", "a picture; put its text into a document"),
    (b"II*\x00", "a picture; put its text into a document"),
    (b"MM\x00*", "a picture; put its text into a document"),
    (b"\x1f\x8b", "a compressed file; unpack it"),
    (b"7z\xbc\xaf", "a compressed file; unpack it"),
    (b"Rar!", "a compressed file; unpack it"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"%!PS", "PostScript; save it as PDF"),
    (b"SQLite format 3", "a database"),
)


def media_type_of(data: bytes, name: str) -> MediaType:
    """Return the format of a file's bytes.

    The name only parts Markdown from plain text, which no byte tells apart.

    Raises:
        DocumentError: it is empty, or none of the formats that are read; says what it is.
    """
    if not data.strip(b"\x00 \t\r\n\x0c\xef\xbb\xbf"):
        what = "is empty (0 bytes)" if not data else "holds nothing but blanks"
        raise DocumentError(name, f"{what}; put the document in its place again")
    if b"%PDF-" in data[:_PDF_MARK_WITHIN]:
        return "pdf"
    if data.startswith(b"PK\x03\x04") or data.startswith(b"PK\x05\x06"):
        return _zipped(data, name)
    for mark, what in _OTHER_KINDS:
        if data.startswith(mark):
            raise DocumentError(name, f"is {what}")
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in MARKDOWN_SUFFIXES:
        return "markdown"
    head = data[:4096].removeprefix(b"\xef\xbb\xbf")
    if _HTML.match(head) or (suffix in (".html", ".htm", ".xhtml") and _ANY_TAGS.search(data)):
        return "html"
    return "text"


def suffix_problem(media_type: MediaType, name: str) -> tuple[Problem, ...]:
    """Warn of a suffix that promises another format.

    Raises:
        DocumentError: it promises PDF or Word and there is only text or HTML: most often the error page of a
            download that failed.
    """
    suffix = PurePosixPath(name).suffix.lower()
    promised = _PROMISES.get(suffix)
    if promised is None or promised == media_type:
        return ()
    if media_type in ("html", "text"):
        raise DocumentError(name, f"is no {_NAMES[promised]} but {_NAMES[media_type]}; put the right file in its place")
    return (Problem(name, f"is named {suffix} and holds {_NAMES[media_type]}; it is read as that, rename it"),)


def _zipped(data: bytes, name: str) -> MediaType:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise DocumentError(name, "is a damaged or truncated Word file; put a whole copy in its place") from None
    if "word/document.xml" in members or (
        "[Content_Types].xml" in members and any(m.startswith("word/") for m in members)
    ):
        return "docx"
    if any(member.startswith(("xl/", "ppt/")) for member in members):
        raise DocumentError(name, "is an Excel or PowerPoint file; save it as PDF")
    if "mimetype" in members:
        raise DocumentError(name, "is an OpenDocument or EPUB file; save it as .docx or PDF")
    raise DocumentError(name, "is a ZIP archive; put the documents in it into the folder one by one")
