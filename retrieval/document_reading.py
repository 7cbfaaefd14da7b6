"""Reading the documents that a run needs: each into the spool, each failure remembered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from retrieval.building import Preparation
from retrieval.catalogue import Indexed
from retrieval.documents import load
from retrieval.errors import DocumentError
from retrieval.failures import failed_again
from retrieval.guideline import Guideline, Problem, Section
from retrieval.looking import IndexOptions, Look, Progress
from retrieval.plan import Failure
from retrieval.spool import Spool


class DocumentReader:
    """Reads files of a look.

    Attributes:
        read: what was read, by name.
        failures: what could not be read in its present state, resting files included.
    """

    def __init__(self, look: Look, options: IndexOptions, preparation: Preparation, spool: Spool, now_s: float) -> None:
        self._look = look
        self._options = options
        self._preparation = preparation
        self._spool = spool
        self._now_s = now_s
        self.read: dict[str, Indexed] = {}
        self.failures: dict[str, Failure] = {
            name: look.failures[name] for name in look.plan.failing if name in look.failures
        }
        for problem in look.plan.unreadable:
            self._fail(problem.file, problem)

    def read_all(self, names: Iterable[str], progress: Progress) -> None:
        """Read documents; what fails is in `failures` and stops nothing."""
        todo = list(names)
        for done, name in enumerate(todo):
            progress("read", done, len(todo))
            try:
                guideline = self._load(name)
            except DocumentError as error:
                beside = "" if error.file == name else f"{error.file} "
                self._fail(name, Problem(name, beside + error.reason, error.page))
                continue
            self._spool.put(name, self._preparation.of(guideline))
            file = self._look.files[name]
            known = replace(guideline, root=Section(guideline.metadata.title))
            self.read[name] = Indexed.of(known, file.folder, file.described)
        if todo:
            progress("read", len(todo), len(todo))

    def _load(self, name: str) -> Guideline:
        entry = self._look.scan.entries[name]
        try:
            return load(
                entry.path,
                name,
                folder=entry.folder.path,
                base_url=entry.folder.base_url,
                max_bytes=self._options.max_file_bytes,
                ocr=self._options.ocr,
            )
        except DocumentError:
            raise
        except (MemoryError, RecursionError):
            raise DocumentError(name, "is too deeply nested or too large to be read; divide it") from None
        except Exception as error:
            # One strange file must not keep all the others from being brought up to date.
            raise DocumentError(name, f"cannot be read ({type(error).__name__}: {_first_line(error)})") from error

    def _fail(self, name: str, problem: Problem) -> None:
        earlier = self._look.failures.get(name)
        self.failures[name] = failed_again(self._look.files[name], problem, earlier, self._now_s)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]
