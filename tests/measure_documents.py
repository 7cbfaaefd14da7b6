"""Measure how documents are read, on public guideline files that are not part of this repository.

    python -m tests.measure_documents DATA_DIR [--failures]

DATA_DIR holds `pdf/`, `docx_samples/` and `cdc_std2010_html/`. Labels made by eye are in `tests/labels`: quotes
with their page, headings of whole pages, table rows, drawn signs. Prints one line a figure with its target.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
from selectolax.lexbor import LexborHTMLParser

from retrieval.documents import load
from retrieval.documents.pdf import reading
from retrieval.documents.pdf.legibility import is_legible
from retrieval.documents.pdf.outline import is_sane
from retrieval.errors import DocumentError
from retrieval.guideline import Block, Guideline
from retrieval.passages import passages_of

LABELS = Path(__file__).parent / "labels" / "documents.jsonl"
MAX_CHARS = 2000
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def squeezed(text: str) -> str:
    """Return text as it is compared: no white space, no soft hyphens, one kind of dash and quote."""
    text = text.replace("\u00ad", "").replace("\ufffe", "").translate(str.maketrans("–—−‐‑’‘“”", "-----''\"\""))
    return re.sub(r"\s+", "", text).casefold()


class Measure:
    """Counts of one figure, printed with its target."""

    def __init__(self, name: str, target: float) -> None:
        self.name, self.target = name, target
        self.right = self.total = 0
        self.failures: list[str] = []

    def add(self, right: bool, what: str) -> None:
        self.total += 1
        self.right += right
        if not right:
            self.failures.append(what)

    def show(self, details: bool) -> None:
        share = self.right / self.total if self.total else 0.0
        verdict = "ok " if share >= self.target else "LOW"
        print(f"{verdict} {self.name}: {self.right} of {self.total} = {share:.1%} (target {self.target:.1%})")
        for failure in self.failures if details else ():
            print(f"      {failure}")


def blocks_of(guideline: Guideline) -> Iterator[tuple[tuple[str, ...], Block]]:
    for path, section in guideline.root.walk():
        for block in section.blocks:
            yield path, block


def page_texts(guideline: Guideline) -> dict[int, str]:
    """Return page → all that is kept of it, headings included."""
    texts: dict[int, list[str]] = {}
    for path, section in guideline.root.walk():
        if path and section.page:
            texts.setdefault(section.page, []).append(section.heading)
        for block in section.blocks:
            texts.setdefault(block.page or 0, []).append(block.text)
    return {page: "\n".join(parts) for page, parts in texts.items()}


def numbers_kept(guideline: Guideline, raw: dict[int, str], gone: dict[int, str]) -> tuple[int, int]:
    """Count pdfium's body numbers, and those that are kept on their page."""
    kept_total = total = 0
    texts = page_texts(guideline)
    for page, text in raw.items():
        wanted = Counter(NUMBER.findall(text)) - Counter(NUMBER.findall(gone.get(page, "")))
        held = Counter(NUMBER.findall(texts.get(page, "").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))))
        total += wanted.total()
        kept_total += (wanted & held).total() + parted(wanted - held, held - wanted)
    return kept_total, total


def parted(missing: Counter[str], surplus: Counter[str]) -> int:
    """Count missing numbers that pdfium ran together from cells side by side ('1' and '1' to '11')."""
    count = 0
    for number in missing.elements():
        digits = Counter(sign for sign in number if sign.isdigit())
        if len(number) > 1 and not digits - surplus:
            surplus.subtract(digits)
            count += 1
    return count


def raw_pages(path: Path) -> tuple[dict[int, str], dict[int, str]]:
    """Return page → pdfium's text, and page → the text of its running lines."""
    from retrieval.documents.pdf.lattice import lattices_of
    from retrieval.documents.pdf.loading import in_tables
    from retrieval.documents.pdf.running import running_of

    with reading.opened(path.read_bytes(), path.name) as document:
        pages = [page for page in reading.pages_of(document, path.name) if is_legible(page.raw)]
    running = running_of(pages, {page.index: in_tables(page, lattices_of(page)) for page in pages})
    by_index = {page.index: page for page in pages}
    gone: dict[int, list[str]] = {}
    for index, place in running.lines:
        gone.setdefault(index, []).append(by_index[index].lines[place].text)
    return {page.index: page.raw for page in pages}, {index: "\n".join(lines) for index, lines in gone.items()}


def measure_pdf(folder: Path, labels: list[dict[str, Any]], details: bool) -> None:
    files = sorted(folder.glob("*/*.pdf"))
    guidelines: dict[str, Guideline] = {}
    bad = Measure("bad files that are a named error", 1.0)
    pages = 0
    started = time.process_time()
    for path in files:
        name = path.relative_to(folder).as_posix()
        try:
            guidelines[name] = load(path, name)
            pages += guidelines[name].coverage.pages
        except DocumentError as error:
            bad.add(error.file == name and bool(error.reason), f"{name}: {error}")
        except Exception as error:
            bad.add(False, f"{name}: {error!r}")
    seconds = time.process_time() - started
    started = time.process_time()
    for name in guidelines:
        with pdfium.PdfDocument(folder / name) as document:
            for page in document:
                page.get_textpage().get_text_bounded()
    raw_seconds = time.process_time() - started
    print(f"    {len(guidelines)} PDFs of {len(files)} loaded, {pages} pages; {bad.total} refused")
    measures = [bad, *text_measures(folder, guidelines), *label_measures(guidelines, labels)]
    for measure in measures:
        measure.show(details)
    share = raw_seconds / seconds
    verdict = "ok " if share >= 0.2 else "LOW"
    print(f"{verdict} speed: {pages / seconds:.0f} pages per CPU second, {share:.2f} of pypdfium2's text (target 0.20)")
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'ok ' if peak_mb < 300 else 'LOW'} peak memory: {peak_mb:.0f} MB (target below 300)")


def text_measures(folder: Path, guidelines: dict[str, Guideline]) -> Iterable[Measure]:
    numbers = Measure("body numbers kept", 0.995)
    outlines = Measure("headings of sane outlines", 0.95)
    empty = Measure("pages without legible text that are reported", 1.0)
    for name, guideline in guidelines.items():
        raw, gone = raw_pages(folder / name)
        kept, total = numbers_kept(guideline, raw, gone)
        numbers.right += kept
        numbers.total += total
        if kept < total:
            numbers.failures.append(f"{name}: {total - kept} of {total} missing")
        headings = [squeezed(path[-1]) for path, _ in guideline.root.walk() if path]
        with reading.opened((folder / name).read_bytes(), name) as document:
            outline = reading.outline_of(document)
            texts = [page.get_textpage().get_text_bounded() for page in document]
        if is_sane(outline):
            for entry in outline:
                outlines.add(squeezed(entry.title) in headings, f"{name}: {entry.title}")
        for page, text in enumerate(texts, 1):
            if not text.strip() or not is_legible(text):
                empty.add(page in guideline.coverage.empty_pages, f"{name}: page {page}")
    return numbers, outlines, empty


def label_measures(guidelines: dict[str, Guideline], labels: list[dict[str, Any]]) -> Iterable[Measure]:
    on_page = Measure("quotes on the right page", 1.0)
    whole = Measure("quotes inside one passage", 0.98)
    recall = Measure("headings by eye, recall", 0.85)
    precision = Measure("headings by eye, precision", 0.75)
    rows = Measure("dose table rows", 28 / 31)
    values = Measure("values under their own header", 1.0)
    running = Measure("running lines removed", 0.95)
    signs = Measure("drawn signs read, none invented", 1.0)
    columns = Measure("lines in the column's path", 1.0)
    for label in labels:
        guideline = guidelines.get(label["file"])
        if guideline is None:
            continue
        where = f"{label['file']} p{label.get('page')}"
        if "quote" in label:
            wanted = squeezed(label["quote"])
            texts = page_texts(guideline)
            on_page.add(wanted in squeezed(texts.get(label["page"], "")), f"{where}: {label['quote']}")
            passages = passages_of(guideline, MAX_CHARS)
            whole.add(
                any(wanted in squeezed(passage.text) or wanted in squeezed(passage.heading) for passage in passages),
                f"{where}: {label['quote']}",
            )
        elif "headings" in label:
            found = [
                section.heading for path, section in guideline.root.walk() if path and section.page == label["page"]
            ]
            found_bare = [squeezed(heading) for heading in dict.fromkeys(found)]
            wanted_bare = [squeezed(heading) for heading in label["headings"]]
            allowed = wanted_bare + [squeezed(heading) for heading in label.get("also", ())]
            for heading, bare in zip(label["headings"], wanted_bare, strict=True):
                recall.add(bare in found_bare, f"{where}: {heading}")
            for heading in dict.fromkeys(found):
                precision.add(squeezed(heading) in allowed, f"{where}: {heading}")
        elif "row" in label:
            hit = row_of(guideline, label)
            rows.add(hit is not None, f"{where}: {label['row']}")
            if hit is not None and label.get("header"):
                for header, value in label["header"].items():
                    values.add(under_header(hit, header, value), f"{where}: {value} under {header}")
        elif "running" in label:
            text = squeezed(page_texts(guideline).get(label["page"], ""))
            running.add(squeezed(label["running"]) not in text, f"{where}: {label['running']}")
        elif "sign" in label:
            text = page_texts(guideline).get(label["page"], "")
            signs.add(squeezed(label["sign"]) in squeezed(text), f"{where}: {label['sign']}")
        elif "under" in label:
            paths = [path for path, block in blocks_of(guideline) if squeezed(label["text"]) in squeezed(block.text)]
            good = any(any(squeezed(label["under"]) in squeezed(part) for part in path) for path in paths)
            wrong = any(
                any(squeezed(no) in squeezed(part) for part in path) for path in paths for no in label.get("not", ())
            )
            columns.add(good and not wrong, f"{where}: {label['text']} under {label['under']}: {paths}")
    return on_page, whole, recall, precision, rows, values, running, signs, columns


def row_of(guideline: Guideline, label: dict[str, Any]) -> Block | None:
    """Return the row block that holds the label's cells in their order."""
    wanted = [squeezed(cell) for cell in label["row"]]
    for _, block in blocks_of(guideline):
        if block.kind != "row" or block.page != label["page"]:
            continue
        cells = [squeezed(cell) for cell in block.text.split(" | ")]
        at = 0
        for cell in cells:
            if at < len(wanted) and wanted[at] == cell:
                at += 1
        if at == len(wanted):
            return block
    return None


def under_header(row: Block, header: str, value: str) -> bool:
    names = [squeezed(cell) for cell in (row.lead or "").split("\n")[0].split(" | ")]
    cells = [squeezed(cell) for cell in row.text.split(" | ")]
    places = [place for place, name in enumerate(names) if squeezed(header) in name]
    return any(place < len(cells) and squeezed(value) in cells[place] for place in places)


def measure_html(folder: Path, details: bool) -> None:
    headings = Measure("HTML headings", 1.0)
    boxes = Measure("HTML boxes", 1.0)
    for path in sorted(folder.rglob("*.html")):
        guideline = load(path, path.relative_to(folder).as_posix())
        found = {squeezed(heading) for walked, _ in guideline.root.walk() for heading in walked}
        title = squeezed(guideline.metadata.title)
        blocks = [(squeezed("".join(walked)), squeezed(block.text)) for walked, block in blocks_of(guideline)]
        tree = LexborHTMLParser(path.read_text(encoding="utf-8"))
        for node in tree.css("h1, h2, h3, h4, h5, h6"):
            text = squeezed(node.text(deep=True))
            if text:
                headings.add(text in found or text in title, f"{path.name}: {node.text()}")
        for box in tree.css("#table"):
            name = box.css_first("#regimen_header")
            for part in box.css(".regimen_text, .regimen_footer_text"):
                for text in part.text(deep=True, separator="\n").split("\n"):
                    wanted = squeezed(text)
                    heading = squeezed(name.text()) if name is not None else ""
                    if wanted:
                        held = any(
                            heading in walked and (wanted in block or wanted in walked) for walked, block in blocks
                        )
                        boxes.add(held, f"{path.name}: {text}")
    headings.show(details)
    boxes.show(details)


def measure_docx(folder: Path, labels: list[dict[str, Any]], details: bool) -> None:
    found = Measure("Word headings, rows and signs by eye", 1.0)
    for path in sorted(folder.glob("*.docx")):
        guideline = load(path, path.name)
        coverage = guideline.coverage
        print(
            f"    {path.name}: {coverage.characters / coverage.raw_characters:.1%} of characters kept, "
            f"{coverage.headings} headings, {coverage.tables} tables"
        )
        headings = {squeezed(heading) for walked, _ in guideline.root.walk() for heading in walked}
        for label in labels:
            if label["file"] != path.name:
                continue
            if "row" in label:
                found.add(
                    any(squeezed(" | ".join(label["row"])) in squeezed(b.text) for _, b in blocks_of(guideline)),
                    str(label),
                )
            elif "sign" in label:
                found.add(any(squeezed(label["sign"]) in squeezed(b.text) for _, b in blocks_of(guideline)), str(label))
            else:
                for heading in label["headings"]:
                    found.add(squeezed(heading) in headings, f"{path.name}: {heading}")
    found.show(details)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--failures", action="store_true", help="name everything that was not right")
    arguments = parser.parse_args()
    labels = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines() if line.strip()]
    measure_pdf(arguments.data / "pdf", labels, arguments.failures)
    measure_docx(arguments.data / "docx_samples", labels, arguments.failures)
    measure_html(arguments.data / "cdc_std2010_html", arguments.failures)


if __name__ == "__main__":
    main()
