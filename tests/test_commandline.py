"""The command line as a person types it: results, clear sentences and exit statuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import corpus
from bot.__main__ import main


class Terminal:
    """Runs commands with the hash embedder over one data directory."""

    def __init__(self, place: Path) -> None:
        self.data = place / "data"
        self.folder = place / "guidelines"
        self.environment = {
            "GUIDELINE_BOT_INDEX_EMBEDDER": "hash",
            "GUIDELINE_BOT_GUIDELINES_GLOSSARY": str(corpus.GLOSSARY),
            "GUIDELINE_BOT_GUIDELINES_FOLDER": str(self.folder),
        }

    def run(self, *arguments: str, text: str = "", **environment: str) -> Result:
        return CliRunner().invoke(
            main, ["--data", str(self.data), *arguments], input=text, env={**self.environment, **environment}
        )

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json").stdout)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    terminal = Terminal(tmp_path_factory.mktemp("commandline"))
    shutil.copytree(corpus.GUIDELINES, terminal.folder)
    result = terminal.run("index", "--json")
    assert result.exit_code == 0, result.stderr
    return terminal


@pytest.fixture
def fresh(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path)
    terminal.folder.mkdir()
    return terminal


def test_an_answer_has_every_key_of_the_contract(indexed: Terminal) -> None:
    answer = indexed.json("ask", "When must metformin be stopped because of the kidneys?")
    assert answer["status"] == "answered"
    assert answer["mode"] == "quoted"
    assert "If eGFR falls below 30 during treatment, stop metformin." in answer["answer"]
    source = answer["sources"][0]
    assert source["tag"] == "S1"
    assert source["guideline"] == "diabetes-protocol.md"
    assert source["path"] == ["2. Kidney function and metformin"]
    assert source["kept"] is True
    assert source["scores"].keys() == {"cosine", "lexical", "heading", "blended", "gate"}
    assert source["lines"][0] <= source["lines"][1]
    assert answer["gate"].keys() >= {"min_score", "best", "verdict", "reason"}
    assert answer["timings_ms"].keys() >= {"screen", "embed", "search", "rerank", "gate"}
    assert answer["generation"]


def test_a_refusal_has_a_reason_and_exit_status_1(indexed: Terminal) -> None:
    result = indexed.run("ask", "How do I repair the photocopier?")
    assert result.exit_code == 1
    assert "Nothing in the guidelines is near enough" in result.stdout


def test_a_question_with_patient_details_is_blocked_and_not_repeated(indexed: Terminal) -> None:
    for command in ("ask", "why"):
        result = indexed.run(command, "Can Mrs Margaret Thornbury, NHS 943 476 5919, have metformin?")
        assert result.exit_code == 1, "refused, which is no wrong use"
        assert "Thornbury" not in result.output
        assert "name" in result.output


def test_why_shows_rejected_candidates_with_their_scores(indexed: Terminal) -> None:
    why = indexed.json("why", "How often is HbA1c checked?")
    assert {source["kept"] for source in why["sources"]} == {True, False}
    assert all(source["reason"] for source in why["sources"] if not source["kept"])
    assert "rejected" in indexed.run("why", "How often is HbA1c checked?").stdout


def test_filters_restrict_the_search(indexed: Terminal) -> None:
    why = indexed.json("why", "panic", "--guideline", "diabetes")
    assert {source["guideline"] for source in why["sources"]} == {"diabetes-protocol.md"}


def test_guidelines_are_listed_with_what_is_known_of_them(indexed: Terminal) -> None:
    one = next(entry for entry in indexed.json("guidelines") if entry["guideline"] == "diabetes-protocol.md")
    assert one["version"] == "3.0"
    assert one["review_by"] == "2031-03-01"
    assert one["served"] is True
    assert "2 guidelines, 2 served" in indexed.run("guidelines").stdout
    assert "1 guidelines, 1 served" in indexed.run("guidelines", "triage").stdout


def test_a_second_run_changes_nothing_and_a_dry_run_does_nothing(indexed: Terminal) -> None:
    before = indexed.json("guidelines", "--generations")
    assert indexed.json("index", "--dry-run")["unchanged"]
    summary = indexed.json("index")
    assert summary["added"] == summary["changed"] == summary["removed"] == []
    assert summary["unchanged"] == 2
    assert indexed.json("guidelines", "--generations") == before


def test_evaluate_gives_the_figures_of_the_contract(indexed: Terminal, tmp_path: Path) -> None:
    details, report = tmp_path / "details.jsonl", tmp_path / "report.html"
    result = indexed.run(
        "evaluate", str(corpus.QUESTIONS), "--json", "--details", str(details), "--report", str(report)
    )
    figures = json.loads(result.stdout)
    assert figures["questions"] == 49
    assert figures.keys() >= {"hit_at_1", "hit_at_5", "mrr", "answered_rate", "false_answer_rate", "auroc", "kinds"}
    assert figures.keys() >= {"thresholds", "proposed_min_score"}
    rows = [json.loads(line) for line in details.read_text().splitlines()]
    assert len(rows) == 49
    assert rows[0].keys() >= {"id", "status", "reason", "gate_score", "ranked"}
    assert len(rows[0]["ranked"]) >= 10
    assert "<svg" in report.read_text()
    assert "http" not in report.read_text().replace("http://www.w3.org", "")


def test_drafted_questions_can_be_evaluated(indexed: Terminal, tmp_path: Path) -> None:
    drafted = tmp_path / "questions.jsonl"
    drafted.write_text(indexed.run("evaluate", "--draft", "--count", "10").stdout)
    assert json.loads(indexed.run("evaluate", str(drafted), "--json").stdout)["questions"] > 0


def test_an_index_of_another_embedder_is_refused_with_the_cure(indexed: Terminal) -> None:
    result = indexed.run("ask", "hypo", GUIDELINE_BOT_INDEX_EMBEDDER="sentence-transformers")
    assert result.exit_code == 2
    assert "index" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "environment", "status", "words"),
    [
        (("ask", "hypo"), {}, 2, "indexed"),
        (("run",), {}, 2, "mattermost.url"),
        (("run",), {"GUIDELINE_BOT_MATTERMOST_URL": "ftp://x"}, 2, "mattermost.url"),
        (("index",), {}, 2, "holds no document"),
        (("index", "--folder", "/nowhere/at/all"), {}, 2, "/nowhere/at/all"),
        (("index",), {"GUIDELINE_BOT_GUIDELINES_FOLDER": ""}, 2, "guidelines.folder"),
        (("evaluate",), {}, 2, ""),
        (("rollback",), {}, 2, "no older generation"),
        (("ask", "hypo"), {"GUIDELINE_BOT_ANSWER_MODE": "sung"}, 2, "answer.mode"),
        (("ask", "hypo"), {"GUIDELINE_BOT_NONSENSE": "1"}, 2, "GUIDELINE_BOT_NONSENSE"),
        (("--config", "/nowhere.toml", "ask", "hypo"), {}, 2, "/nowhere.toml"),
    ],
)
def test_wrong_use_is_one_clear_sentence_and_exit_status_2(
    fresh: Terminal, arguments: tuple[str, ...], environment: dict[str, str], status: int, words: str
) -> None:
    result = fresh.run(*arguments, **environment)
    assert result.exit_code == status, result.output
    assert words.casefold() in result.stderr.casefold()
    assert "Traceback" not in result.output


def test_the_sample_corpus_is_refused_on_a_real_server(fresh: Terminal) -> None:
    result = fresh.run(
        "run",
        GUIDELINE_BOT_MATTERMOST_URL="https://chat.example.org",
        GUIDELINE_BOT_GUIDELINES_FOLDER=str(corpus.GUIDELINES),
    )
    assert result.exit_code == 2
    assert "invented" in result.stderr


def test_a_file_that_is_not_utf8_is_named_and_the_rest_is_indexed(fresh: Terminal) -> None:
    (fresh.folder / "good.md").write_text("# Good\n\n## Dose\n\nGive 5 mg.\n")
    (fresh.folder / "bad.md").write_bytes("# Bad\n\nGéne".encode("latin-1"))
    summary = fresh.json("index")
    assert summary["added"] == ["good.md"]
    assert [problem["file"] for problem in summary["failed"]] == ["bad.md"]
    assert "UTF-8" in summary["failed"][0]["reason"]


def test_the_self_test_passes_without_any_service(fresh: Terminal) -> None:
    result = fresh.run("selftest")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("PASS") == 6


def test_completion_is_printed(fresh: Terminal) -> None:
    assert "_GUIDELINE_BOT_COMPLETE" in fresh.run("completion", "bash").stdout


def test_every_command_has_help_and_stands_in_the_readme(fresh: Terminal) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    for name in main.list_commands(None):  # type: ignore[arg-type]
        assert fresh.run(name, "--help").exit_code == 0
        assert f"`{name}" in readme, f"{name} is not in README.md"


def test_without_an_index_every_command_says_so_alike(fresh: Terminal) -> None:
    for command in (["ask", "x"], ["why", "x"], ["guidelines"], ["guidelines", "--generations"]):
        for form in ([], ["--json"]):
            result = fresh.run(*command, *form)
            assert (result.exit_code, result.stdout) == (2, "")
            assert "Nothing has been indexed yet" in result.stderr
