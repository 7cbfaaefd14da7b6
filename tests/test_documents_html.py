"""HTML and Word: every heading and box, tables with merged cells, signs and superscripts; no navigation."""

from __future__ import annotations

import pytest

from retrieval.documents.docx import load_docx
from retrieval.documents.html import load_html
from retrieval.documents.loaded import Loaded
from retrieval.errors import DocumentError
from retrieval.guideline import Block
from tests.doubles_documents import docx, paragraph, run, table


def html(body: str) -> Loaded:
    return load_html(f"<!doctype html><html><body>{body}</body></html>".encode(), "a.html")


def blocks(document: Loaded) -> list[tuple[tuple[str, ...], Block]]:
    return [(path, block) for path, section in document.root.walk() for block in section.blocks]


def texts(document: Loaded) -> list[str]:
    return [block.text for _, block in blocks(document)]


def test_the_only_first_level_heading_is_the_title_and_the_others_make_the_path() -> None:
    document = html("<h1>Asthma</h1><p>Intro</p><h2>Adults</h2><h3>Dose</h3><p>2 puffs</p>")
    assert document.title == "Asthma"
    assert [(path, block.text) for path, block in blocks(document)] == [((), "Intro"), (("Adults", "Dose"), "2 puffs")]


def test_navigation_is_left_out() -> None:
    document = html("<nav><a>Home</a></nav><h1>T</h1><p>Text</p><footer>Contact us</footer>")
    assert texts(document) == ["Text"]


def test_breadcrumbs_are_the_title_where_the_first_heading_is_the_name_of_the_site() -> None:
    document = html(
        '<div data-role="header"><h1>Clinic Handbook</h1></div>'
        '<div id="page_breadcrumbs"><a>Handbook</a><span> &gt; </span><a>Asthma</a> &gt; Adults</div>'
        "<h3>Dose</h3><p>2 puffs</p>"
    )
    assert document.title == "Clinic Handbook › Asthma › Adults"
    assert blocks(document)[0][0] == ("Dose",)


def test_a_box_has_its_heading_in_the_path_and_what_follows_the_box_has_not() -> None:
    document = html(
        '<h2>A</h2><h2>Treatment</h2><p>Before</p><div class="box">'
        '<div class="box-header">Recommended</div>Drug 1 g<br>'
        "<div>OR</div>Drug 2 g</div><p>After</p>"
    )
    found = {block.text: path for path, block in blocks(document)}
    assert found["Drug 1 g"] == found["OR"] == found["Drug 2 g"] == ("Treatment", "Recommended")
    assert found["Before"] == found["After"] == ("Treatment",)
    assert texts(document).index("After") > texts(document).index("Drug 2 g")


def test_a_list_item_keeps_what_is_nested_in_it_and_its_lead_in() -> None:
    document = html("<p>Give one of:</p><ul><li>A<ul><li>5 mg</li></ul></li><li>B</li></ul>")
    assert [(block.text, block.lead) for _, block in blocks(document)][1:] == [
        ("- A\n  - 5 mg", "Give one of:"),
        ("- B", "Give one of:"),
    ]


def test_ordered_items_keep_their_numbers() -> None:
    assert texts(html('<ol start="3"><li>Third</li><li>Fourth</li></ol>')) == ["3. Third", "4. Fourth"]


def test_merged_cells_stand_in_every_place_they_cover() -> None:
    document = html(
        "<table><tr><th rowspan=2>Drug</th><th colspan=2>Dose</th></tr><tr><th>Adult</th><th>Child</th></tr>"
        "<tr><td rowspan=2>A</td><td>1 g</td><td>10 mg/kg</td></tr><tr><td>2 g</td><td>20 mg/kg</td></tr></table>"
    )
    assert texts(document) == ["Drug | Dose Adult | Dose Child", "A | 1 g | 10 mg/kg", "A | 2 g | 20 mg/kg"]


def test_an_empty_row_heading_is_the_one_above_it() -> None:
    document = html(
        "<table><tr><th>Drug</th><th>Dose</th></tr><tr><td>A</td><td>1</td></tr><tr><td></td><td>2</td></tr></table>"
    )
    assert texts(document)[1:] == ["A | 1", "A | 2"]


def test_a_first_row_of_data_is_not_taken_for_the_header() -> None:
    document = html("<table><tr><td>1.</td><td>Call 999</td></tr><tr><td>2.</td><td>Give 5 mg</td></tr></table>")
    assert [(block.kind, block.lead) for _, block in blocks(document)] == [("row", None), ("row", None)]


def test_a_label_row_in_a_table_is_read_with_the_rows_below_it() -> None:
    document = html(
        "<table><tr><th>Drug</th><th>Dose</th></tr><tr><td colspan=2>Second line</td></tr>"
        "<tr><td>A</td><td>1 g</td></tr></table>"
    )
    assert [(block.text, block.lead) for _, block in blocks(document)][1:] == [
        ("Second line", "Drug | Dose"),
        ("A | 1 g", "Drug | Dose\nSecond line"),
    ]


def test_signs_are_read_as_they_are_seen() -> None:
    document = html("<p>SBP <u>&lt;</u> 100, &lt;60 and &gt;1.5, 10<sup>9</sup>/L, <u>not < 5</u>, m<sup>2</sup></p>")
    assert texts(document) == ["SBP ≤ 100, <60 and >1.5, 10⁹/L, not < 5, m2"]


def test_a_page_in_another_encoding_is_read_by_what_it_states() -> None:
    page = '<html><head><meta charset="iso-8859-1"></head><body><p>5 µg – “now”</p></body></html>'
    assert texts(load_html(page.encode("windows-1252"), "a.html")) == ["5 µg – “now”"]
    with pytest.raises(DocumentError, match="UTF-8"):
        load_html("<html><body>µ</body></html>".encode("windows-1252"), "a.html")


def test_word_headings_come_from_styles_and_from_bold_lines() -> None:
    document = load_docx(
        docx(
            paragraph(run("Asthma"), style="Heading1"),
            paragraph(run("Adults"), style="Heading2"),
            paragraph(run("First dose:", bold=True)),
            paragraph(run("Give "), run("2 puffs", bold=True)),
        ),
        "a.docx",
    )
    assert document.title == "Asthma"
    assert [(path, block.text) for path, block in blocks(document)] == [(("Adults", "First dose:"), "Give 2 puffs")]


def test_a_word_table_is_rows_and_a_bold_or_between_them_is_no_heading() -> None:
    document = load_docx(
        docx(
            table(["Drug", "Dose"], ["A", "5 mg"]),
            paragraph(run("OR", bold=True)),
            table(["Drug", "Dose"], ["B", "6 mg"]),
        ),
        "a.docx",
    )
    assert texts(document) == ["Drug | Dose", "A | 5 mg", "OR", "Drug | Dose", "B | 6 mg"]


def test_an_underlined_sign_in_word_is_or_equal() -> None:
    document = load_docx(docx(paragraph(run("CD4 "), run("<", underlined=True), run(" 350"))), "a.docx")
    assert texts(document) == ["CD4 ≤ 350"]


def test_word_properties_give_title_and_status() -> None:
    document = load_docx(docx(paragraph(run("x")), title="Asthma in adults", status="Draft"), "a.docx")
    assert document.property_title == "Asthma in adults"
    assert document.properties == {"status": "Draft"}


def test_a_damaged_word_file_is_a_named_error() -> None:
    with pytest.raises(DocumentError, match=r"a\.docx.*damaged"):
        load_docx(docx(paragraph(run("x")))[:-200], "a.docx")
