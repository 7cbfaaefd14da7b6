"""Logs: one line an event, without anybody's words and without secrets, whoever logs."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import logs
from bot.logs import JsonFormatter, PlainFormatter, conceal, configure, masked
from bot.settings import OperationsSettings

TOKEN = "s3cr3tt0kens3cr3tt0kens3cr"


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    kept = (root.handlers[:], root.level, set(logs._secrets), sys.excepthook, threading.excepthook)
    yield
    root.handlers[:], root.level = kept[0], kept[1]
    logs._secrets.clear()
    logs._secrets.update(kept[2])
    sys.excepthook, threading.excepthook = kept[3], kept[4]
    logging.captureWarnings(False)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """Return what was written to standard error so far."""
    lines: list[str] = []

    def read() -> str:
        lines.append(capsys.readouterr().err)
        return "".join(lines)

    return read


def test_a_concealed_token_is_masked_wherever_it_turns_up(said: Callable[[], str]) -> None:
    configure(OperationsSettings())
    conceal(TOKEN)
    logging.getLogger("bot.x").warning("asked with %s at wss://h/?t=%s", TOKEN, TOKEN)
    logging.getLogger("other").warning("header %s", TOKEN)
    assert TOKEN not in said()
    assert said().count("***") == 2


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdefabcdef1234",
        "{'Authorization': 'Bearer abcdefabcdef1234'}",
        '"authorization":"Basic abcdefabcdef1234=="',
        "sent bearer abcdefabcdef1234 to it",
        "https://h/api?access_token=abcdefabcdef1234&x=1",
        "MMAUTHTOKEN=abcdefabcdef1234; path=/",
        "https://ann:abcdefabcdef1234@chat.example.org/",
        "password = abcdefabcdef1234",
    ],
)
def test_whatever_looks_like_credentials_is_masked(text: str) -> None:
    assert "abcdefabcdef1234" not in masked(text)
    assert "***" in masked(text)


def test_ordinary_words_stay_as_they_are() -> None:
    for text in ("the token was refused", "basic support is given", "I am @guidebot; a post may have 4000 characters"):
        assert masked(text) == text


def test_the_text_of_an_exception_is_never_logged_but_where_it_came_from_is(said: Callable[[], str]) -> None:
    configure(OperationsSettings())
    try:
        raise ValueError("Jane Roe has chest pain")
    except ValueError:
        logging.getLogger("bot.desk").exception("a question could not be answered")
    assert "Jane" not in said()
    assert "ValueError at tests/test_logs.py:" in said()


def test_what_other_libraries_say_is_shown_as_a_template_only(said: Callable[[], str]) -> None:
    configure(OperationsSettings())
    logging.getLogger("library").error("could not parse %s", "Jane Roe")
    logging.getLogger("library").error(f"could not parse {'Jane Roe'}")
    logging.getLogger("asyncio").error("Task exception was never retrieved\nfuture: <Task exception=E('Jane Roe')>")
    assert "Jane" not in said()
    assert "could not parse %s" in said()
    assert "test_logs.py:" in said()


def test_json_lines_are_one_object_each_whatever_is_logged() -> None:
    formatter = JsonFormatter()
    record = logging.LogRecord("bot.x", logging.INFO, "f.py", 1, 'two\nlines and "quotes" %s', ("ä",), None)
    line = formatter.format(record)
    assert "\n" not in line
    entry = json.loads(line)
    assert (entry["level"], entry["from"], entry["message"]) == ("info", "bot.x", 'two lines and "quotes" ä')


@given(st.text(max_size=40))
def test_a_line_stays_one_line_so_that_no_name_can_forge_an_entry(text: str) -> None:
    record = logging.LogRecord("bot.x", logging.INFO, "f.py", 1, "file %s", (text,), None)
    assert len(PlainFormatter().format(record).splitlines()) == 1


def test_what_nobody_caught_is_logged_without_its_text(said: Callable[[], str]) -> None:
    configure(OperationsSettings(log_json=True))

    def fail() -> None:
        raise RuntimeError("Jane Roe")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    try:
        fail()
    except RuntimeError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    lines = [json.loads(line) for line in said().splitlines()]
    assert [line["level"] for line in lines] == ["critical", "critical"]
    assert "Jane" not in said()


def test_short_words_are_not_concealed_because_they_would_blot_out_the_log() -> None:
    conceal("a")
    assert masked("all fine") == "all fine"
