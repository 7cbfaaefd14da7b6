"""Reading scanned pages with ocrmypdf or tesseract, where the machine has one of them: an optional extra."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from retrieval.documents.pdf.page import Page
from retrieval.documents.pdf.reading import opened, pages_of, picture_of
from retrieval.errors import DocumentError

DPI = 300
TIMEOUT_A_PAGE_S = 120.0


def is_available() -> bool:
    """Tell whether ocrmypdf or tesseract is on the PATH."""
    return shutil.which("ocrmypdf") is not None or shutil.which("tesseract") is not None


def recognised(data: bytes, indexes: Sequence[int], name: str) -> dict[int, Page]:
    """Return page index → page with the text that was read from its picture.

    Pages that the program fails at are left out.

    Args:
        data: the PDF.
        indexes: 1-based pages to read.
    """
    if not indexes:
        return {}
    with tempfile.TemporaryDirectory(prefix="guideline-ocr-") as directory:
        if shutil.which("ocrmypdf") is not None:
            return _with_ocrmypdf(data, indexes, name, Path(directory))
        if shutil.which("tesseract") is not None:
            return _with_tesseract(data, indexes, name, Path(directory))
    return {}


def _with_ocrmypdf(data: bytes, indexes: Sequence[int], name: str, directory: Path) -> dict[int, Page]:
    source, target = directory / "in.pdf", directory / "out.pdf"
    source.write_bytes(data)
    pages = ",".join(map(str, indexes))
    options = ["--force-ocr", "--pages", pages, "--output-type", "pdf", "--quiet"]
    if not _ran(["ocrmypdf", *options, str(source), str(target)], TIMEOUT_A_PAGE_S * len(indexes)):
        return {}
    wanted = set(indexes)
    return {page.index: page for page in _pages(target, name) if page.index in wanted}


def _with_tesseract(data: bytes, indexes: Sequence[int], name: str, directory: Path) -> dict[int, Page]:
    found: dict[int, Page] = {}
    for index in indexes:
        picture, target = directory / f"{index}.ppm", directory / str(index)
        with opened(data, name) as document:
            picture.write_bytes(picture_of(document, index, DPI))
        if _ran(["tesseract", str(picture), str(target), "--dpi", str(DPI), "pdf"], TIMEOUT_A_PAGE_S):
            for page in _pages(target.with_suffix(".pdf"), name):
                lines = tuple(replace(line, page=index) for line in page.lines)
                found[index] = replace(page, index=index, lines=lines)
        picture.unlink()
    return found


def _ran(command: Sequence[str], timeout_s: float) -> bool:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=timeout_s, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _pages(path: Path, name: str) -> list[Page]:
    try:
        with opened(path.read_bytes(), name) as document:
            return list(pages_of(document, name))
    except (OSError, DocumentError):
        return []
