"""Run by a test in a process of its own: index runs that are killed at their every step.

Each run is a fork that counts what it does to the data directory (Python's audit events) and ends itself with
SIGKILL at the n-th; another fork then checks that the generation of before, or the finished new one, answers, and
that the next run brings the index up to date and leaves no debris.

    python -m tests.killed_index_runs DIRECTORY STRIDE
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from retrieval.embedding import HashEmbedder
from retrieval.generations import Generations
from retrieval.indexing import Folder, IndexOptions, build
from retrieval.library import Library
from tests.doubles_indexing import NOW, clinic, contents, guideline, write

_CHANGES = ("open", "os.", "shutil.", "sqlite3.connect", "fcntl.")


def main(directory: Path, stride: int) -> None:
    folder, data, fresh = clinic(directory / "guidelines"), directory / "data", directory / "fresh"
    assert forked(lambda: index(folder, data)) == 0
    shutil.copytree(data, fresh)
    first = Generations(data).current()
    (folder / "asthma.md").unlink()
    write(folder, "new.md", guideline("New", "Ketamine is given slowly."))
    step, killed = 1, 0
    while True:
        shutil.rmtree(data)
        shutil.copytree(fresh, data)
        ended = forked(lambda: index(folder, data, kill_at=step))  # noqa: B023 (called at once)
        status = forked(lambda: check(folder, data, str(first)))
        if status != 0:
            sys.exit(f"killed at step {step}: the check ended with {status}")
        if ended == 0:
            break
        killed += 1
        step += stride
    print(f"killed {killed} runs")


def index(folder: Path, data: Path, kill_at: int = 0) -> None:
    if kill_at:
        kill_at_event(data, kill_at)
    build([Folder(folder)], data, HashEmbedder(), IndexOptions(keep_generations=1), now=NOW)


def kill_at_event(data: Path, number: int) -> None:
    """End this process at the n-th thing that it does to the data directory."""
    seen = 0

    def hook(event: str, values: tuple[Any, ...]) -> None:
        nonlocal seen
        if event.startswith(_CHANGES) and (event.startswith("fcntl.") or any(str(data) in str(one) for one in values)):
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def check(folder: Path, data: Path, first: str) -> None:
    """What answers after the kill is one whole generation; the next run mends everything."""
    library = Library.open(data, HashEmbedder())
    served = {entry.name for entry in library.guidelines() if entry.served or entry.reason.startswith("Its file")}
    answered = {source.passage.guideline for source in library.search("what is given", limit=50).sources}
    old = {"asthma.md", "sepsis.md", "wards/hypo.md", "wards/pain.md"}
    new = old - {"asthma.md"} | {"new.md"}
    assert served == (old if library.generation == first else new), served
    assert answered in (old, old - {"asthma.md"}, new), answered
    library.close()
    index(folder, data)
    library = Library.open(data, HashEmbedder())
    assert {source.passage.guideline for source in library.search("what is given", limit=50).sources} == new
    assert [path.name for path in (data / "generations").iterdir()] == [library.generation]
    assert b"Salbutamol" not in contents(data)
    assert not list(data.glob("*.new"))


def forked(work: Callable[[], None]) -> int:
    """Do something in a fork and return how it ended: 0, or what os.waitpid says."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
