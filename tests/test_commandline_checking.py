"""`check` and `screen` at the command line: what they print, and how they end."""

import json

import pytest
from click.testing import CliRunner

from bot.__main__ import main

GOOD = {"answer": "Give paracetamol 500 mg [S1].", "sources": {"S1": "Give paracetamol 500 mg."}}
BAD = {"answer": "Give paracetamol 900 mg [S1].", "sources": {"S1": "Give paracetamol 500 mg."}}


def run(command, *entries, options=()):
    given = "".join((entry if isinstance(entry, str) else json.dumps(entry)) + "\n" for entry in entries)
    return CliRunner().invoke(main, [command, *options], input=given)


def reports(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_supported_answer_ends_with_0_and_lists_its_sentences():
    result = run("check", GOOD, options=["--json"])
    assert result.exit_code == 0
    assert reports(result) == [
        {"supported": True, "sentences": [{"text": GOOD["answer"], "cites": ["S1"], "problems": []}]}
    ]


def test_one_problem_among_many_answers_ends_with_1_and_every_answer_is_reported():
    result = run("check", GOOD, BAD, GOOD, options=["--json"])
    assert result.exit_code == 1
    assert [report["supported"] for report in reports(result)] == [True, False, True]
    (problem,) = reports(result)[1]["sentences"][0]["problems"]
    assert problem["kind"] == "number"
    assert problem["detail"]


def test_an_answer_without_a_sentence_is_not_supported():
    result = run("check", {"answer": "", "sources": {}})
    assert result.exit_code == 1
    assert "no sentence" in result.stdout


def test_for_people_the_line_and_the_problem_are_named():
    result = run("check", GOOD, BAD)
    assert "line 1: supported" in result.stdout
    assert "line 2: not supported" in result.stdout
    assert "number:" in result.stdout


def test_the_question_reaches_the_checker():
    said_no = {**GOOD, "answer": "No [S1].", "question": "Can I give paracetamol 500 mg?"}
    assert run("check", said_no).exit_code == 1


@pytest.mark.parametrize("line", ["{", "[1]", '"x"', "null", "[" * 100_000, '{"answer": 1, "sources": {}}'])
def test_a_malformed_line_ends_with_2_and_is_named_by_its_number(line):
    result = run("check", GOOD, line)
    assert result.exit_code == 2
    assert "line 2 " in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("sources", [None, [], "text", {"S1": 5}, {"S1": {"text": "x"}}])
def test_sources_must_map_tags_to_text(sources):
    result = run("check", {"answer": "x [S1].", "sources": sources})
    assert result.exit_code == 2
    assert '"sources"' in result.stderr


def test_details_are_reported_by_place_and_kind():
    text = "pt wants a call, mobile 07700 900123"
    result = run("screen", {"text": text}, {"text": "dose of amoxicillin"}, options=["--json"])
    assert result.exit_code == 0
    first, second = reports(result)
    assert [text[one["start"] : one["end"]] for one in first["details"]] == ["07700 900123"]
    assert [one["kind"] for one in first["details"]] == ["phone number"]
    assert second == {"details": []}


def test_the_screen_never_repeats_what_it_found():
    result = run("screen", {"text": "call 07700 900123"})
    assert "phone number at 5 to 17" in result.stdout
    assert "900123" not in result.output


def test_an_error_never_repeats_the_line():
    result = run("screen", '{"text": "Jane Roe 07700 900123"')
    assert result.exit_code == 2
    assert "line 1 " in result.stderr
    assert "Jane" not in result.output


@pytest.mark.parametrize("entry", [{}, {"text": None}, {"text": 5}, {"text": ["x"]}])
def test_a_line_without_text_ends_with_2(entry):
    result = run("screen", entry)
    assert result.exit_code == 2
    assert '"text"' in result.stderr


def test_blank_lines_and_a_byte_order_mark_are_passed_over():
    result = CliRunner().invoke(main, ["screen", "--json"], input=b'\xef\xbb\xbf{"text": "x"}\r\n\n')
    assert result.exit_code == 0
    assert reports(result) == [{"details": []}]


def test_bytes_that_are_not_utf_8_end_with_2():
    result = CliRunner().invoke(main, ["screen"], input=b'{"text": "\xff"}\n')
    assert result.exit_code == 2
    assert "UTF-8" in result.stderr


def test_no_input_is_no_problem():
    assert run("check").exit_code == 0
    assert run("screen").stdout == ""
