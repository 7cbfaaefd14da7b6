"""Generations: one pointer, whole or not there, and back again with one command."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from retrieval.embedding import HashEmbedder
from retrieval.errors import IndexBusy, IndexMismatch, IndexMissing, ServiceAway, WrongUse
from retrieval.generations import Generations
from retrieval.indexing import Folder, build
from retrieval.whole_files import Watched, read_record, write_whole
from tests.doubles_indexing import NOW, clinic, guideline, write

ROOT = Path(__file__).parent.parent


def complete(data: Path, *ids: str) -> Generations:
    """Make directories that look like complete generations."""
    for one in ids:
        write(data, f"generations/{one}/manifest.json", "{}")
    return Generations(data)


def test_without_an_index_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match="guideline-bot index"):
        Generations(tmp_path).open_current("any")


def test_a_directory_without_a_manifest_is_no_generation_and_is_cleaned_away(tmp_path: Path) -> None:
    generations = complete(tmp_path, "000001-aaaaaa")
    write(tmp_path, "generations/000002-bbbbbb/windows.f32", "half")
    generations.activate("000001-aaaaaa")
    assert generations.ids() == ["000001-aaaaaa"]
    generations.clean()
    assert [path.name for path in (tmp_path / "generations").iterdir()] == ["000001-aaaaaa"]


def test_an_id_is_never_used_twice(tmp_path: Path) -> None:
    generations = complete(tmp_path, "000009-aaaaaa")
    first, second = generations.new_id(), generations.new_id()
    assert first != second
    assert first[:7] == second[:7] == "000010-"
    generations.activate("000041-cccccc")
    assert generations.new_id().startswith("000042-")


def test_pruning_keeps_the_current_one_however_old(tmp_path: Path) -> None:
    ids = [f"00000{number}-aaaaaa" for number in range(1, 6)]
    generations = complete(tmp_path, *ids)
    generations.activate(ids[0])
    assert generations.prune(2) == ids[1:4]
    assert generations.ids() == [ids[0], ids[4]]
    generations.prune(1)
    assert generations.ids() == [ids[0]]


def test_a_rollback_goes_to_the_one_before_or_to_a_named_one(tmp_path: Path) -> None:
    generations = complete(tmp_path, "000001-aaaaaa", "000002-bbbbbb", "000003-cccccc")
    generations.activate("000003-cccccc")
    assert generations.rollback() == "000002-bbbbbb"
    assert generations.rollback("000003") == "000003-cccccc"
    assert generations.current() == "000003-cccccc"


def test_a_rollback_to_nowhere_names_what_there_is(tmp_path: Path) -> None:
    generations = complete(tmp_path, "000001-aaaaaa")
    generations.activate("000001-aaaaaa")
    with pytest.raises(WrongUse, match=r"no older generation.*000001-aaaaaa"):
        generations.rollback()
    with pytest.raises(WrongUse, match='"000007"'):
        generations.rollback("000007")


def test_a_rollback_stays_until_a_file_changes(tmp_path: Path) -> None:
    folder, data = Folder(clinic(tmp_path / "g")), tmp_path / "data"
    first = build([folder], data, HashEmbedder(), now=NOW).generation
    write(folder.path, "new.md", guideline("New", "Ketamine is given."))
    second = build([folder], data, HashEmbedder(), now=NOW).generation
    generations = Generations(data)
    assert generations.rollback() == first
    held = build([folder], data, HashEmbedder(), now=NOW)
    assert (held.generation, held.built) == (first, False)
    assert any("rollback" in problem.reason for problem in held.warnings)
    write(folder.path, "new.md", guideline("New", "Ketamine is given slowly."))
    third = build([folder], data, HashEmbedder(), now=NOW)
    assert third.built
    assert third.generation not in (first, second)
    assert generations.held() == ""


def test_generations_are_listed_newest_first_with_what_they_hold(tmp_path: Path) -> None:
    folder, data = Folder(clinic(tmp_path / "g")), tmp_path / "data"
    build([folder], data, HashEmbedder(), now=NOW)
    write(folder.path, "new.md", guideline("New", "Ketamine is given."))
    build([folder], data, HashEmbedder(), now=NOW)
    complete(data, "000000-broken")
    listed = Generations(data).kept()
    assert [(one.current, one.guidelines, one.passages, one.readable) for one in listed] == [
        (True, 5, 7, True),
        (False, 4, 6, True),
        (False, 0, 0, False),
    ]
    assert listed[0].built == NOW


def test_the_lock_is_let_go_when_its_holder_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from retrieval.generations import Generations\n"
        "with Generations(Path(sys.argv[1])).lock():\n print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(IndexBusy, match="Another index run"), Generations(tmp_path).lock():
        pass
    holder.kill()
    holder.communicate()
    with Generations(tmp_path).lock():
        pass


def test_a_data_directory_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    file = write(tmp_path, "file", "")
    with pytest.raises(ServiceAway, match="cannot be written"), Generations(file).lock():
        pass


def test_a_reader_whose_generation_is_replaced_while_it_opens_takes_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, data = Folder(clinic(tmp_path / "g")), tmp_path / "data"
    good = build([folder], data, HashEmbedder(), now=NOW).generation
    generations = Generations(data)
    generations.activate("000000-pruned")
    read = generations.current
    answers = ["000000-pruned"]

    def current() -> str | None:
        if answers:
            return answers.pop()
        generations.activate(good)  # swapped just after the pointer was read
        return read()

    monkeypatch.setattr(generations, "current", current)
    name, opened = generations.open_current(HashEmbedder.identity)
    opened.close()
    assert name == good


def test_a_damaged_current_generation_is_an_error_and_not_an_endless_look(tmp_path: Path) -> None:
    generations = complete(tmp_path, "000001-aaaaaa")
    generations.activate("000001-aaaaaa")
    with pytest.raises(IndexMismatch, match="index --full"):
        generations.open_current("any")


def test_an_index_run_mends_a_damaged_current_generation(tmp_path: Path) -> None:
    folder, data = Folder(clinic(tmp_path / "g")), tmp_path / "data"
    broken = build([folder], data, HashEmbedder(), now=NOW).generation
    (data / "generations" / broken / "manifest.json").write_text("{")
    assert build([folder], data, HashEmbedder(), now=NOW).built
    Generations(data).open_current(HashEmbedder.identity)[1].close()


def test_the_last_run_is_remembered(tmp_path: Path) -> None:
    generations = Generations(tmp_path)
    assert generations.last_run() is None
    generations.note_run(datetime(2026, 5, 1, tzinfo=UTC))
    assert generations.last_run() == datetime(2026, 5, 1, tzinfo=UTC)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    write_whole(path, '{"a": 1}')
    reader = Watched(path, read_record)
    assert reader.current() == {"a": 1}
    seen: list[object] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            seen.append(read_record(path).get("a"))

    thread = threading.Thread(target=look)
    thread.start()
    for number in range(2, 60):
        write_whole(path, f'{{"a": {number}, "long": "{"x" * 10_000}"}}')
    stop.set()
    thread.join()
    assert None not in seen
    assert reader.current()["a"] == 59
    path.unlink()
    assert reader.current() == {}


def test_a_killed_run_leaves_a_whole_generation_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.killed_index_runs", str(tmp_path), "23"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "killed" in ended.stdout
