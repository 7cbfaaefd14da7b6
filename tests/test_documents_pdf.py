"""PDF: what stands on the page goes into the right section, column and row, with its page; nothing is invented."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.documents.loaded import Loaded
from retrieval.documents.pdf import load_pdf
from retrieval.documents.pdf.legibility import is_legible
from retrieval.documents.pdf.outline import Entry, is_sane
from retrieval.errors import DocumentError
from retrieval.guideline import Block
from tests.doubles_documents import Sheet, pdf

BODY = [
    "This protocol is invented for the tests of this program and must not be used to treat anyone at all.",
    "It is written in the words that such documents use, line by line, so that its layout can be checked.",
    "Every line of this paragraph is about as long as the ones above and below it on the same page.",
]


def loaded(*sheets: Sheet, name: str = "chest-pain.pdf", **options: object) -> Loaded:
    return load_pdf(pdf(*sheets, **options), name)  # type: ignore[arg-type]


def blocks(document: Loaded) -> list[tuple[tuple[str, ...], Block]]:
    return [(path, block) for path, section in document.root.walk() for block in section.blocks]


def paths(document: Loaded) -> list[tuple[str, ...]]:
    return [path for path, _ in document.root.walk()][1:]


def page_of(title: str = "Chest Pain Protocol") -> Sheet:
    return Sheet().text(72, 100, title, size=18, bold=True).lines(72, 130, BODY)


def test_a_larger_bold_line_is_a_heading_and_wrapped_lines_are_one_paragraph() -> None:
    document = loaded(page_of().text(72, 190, "Dose", size=12, bold=True).lines(72, 206, BODY))
    assert document.title == "Chest Pain Protocol"
    assert paths(document) == [("Chest Pain Protocol",), ("Chest Pain Protocol", "Dose")]
    assert [block.text for _, block in blocks(document)] == [" ".join(BODY)] * 2
    assert {block.page for _, block in blocks(document)} == {1}


def test_what_is_repeated_for_adults_and_children_stands_below_the_population() -> None:
    sheet = page_of()
    rows = [
        ("ADULT", 12),
        ("ALS TREATMENT", 13),
        ("Calcium", 11),
        ("PEDIATRIC", 12),
        ("ALS TREATMENT", 13),
        ("Calcium", 11),
    ]
    for number, (name, size) in enumerate(rows):
        sheet.text(72, 190 + 60 * number, name, size=size, bold=True).text(
            72, 206 + 60 * number, f"Text number {number}."
        )
    found = {block.text: path for path, block in blocks(loaded(sheet))}
    assert [found[f"Text number {number}."][1:] for number in (1, 2, 4, 5)] == [
        ("ADULT", "ALS TREATMENT"),
        ("ADULT", "ALS TREATMENT", "Calcium"),
        ("PEDIATRIC", "ALS TREATMENT"),
        ("PEDIATRIC", "ALS TREATMENT", "Calcium"),
    ]


def test_the_title_names_no_population_but_the_path_does() -> None:
    sheet = (
        page_of("CHEST PAIN - ADULT").text(72, 200, "CHEST PAIN - PEDIATRIC", size=18, bold=True).lines(72, 230, BODY)
    )
    document = loaded(sheet)
    assert document.title == "CHEST PAIN"
    assert paths(document) == [("CHEST PAIN - ADULT",), ("CHEST PAIN - PEDIATRIC",)]


def test_a_bold_dose_is_text_and_no_heading() -> None:
    document = loaded(page_of().text(72, 200, "Aspirin 300 mg chewed", bold=True).lines(72, 230, BODY))
    assert paths(document) == [("Chest Pain Protocol",)]
    assert any("Aspirin 300 mg chewed" in block.text for _, block in blocks(document))


def test_a_heading_that_is_the_whole_instruction_is_in_a_block_too() -> None:
    document = loaded(page_of(), Sheet().lines(72, 100, BODY).text(72, 200, "CONTACT BASE", bold=True))
    assert ("Chest Pain Protocol", "CONTACT BASE") in paths(document)
    assert any(block.text == "CONTACT BASE" and block.page == 2 for _, block in blocks(document))


def test_numbering_sets_the_level() -> None:
    sheet = page_of()
    for place, text in enumerate(["1. Scope", "2. Treatment", "2.1 Adults", "3. Review"]):
        sheet.text(72, 200 + 70 * place, text, size=12, bold=True).lines(72, 214 + 70 * place, BODY)
    top = ("Chest Pain Protocol",)
    assert paths(loaded(sheet))[1:] == [
        (*top, "1. Scope"),
        (*top, "2. Treatment"),
        (*top, "2. Treatment", "2.1 Adults"),
        (*top, "3. Review"),
    ]


def test_a_list_item_is_whole_with_its_second_line_and_what_is_nested_in_it() -> None:
    sheet = page_of().text(72, 200, "Give one of the following:")
    sheet.text(80, 214, "• Aspirin 300 mg chewed, unless the person is known to be").text(88, 226, "allergic to it")
    sheet.text(96, 238, "• not with a bleeding ulcer").text(80, 250, "• Clopidogrel 300 mg")
    items = [block for _, block in blocks(loaded(sheet)) if block.kind == "item"]
    assert [" ".join(item.text.split()) for item in items] == [
        "• Aspirin 300 mg chewed, unless the person is known to be allergic to it • not with a bleeding ulcer",
        "• Clopidogrel 300 mg",
    ]
    assert {item.lead for item in items} == {"Give one of the following:"}


def dose_table(sheet: Sheet, top: float = 200) -> Sheet:
    rows = [("Drug", "Adult", "Child"), ("Aspirin", "300 mg", "none"), ("Morphine", "5 mg", "0.1 mg/kg")]
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            sheet.text(80 + 120 * column, top + 14 + 20 * number, cell, bold=number == 0)
    return sheet.grid([72, 192, 312, 432], [top, top + 20, top + 40, top + 60])


def test_a_drawn_table_is_rows_with_every_value_under_its_own_header() -> None:
    document = loaded(dose_table(page_of()))
    table = [block for _, block in blocks(document) if block.kind in ("header", "row")]
    assert [(block.kind, block.text) for block in table] == [
        ("header", "Drug | Adult | Child"),
        ("row", "Aspirin | 300 mg | none"),
        ("row", "Morphine | 5 mg | 0.1 mg/kg"),
    ]
    assert {block.lead for block in table if block.kind == "row"} == {"Drug | Adult | Child"}
    assert document.coverage.tables == 1


def test_cells_that_are_stored_without_a_blank_between_them_stay_apart() -> None:
    sheet = page_of().grid([72, 100, 128, 156], [200, 220, 240])
    for number, row in enumerate([("AB", "CD", "EF"), ("1", "2", "3")]):
        sheet.content.append("BT /F 10 Tf")
        for column, cell in enumerate(row):
            sheet.content.append(f"1 0 0 1 {86 + 28 * column - 5 * len(cell)} {792 - 214 - 20 * number} Tm ({cell}) Tj")
        sheet.content.append("ET")
    table = [block.text for _, block in blocks(loaded(sheet)) if block.kind in ("header", "row")]
    assert table == ["AB | CD | EF", "1 | 2 | 3"]


def test_a_table_that_goes_on_over_the_page_keeps_its_header() -> None:
    second = Sheet()
    for column, cell in enumerate(("Fentanyl", "50 micrograms", "1 microgram/kg")):
        second.text(80 + 120 * column, 114, cell).text(80 + 120 * column, 134, cell + " again")
    second.grid([72, 192, 312, 432], [100, 120, 140])
    rows = [
        block for _, block in blocks(loaded(dose_table(page_of()), second)) if block.kind == "row" and block.page == 2
    ]
    assert [row.lead for row in rows] == ["Drug | Adult | Child"] * 2


def test_a_table_without_lines_is_rows_where_a_header_names_its_columns() -> None:
    sheet = page_of()
    for number, row in enumerate([("Age", "Dose"), ("2 years", "2.5 mg"), ("6 years", "5 mg"), ("Adults", "10 mg")]):
        sheet.text(80, 200 + 14 * number, row[0], bold=number == 0).text(
            200, 200 + 14 * number, row[1], bold=number == 0
        )
    table = [(block.text, block.lead) for _, block in blocks(loaded(sheet)) if block.kind == "row"]
    assert table == [
        ("2 years | 2.5 mg", "Age | Dose"),
        ("6 years | 5 mg", "Age | Dose"),
        ("Adults | 10 mg", "Age | Dose"),
    ]


def test_columns_for_adults_and_children_are_read_downward_with_their_title_in_the_path() -> None:
    sheet = page_of().text(72, 200, "ADULT", bold=True).text(320, 200, "PEDIATRIC", bold=True)
    sheet.text(72, 214, "Give 1 mg every 5 minutes").text(320, 214, "Give 0.02 mg/kg every 5 minutes")
    sheet.text(72, 226, "Not more than 3 mg").text(320, 226, "Not more than 1 mg")
    sheet.text(
        72, 300, "Tell the base hospital about every dose that was given, and write it down at once in the record."
    )
    found = {block.text: path for path, block in blocks(loaded(sheet))}
    adult = next(path for text, path in found.items() if "Not more than 3 mg" in text)
    child = next(path for text, path in found.items() if "0.02 mg/kg" in text)
    after = next(path for text, path in found.items() if "Tell the base hospital" in text)
    assert adult[-1] == "ADULT"
    assert child[-1] == "PEDIATRIC"
    assert not {"ADULT", "PEDIATRIC"} & set(after)


def test_an_underlined_sign_alone_is_or_equal_and_an_underlined_phrase_is_not() -> None:
    sheet = (
        page_of().text(72, 200, "Stop when SBP < 100 and tell the doctor").text(72, 220, "Stop when HR < 50 at rest")
    )
    # Below the sign only: 'Stop when SBP ' is 72.8 points wide in Helvetica 10, '<' is 5.8.
    sheet.rule(144.8, 201.6, 150.6, 201.6)
    sheet.rule(72, 221.6, 200, 221.6)
    text = "\n".join(block.text for _, block in blocks(loaded(sheet)))
    assert "SBP ≤ 100" in text
    assert "HR < 50" in text


def test_a_power_of_ten_is_not_read_as_a_larger_number() -> None:
    sheet = (
        page_of().text(72, 200, "Platelets below 10").text(153.3, 196, "9", size=6).text(160, 200, "per litre of blood")
    )
    text = "\n".join(block.text for _, block in blocks(loaded(sheet)))
    assert "109" not in text
    assert "10⁹" in text


def test_running_lines_go_and_page_numbers_too_but_body_text_stays() -> None:
    sheets = []
    for number in range(1, 5):
        sheet = Sheet().text(72, 40, "County Protocols 2026").lines(72, 300, [f"Give {number} mg now.", *BODY])
        sheets.append(sheet.text(300, 770, f"Page {number} of 4"))
    text = "\n".join(block.text for _, block in blocks(loaded(*sheets)))
    assert "County Protocols" not in text
    assert "of 4" not in text
    assert all(f"Give {number} mg now." in text for number in range(1, 5))


def test_a_printed_page_label_is_kept_beside_the_page_index() -> None:
    sheets = [Sheet().lines(72, 300, BODY).text(300, 770, f"3.{number}") for number in range(6, 9)]
    found = {block.page: block.page_label for _, block in blocks(loaded(*sheets))}
    assert found == {1: "3.6", 2: "3.7", 3: "3.8"}


def test_a_rotated_page_reads_like_an_upright_one() -> None:
    sheet = Sheet(rotate=90)
    for place, line in enumerate(["Give 5 mg of the drug at once", "and tell the doctor of it"]):
        sheet.content.append(f"BT /F 10 Tf 0 1 -1 0 {100 + 12 * place} 100 Tm ({line}) Tj ET")
    (_, block), *_ = blocks(loaded(sheet))
    assert " ".join(block.text.split()) == "Give 5 mg of the drug at once and tell the doctor of it"


def test_a_text_box_that_is_stored_last_is_read_where_it_stands() -> None:
    sheet = page_of().text(72, 200, "FOR WHEEZING", bold=True).text(72, 300, "FOR STRIDOR", bold=True)
    sheet.text(72, 316, "Give 5 mg by nebuliser over ten minutes.").text(
        72, 216, "Give 2.5 mg by nebuliser, once only."
    )
    found = {block.text: path for path, block in blocks(loaded(sheet))}
    assert found["Give 2.5 mg by nebuliser, once only."][-1] == "FOR WHEEZING"
    assert found["Give 5 mg by nebuliser over ten minutes."][-1] == "FOR STRIDOR"


def test_sane_bookmarks_name_the_headings_and_junk_ones_do_not() -> None:
    sheet = Sheet().text(72, 100, "Quiet title").lines(72, 120, BODY)
    assert ("Quiet title",) in paths(loaded(sheet, outline=[("Quiet title", 0)]))
    assert not is_sane([Entry(1, "x" * 80, 1), Entry(1, "Dose", 1)])
    assert not is_sane([Entry(1, "Slide 2", 1)])
    assert not is_sane([Entry(1, "Dose", None)])
    assert is_sane([Entry(1, "Dose", 1)] * 20 + [Entry(2, "• give 5 mg", 1)])


def test_a_page_without_text_is_reported_by_its_number() -> None:
    document = loaded(page_of(), Sheet().rule(72, 100, 500, 100))
    assert document.coverage.empty_pages == (2,)
    assert [(problem.page, "OCR" in problem.reason) for problem in document.warnings] == [(2, True)]


@pytest.mark.parametrize("program_name", ["ocrmypdf", "tesseract"])
def test_a_scanned_page_is_read_by_the_machines_own_program_and_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program_name: str
) -> None:
    read = Sheet().text(72, 100, "Give 5 mg at once, said the scan.")
    whole = program_name == "ocrmypdf"
    (tmp_path / "read.pdf").write_bytes(pdf(page_of(), read) if whole else pdf(read))
    program = tmp_path / program_name
    target = '"$last"' if whole else '"$2.pdf"'
    program.write_text(f'#!/bin/sh\nfor last; do :; done\ncp "{tmp_path}/read.pdf" {target}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    data = pdf(page_of(), Sheet().rule(72, 100, 500, 100))
    document = load_pdf(data, "a.pdf", ocr=True)
    assert [(block.text, block.page) for _, block in blocks(document) if block.ocr] == [
        ("Give 5 mg at once, said the scan.", 2)
    ]
    assert document.warnings == ()
    assert document.coverage.empty_pages == (2,)
    assert load_pdf(data, "a.pdf").warnings


def test_a_text_layer_that_makes_no_words_is_not_taken_for_text() -> None:
    assert is_legible("Give 5 mg of morphine slowly and watch the breathing of the person closely. " * 3)
    assert is_legible("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30")
    assert not is_legible("\x01\x04\x05\x06\x07\x08" * 20)
    assert not is_legible("Xkwr qqrt bcdf ghjk lmnp qrst vwxz " * 5)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (pdf(page_of())[:400], "truncated"),
        (pdf(page_of(), page_of("Second"))[:-60], "truncated"),
        (b"%PDF-1.4\nnothing of the kind\n%%EOF", "damaged"),
        (pdf(page_of(), encrypt=True), "password"),
    ],
)
def test_a_bad_file_is_an_error_that_says_what_is_wrong(data: bytes, words: str) -> None:
    with pytest.raises(DocumentError, match=words) as caught:
        load_pdf(data, "a.pdf")
    assert caught.value.file == "a.pdf"


def test_the_same_file_gives_the_same_tree() -> None:
    data = pdf(dose_table(page_of()), page_of("Second"))
    assert load_pdf(data, "a.pdf") == load_pdf(data, "a.pdf")


def test_every_number_of_a_page_is_kept_once() -> None:
    sheet = dose_table(page_of()).lines(72, 300, ["Give 12 mg, then 24 mg.", "Repeat after 36 minutes."])
    text = " ".join(block.text for _, block in blocks(loaded(sheet)))
    assert [text.count(number) for number in ("300", "0.1", "12", "24", "36")] == [1] * 5
