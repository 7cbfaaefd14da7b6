"""The site's own questions, run again after every index run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.evaluating import FIGURES
from bot.reports import index_report
from retrieval.generations import Generations
from tests.test_commandline import Terminal

SECTION = """\
# Manual

## Metformin

Metformin is stopped when eGFR falls below 30.

## Foot

Feet are checked yearly.
"""
QUESTION = {
    "id": "q1",
    "question": "When is metformin stopped when eGFR falls?",
    "answerable": True,
    "kind": "own",
    "gold": [{"doc": "manual.md", "section": "Metformin"}],
}


class Site(Terminal):
    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.folder.mkdir()
        self.questions = place / "questions.jsonl"
        self.questions.write_text(json.dumps(QUESTION) + "\n")
        self.environment["GUIDELINE_BOT_EVALUATION_QUESTIONS"] = str(self.questions)
        self.write(SECTION)

    def write(self, text: str) -> None:
        (self.folder / "manual.md").write_text(text)

    def index(self, **environment: str) -> dict[str, Any]:
        result = self.run("index", "--json", **environment)
        assert result.exit_code == 0, result.output
        summary: dict[str, Any] = json.loads(result.stdout)
        return summary


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def lost(text: str) -> str:
    return text.replace("Metformin is stopped when eGFR falls below 30.", "See the other manual.")


def test_a_first_run_and_one_that_loses_nothing_say_nothing(site: Site) -> None:
    assert site.index()["evaluation"]["fallen"] == []
    site.write(SECTION + "\n## Eyes\n\nEyes are checked every two years.\n")
    assert site.index()["evaluation"]["fallen"] == []


def test_figures_that_fall_are_told_to_the_channel(site: Site) -> None:
    site.index()
    site.write(lost(SECTION))
    summary = site.index()
    assert any("answered_rate fell from 1.00 to 0.00" in line for line in summary["evaluation"]["fallen"])
    assert summary["evaluation"]["kept_old"] == ""
    assert "answered worse than before" in index_report(summary, scheduled=False)


def test_the_old_generation_answers_on_where_that_is_set_and_is_what_the_next_run_is_held_to(site: Site) -> None:
    first = site.index()["generation"]
    site.write(lost(SECTION))
    summary = site.index(GUIDELINE_BOT_EVALUATION_KEEP_OLD_ON_DROP="true")
    assert summary["evaluation"]["kept_old"] == first == summary["generation"]
    assert Generations(site.data).current() == first
    assert "the index before answers on" in index_report(summary, scheduled=False)
    site.write(lost(SECTION) + "\n## More\n\nMore text.\n")
    assert site.index(GUIDELINE_BOT_EVALUATION_KEEP_OLD_ON_DROP="true")["evaluation"]["fallen"]


def test_questions_that_cannot_be_read_do_not_stop_the_index(site: Site) -> None:
    site.questions.write_text("not json\n")
    summary = site.index()
    assert "line 1" in summary["evaluation"]["problem"]
    assert "could not be run" in index_report(summary, scheduled=False)


def test_what_is_kept_of_an_evaluation_holds_no_text(site: Site) -> None:
    site.index()
    assert "metformin" not in (site.data / FIGURES).read_text().casefold()
