"""One loader per format, chosen by a file's bytes: a document becomes a guideline with its section tree."""

from __future__ import annotations

from retrieval.documents.loading import load, read_status
from retrieval.documents.metadata import folder_problems, is_metadata_file

__all__ = ["folder_problems", "is_metadata_file", "load", "read_status"]
