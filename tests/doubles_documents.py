"""Small documents made in memory: PDFs drawn by hand and Word files, for the tests of the loaders."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

PAGE_HEIGHT = 792


@dataclass
class Sheet:
    """A page under construction; y counts from the top."""

    rotate: int = 0
    content: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, *, size: float = 10, bold: bool = False) -> Sheet:
        shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        font = "/B" if bold else "/F"
        self.content.append(f"BT {font} {size} Tf {x} {PAGE_HEIGHT - y} Td ({shown}) Tj ET")
        return self

    def lines(self, x: float, y: float, texts: Sequence[str], *, leading: float = 12, **style: float) -> Sheet:
        for number, text in enumerate(texts):
            self.text(x, y + number * leading, text, **style)  # type: ignore[arg-type]
        return self

    def rule(self, x0: float, y0: float, x1: float, y1: float, width: float = 0.5) -> Sheet:
        self.content.append(f"{width} w {x0} {PAGE_HEIGHT - y0} m {x1} {PAGE_HEIGHT - y1} l S")
        return self

    def grid(self, xs: Sequence[float], ys: Sequence[float]) -> Sheet:
        for x in xs:
            self.rule(x, ys[0], x, ys[-1])
        for y in ys:
            self.rule(xs[0], y, xs[-1], y)
        return self


def pdf(*sheets: Sheet, title: str = "", outline: Sequence[tuple[str, int]] = (), encrypt: bool = False) -> bytes:
    """Write a PDF; `outline` holds (title, 0-based page)."""
    objects: list[str] = ["", ""]

    def add(body: str) -> int:
        objects.append(body)
        return len(objects)

    fonts = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    bold = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>")
    pages: list[int] = []
    for sheet in sheets:
        stream = "\n".join(sheet.content)
        content = add(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
        pages.append(
            add(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 {PAGE_HEIGHT}] /Rotate {sheet.rotate}"
                f" /Contents {content} 0 R /Resources << /Font << /F {fonts} 0 R /B {bold} 0 R >> >> >>"
            )
        )
    kids = " ".join(f"{page} 0 R" for page in pages)
    objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"
    marks = ""
    if outline:
        root = len(objects) + 1
        first = root + 1
        add(f"<< /Type /Outlines /First {first} 0 R /Last {root + len(outline)} 0 R /Count {len(outline)} >>")
        for number, (name, page) in enumerate(outline):
            here = first + number
            before = f"/Prev {here - 1} 0 R" if number else ""
            after = f"/Next {here + 1} 0 R" if number + 1 < len(outline) else ""
            add(f"<< /Title ({name}) /Parent {root} 0 R {before} {after} /Dest [{pages[page]} 0 R /Fit] >>")
        marks = f"/Outlines {root} 0 R"
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {marks} >>"
    trailer = f"/Root 1 0 R /Size {len(objects) + 1}"
    if title:
        trailer += f" /Info {add(f'<< /Title ({title}) >>')} 0 R"
    if encrypt:
        secret = "<" + "ab" * 32 + ">"
        lock = add(f"<< /Filter /Standard /V 1 /R 2 /O {secret} /U {secret} /P -4 >>")
        trailer += f" /Encrypt {lock} 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
    out = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    for place in places:
        out += f"{place:010d} 00000 n \n".encode()
    out += f"trailer << {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def run(text: str, *, bold: bool = False, underlined: bool = False) -> str:
    """Return a Word run."""
    marks = ("<w:b/>" if bold else "") + ('<w:u w:val="single"/>' if underlined else "")
    return f'<w:r><w:rPr>{marks}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*runs: str, style: str = "") -> str:
    """Return a Word paragraph."""
    marks = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{marks}{''.join(runs)}</w:p>"


def table(*rows: Sequence[str]) -> str:
    """Return a Word table of plain cells."""
    made = "".join(
        "<w:tr>" + "".join(f"<w:tc>{paragraph(run(cell))}</w:tc>" for cell in row) + "</w:tr>" for row in rows
    )
    return f"<w:tbl>{made}</w:tbl>"


def docx(*body: str, title: str = "", status: str = "") -> bytes:
    """Write a Word file with the styles Heading1 and Heading2."""
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Override PartName="/word/document.xml" ContentType='
        '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
    )
    base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{base}/officeDocument" Target="word/document.xml"/></Relationships>'
    )
    own = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{base}/styles" Target="styles.xml"/></Relationships>'
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/></w:style>' for n in (1, 2)
    )
    core = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title>'
        f"<cp:contentStatus>{escape(status)}</cp:contentStatus></cp:coreProperties>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", links)
        archive.writestr("word/_rels/document.xml.rels", own)
        archive.writestr("word/styles.xml", f"<w:styles {_WORD}>{styles}</w:styles>")
        archive.writestr("word/document.xml", f"<w:document {_WORD}><w:body>{''.join(body)}</w:body></w:document>")
        archive.writestr("docProps/core.xml", core)
    return out.getvalue()
