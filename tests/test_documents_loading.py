"""One way in: the format by the bytes, what is known of a guideline by who said it, bad files by name."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from urllib.parse import unquote

import pytest

from retrieval.documents import folder_problems, is_metadata_file, load, read_status
from retrieval.documents.text import load_text
from retrieval.errors import DocumentError
from tests.doubles_documents import Sheet, docx, paragraph, pdf, run

PDF = pdf(Sheet().text(72, 100, "Give 5 mg at once, and tell the doctor about it."))


def write(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("a.md", "# T\n\nx", "markdown"),
        ("a.txt", "Title\n=====\n\nx", "text"),
        ("a.txt", b"\xef\xbb\xbf<!DOCTYPE html><html><body><p>x</p></body></html>", "html"),
        ("a", PDF, "pdf"),
        ("a.docx", PDF, "pdf"),
        ("a.bin", docx(paragraph(run("x"))), "docx"),
    ],
)
def test_the_bytes_tell_the_format(tmp_path: Path, name: str, data: str | bytes, media_type: str) -> None:
    guideline = load(write(tmp_path, name, data), name)
    assert guideline.media_type == media_type
    assert bool(guideline.warnings) == (name == "a.docx")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.pdf", b"", "0 bytes"),
        ("a.md", b" \n\n", "blanks"),
        ("a.md", "Größe: 5 µg".encode("latin-1"), "UTF-8"),
        ("a.pdf", b"<html><body><h1>Access Denied</h1></body></html>", "is no PDF but HTML"),
        ("a.pdf", b"plain text", "is no PDF but text"),
        ("a.pdf", b"PK\x03\x04 and then nothing", "damaged or truncated"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 50, "old Word"),
        ("a.txt", b"\x89PNG\r\n\x1a\n", "picture"),
        ("a.txt", b"text\x00with\x00nulls", "null"),
        ("a.md", "---\nstatus: current\n---\n", "no text"),
    ],
)
def test_a_bad_file_is_an_error_with_its_name(tmp_path: Path, name: str, data: bytes | str, words: str) -> None:
    with pytest.raises(DocumentError, match=words) as caught:
        load(write(tmp_path, f"sub/{name}", data), f"sub/{name}")
    assert caught.value.file == f"sub/{name}"


def test_a_document_that_is_nested_without_end_is_a_named_error_or_read(tmp_path: Path) -> None:
    deep = "<html><body>" + "<div>" * 5000 + "x" + "</div>" * 5000
    try:
        assert load(write(tmp_path, "a.html", deep), "a.html").root.blocks
    except DocumentError as error:
        assert "nested" in error.reason  # noqa: PT017


def test_a_missing_file_a_folder_and_a_huge_file_are_named_errors(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "none.md", "opened"), (tmp_path, "opened|regular")):
        with pytest.raises(DocumentError, match=words):
            load(path, "x.md")
    with pytest.raises(DocumentError, match="larger"):
        load(write(tmp_path, "a.md", "x" * 100), "a.md", max_bytes=50)


def test_the_link_to_the_original_is_escaped() -> None:
    from retrieval.documents.loading import link_to

    link = link_to("adults/chest pain #1.pdf", "https://intranet.example/g")
    assert link == "https://intranet.example/g/adults/chest%20pain%20%231.pdf"
    assert unquote(link).endswith("adults/chest pain #1.pdf")
    assert link_to("a.md", "") is None


FRONT = "---\ntitle: Asthma\nversion: 2.10\nowner: Clinic\neffective: 2026-01-15\nreview_by: 2027-01-15\n"


def test_front_matter_is_read_and_a_version_stays_as_written(tmp_path: Path) -> None:
    path = write(tmp_path, "a.md", FRONT + "status: draft\naudience: [team:nurses]\nsupersedes: Old\n---\n# T\n\nx")
    metadata = load(path, "a.md").metadata
    assert (metadata.title, metadata.version, metadata.status) == ("Asthma", "2.10", "draft")
    assert metadata.effective == date(2026, 1, 15)
    assert (metadata.audience, metadata.supersedes) == (("team:nurses",), ("Old",))


def test_a_sidecar_beats_the_folder_list_and_that_beats_the_front_matter(tmp_path: Path) -> None:
    path = write(tmp_path, "sub/a.md", FRONT + "---\n# T\n\nx")
    write(tmp_path, "guidelines.yaml", "sub/a.md:\n  owner: Top\n  version: top\n  language: de\n")
    write(tmp_path, "sub/guidelines.yaml", "guidelines:\n  a.md:\n    owner: Sub\n    version: sub\n")
    write(tmp_path, "sub/a.md.meta.yaml", "owner: Sidecar\n")
    metadata = load(path, "sub/a.md", folder=tmp_path).metadata
    assert (metadata.owner, metadata.version, metadata.language, metadata.title) == ("Sidecar", "sub", "de", "Asthma")


@pytest.mark.parametrize("place", ["front", "sidecar", "short sidecar", "list"])
def test_a_guideline_that_anyone_retires_is_retired(tmp_path: Path, place: str) -> None:
    here = "retired" if place == "front" else "current"
    path = write(tmp_path, "a.md", f"---\nstatus: {here}\n---\n# T\n\nx")
    write(tmp_path, "a.md.meta.yaml", f"status: {'retired' if place == 'sidecar' else 'current'}\n")
    if place == "short sidecar":
        write(tmp_path, "a.meta.yaml", "status: retired\n")
    if place == "list":
        write(tmp_path, "guidelines.yaml", "- file: a.md\n  status: retired\n")
    assert load(path, "a.md", folder=tmp_path).metadata.status == "retired"
    assert read_status(path, "a.md", tmp_path).status == "retired"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("status: retird", r"'status' is 'retird'"),
        ("effective: 15.01.2026", r"'effective' is '15\.01\.2026'.*2026-01-15"),
        ("review_by: 2026-02-30", r"'review_by'"),
        ("audience: nurses", r"'audience' has 'nurses'.*team:nurses"),
        ("owner: [a, b]", "'owner' must be one text"),
        ("status: current\nstatus: retired", "given twice"),
    ],
)
def test_a_bad_value_is_an_error_that_names_file_and_key(tmp_path: Path, line: str, words: str) -> None:
    path = write(tmp_path, "a.md", "# T\n\nx")
    write(tmp_path, "a.md.meta.yaml", line)
    with pytest.raises(DocumentError, match=words) as caught:
        load(path, "a.md")
    assert caught.value.file == "a.md.meta.yaml"


def test_an_unknown_key_is_a_warning_that_guesses_what_was_meant(tmp_path: Path) -> None:
    guideline = load(write(tmp_path, "a.md", "---\nreveiw_by: 2026-01-15\nlayout: page\n---\n# T\n\nx"), "a.md")
    (problem,) = guideline.warnings
    assert "'reveiw_by' (is 'review_by' meant?)" in problem.reason
    assert "'layout'" in problem.reason


def test_a_list_entry_that_names_no_file_is_a_warning(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "# T\n\nx")
    write(tmp_path, "guidelines.yaml", "a.md: {status: current}\nb.md: {status: retired}\n")
    (problem,) = folder_problems(tmp_path)
    assert "'b.md'" in problem.reason


def test_files_about_guidelines_are_known_as_such() -> None:
    assert is_metadata_file("sub/guidelines.yaml")
    assert is_metadata_file("a.pdf.meta.yaml")
    assert not is_metadata_file("a.pdf")


def test_the_status_is_read_without_the_text(tmp_path: Path) -> None:
    path = write(tmp_path, "a.pdf", b"%PDF damaged beyond reading")
    write(tmp_path, "a.pdf.meta.yaml", "status: retired\n")
    assert read_status(path, "a.pdf", tmp_path).status == "retired"
    assert read_status(tmp_path / "gone.md", "gone.md", tmp_path).status == "current"


def test_coverage_counts_what_was_kept_against_the_raw_text(tmp_path: Path) -> None:
    coverage = load(
        write(tmp_path, "a.md", "# T\n\nabc\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## H\n\nx"), "a.md"
    ).coverage
    assert (coverage.tables, coverage.headings) == (1, 1)
    assert 0.85 < coverage.characters / coverage.raw_characters <= 1.0


def test_a_file_without_any_title_takes_its_name(tmp_path: Path) -> None:
    assert (
        load(write(tmp_path, "chest_pain-adults.md", "text"), "chest_pain-adults.md").metadata.title
        == "Chest pain adults"
    )


TEXT = """Respiratory Distress
====================

EMT
---
Give one of these:
•Oxygen
•Albuterol 2.5 mg
  by nebulizer

BP <60 and >1.5 <b>now</b>

<table><tr><td>1.<td>Call
<tr><td>2.<td>Wait

WARNING SIGNS

2.1 Children
Look for them.
"""


def test_plain_text_has_headings_by_underline_capitals_and_numbering() -> None:
    document = load_text(TEXT, "a.txt")
    assert document.title == "Respiratory Distress"
    headings = [path[-1] for path, _ in document.root.walk() if path]
    assert headings == ["EMT", "WARNING SIGNS", "2.1 Children"]


def test_plain_text_keeps_lines_lists_signs_and_tables() -> None:
    found = [block for _, section in load_text(TEXT, "a.txt").root.walk() for block in section.blocks]
    assert [(block.kind, block.text, block.lines) for block in found] == [
        ("paragraph", "Give one of these:", (6, 6)),
        ("item", "•Oxygen", (7, 7)),
        ("item", "•Albuterol 2.5 mg\n  by nebulizer", (8, 9)),
        ("paragraph", "BP <60 and >1.5 now", (11, 11)),
        ("row", "1. | Call", (13, 14)),
        ("row", "2. | Wait", (13, 14)),
        ("paragraph", "Look for them.", (19, 19)),
    ]
    assert found[1].lead == "Give one of these:"
