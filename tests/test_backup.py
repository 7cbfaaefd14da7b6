"""Backup, wipe, restore: the same answers, and a ledger that verifies."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import pytest

import corpus
from bot.app import LEDGER_FILE
from bot.backup import back_up, restore
from bot.ledger import Ledger
from retrieval.errors import WrongUse
from tests.test_commandline import Terminal

QUESTION = "When must metformin be stopped because of the kidneys?"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    terminal = Terminal(tmp_path_factory.mktemp("backup"))
    shutil.copytree(corpus.GUIDELINES, terminal.folder)
    assert terminal.run("index").exit_code == 0
    ledger = Ledger.open(terminal.data / LEDGER_FILE)
    ledger.append("result", "q1", {"status": "answered"}, {"question": "hypo?"})
    ledger.close()
    return terminal


def test_backup_wipe_restore_gives_the_same_answers_and_the_same_ledger(made: Terminal, tmp_path: Path) -> None:
    before = made.json("ask", QUESTION)
    open_ledger = Ledger.open(made.data / LEDGER_FILE)
    head = open_ledger.head()
    file = tmp_path / "away" / "backup.tar.gz"
    assert made.run("backup", str(file)).exit_code == 0, "a running bot holds the ledger open"
    open_ledger.close()
    other = Terminal(tmp_path)
    assert other.run("restore", str(file)).exit_code == 0
    after = other.json("ask", QUESTION)
    for answer in (before, after):
        del answer["timings_ms"]
    assert after == before
    restored = Ledger.open(other.data / LEDGER_FILE)
    assert restored.head() == head
    restored.close()
    assert file.stat().st_mode & 0o077 == 0
    assert (other.data / LEDGER_FILE).stat().st_mode & 0o077 == 0


def test_nothing_is_restored_over_what_is_there_and_no_backup_over_another(made: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    back_up(made.data, file)
    with pytest.raises(WrongUse, match="not empty"):
        restore(file, made.data)
    with pytest.raises(WrongUse, match="exists"):
        back_up(made.data, file)


@pytest.mark.parametrize("damage", ["cut", "changed", "escaping", "empty", "missing"])
def test_a_damaged_backup_is_refused_and_leaves_nothing_behind(made: Terminal, tmp_path: Path, damage: str) -> None:
    file = tmp_path / "backup.tar.gz"
    back_up(made.data, file)
    if damage == "cut":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "missing":
        file.unlink()
    else:
        place = tmp_path / "unpacked"
        with tarfile.open(file) as tar:
            tar.extractall(place, filter="data")
        sums = json.loads((place / "checksums.json").read_text())
        if damage == "changed":
            (place / "current").write_text("another\n")
        else:
            sums["files"]["../outside"] = next(iter(sums["files"].values()))
            (place / "checksums.json").write_text(json.dumps(sums))
        with tarfile.open(file, "w:gz") as tar:
            tar.add(place / "checksums.json", arcname="checksums.json")
            for name in sums["files"]:
                tar.add(place / "current" if name == "../outside" else place / name, arcname=name)
    target = tmp_path / "data"
    with pytest.raises(WrongUse):
        restore(file, target)
    assert not target.exists()
    assert not (tmp_path / "outside").exists()


def test_an_empty_directory_has_nothing_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="--data"):
        back_up(tmp_path / "data", tmp_path / "backup.tar.gz")
