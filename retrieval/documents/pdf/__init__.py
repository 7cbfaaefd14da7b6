"""PDF → section tree: what pdfium reads, put in order by pure steps."""

from __future__ import annotations

from retrieval.documents.pdf.loading import load_pdf

__all__ = ["load_pdf"]
