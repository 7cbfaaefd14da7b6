"""Looking into the ledger: listing, showing, exporting, erasing, purging, and answers that no longer stand."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import corpus
from bot.__main__ import main
from bot.answering.answerer import Answerer
from bot.app import HEAD_FILE, LEDGER_FILE
from bot.auditing.affected import Served, affected_by
from bot.auditing.chain import verify
from bot.auditing.clearing import erase, purge
from bot.auditing.exchanges import exchanges_of, find, select
from bot.auditing.export import csv_lines, defused
from bot.auditing.notices import tell_threads
from bot.auditing.originals import holds_text
from bot.backup import back_up, restore
from bot.display import display_line
from bot.ledger import Ledger
from bot.records import record_of
from bot.sandbox import posting
from bot.sandbox.server import SandboxServer
from bot.settings import AnswerSettings, Settings
from retrieval.embedding import HashEmbedder
from retrieval.indexing import Folder, build
from retrieval.library import Library
from tests.doubles_answering import lets_through
from tests.doubles_mattermost import FakeAnswerer, a_bot, bot_posts, mark, replies_to, until

PANIC = "What should I do during a panic episode?"
OFF_TOPIC = "How do I repair the photocopier on the second floor?"
DAY_S = 24 * 3600


@dataclass
class Clock:
    now_s: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class Clinic:
    """A folder with the sample manual, its index, and a ledger with four exchanges."""

    place: Path
    folder: Path
    data: Path
    clock: Clock

    @classmethod
    def made(cls, place: Path) -> Clinic:
        folder, data = place / "guidelines", place / "data"
        folder.mkdir()
        shutil.copy(corpus.TRIAGE_MANUAL, folder / "triage.md")
        clinic = cls(place, folder, data, Clock())
        clinic.index()
        ledger = clinic.ledger()
        library = clinic.library()
        answerer = Answerer(library, Settings(answer=AnswerSettings(mode="quoted")), None, lets_through)
        for number, question in enumerate((PANIC, OFF_TOPIC)):
            result = asyncio.run(answerer.answer(question))
            clinic.clock.now_s += DAY_S
            claim = ledger.claim(f"q{number}", "bot", 60, thread_id=f"t{number}")
            assert claim is not None
            parts = [{"message": f"reply {number}", "attachments": []}]
            record = record_of(result, parts, questions="full", settings="f")
            ledger.append("result", f"q{number}", *record, thread_id=f"t{number}")
            ledger.finish(claim, "posted", {"posts": [f"p{number}"], "channel": "c"}, thread_id=f"t{number}")
        library.close()
        for added in (True, False, True):
            ledger.append("feedback", "q0", {"person": "u1", "says": "down", "added": added, "post": "p0"})
        ledger.append("comment", "q0", {"person": "u1", "post": "p9"}, {"comment": "the wrong section"})
        claim = ledger.claim("q2", "bot", 60)
        assert claim is not None
        ledger.finish(claim, "failed", {"posts": []})
        ledger.close()
        return clinic

    def index(self) -> None:
        build([Folder(self.folder)], self.data, HashEmbedder())

    def library(self) -> Library:
        return Library.open(self.data, HashEmbedder())

    def ledger(self) -> Ledger:
        return Ledger.open(self.data / LEDGER_FILE, clock=self.clock, head_file=self.data / HEAD_FILE)

    def run(self, *arguments: str, config: str = "") -> Result:
        file = self.place / "bot.toml"
        file.write_text(
            f'[index]\nembedder = "hash"\n[[guidelines.folder]]\npath = "{self.folder}"\n{config}', encoding="utf-8"
        )
        # As __main__ does it: our errors become one sentence and an exit status.
        return CliRunner().invoke(main, ["--config", str(file), "--data", str(self.data), "audit", *arguments])

    def json(self, *arguments: str, **more: Any) -> Any:
        result = self.run(*arguments, "--json", **more)
        assert result.stdout, result.stderr
        return json.loads(result.stdout.splitlines()[0])


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Clinic:
    return Clinic.made(tmp_path_factory.mktemp("clinic"))


@pytest.fixture
def clinic(made_once: Clinic, tmp_path: Path) -> Clinic:
    shutil.copytree(made_once.place, tmp_path, dirs_exist_ok=True)
    return Clinic(tmp_path, tmp_path / "guidelines", tmp_path / "data", Clock(made_once.clock.now_s))


# --- listing and showing ------------------------------------------------------------------------------------


def test_the_list_names_every_exchange_with_what_came_of_it(clinic: Clinic) -> None:
    listed = clinic.json("list")
    assert [(one["question_id"], one["status"]) for one in listed] == [
        ("q0", "answered"),
        ("q1", "refused"),
        ("q2", "failed"),
    ]
    assert listed[0]["question"] == PANIC
    assert listed[0]["guidelines"] == ["triage.md"]
    assert (listed[0]["thumbs_up"], listed[0]["thumbs_down"]) == (0, 1), "what somebody took back does not count"
    assert listed[0]["reply_ids"] == "p0"


def test_the_list_can_be_narrowed_by_status_guideline_and_day(clinic: Clinic) -> None:
    assert [one["question_id"] for one in clinic.json("list", "--status", "refused")] == ["q1"]
    assert [one["question_id"] for one in clinic.json("list", "--guideline", "TRIAGE")] == ["q0"]
    assert clinic.json("list", "--guideline", "cardiology") == []
    assert [one["question_id"] for one in clinic.json("list", "--since", "2027-01-17")] == ["q1", "q2"]
    assert "2026-03-01" in clinic.run("list", "--since", "yesterday").stderr


def test_an_exchange_is_found_by_number_by_question_and_by_reply(clinic: Clinic) -> None:
    ledger = clinic.ledger()
    exchanges = exchanges_of(ledger.events())
    first = exchanges[0]
    for id in ("q0", "p0", str(first.number), str(first.events[0].seq), str(first.events[-1].seq)):
        assert find(exchanges, id) == [first], id
    assert find(exchanges, "nothing") == []
    assert find(exchanges, "9" * 30) == []
    ledger.close()


def test_a_page_holds_what_an_auditor_asks_for_and_compares_the_quote_with_the_file(clinic: Clinic) -> None:
    page = clinic.run("show", "q0").stdout
    for expected in (PANIC, "Gate: answer", "cited", "sha256", "reply 0", "(post p0)", "1 down", "the wrong section"):
        assert expected in page
    assert "the file is the same, byte for byte, and holds what was cited" in page
    assert "Passage [S1] as it was indexed:" in page


def test_a_file_that_has_changed_or_gone_since_is_told(clinic: Clinic) -> None:
    file = clinic.folder / "triage.md"
    text = file.read_text(encoding="utf-8")
    file.write_text(text + "\n## Appendix\n\nMore.\n", encoding="utf-8")
    (shown,) = clinic.json("show", "q0")
    assert {(one["file"], one["holds_text"], one["fits_hash"]) for one in shown["originals"]} == {
        ("changed", True, True)
    }
    file.write_text(text.replace("panic", "calm").replace("Panic", "Calm"), encoding="utf-8")
    assert "DOES NOT HOLD what was cited" in clinic.run("show", "q0").stdout
    file.unlink()
    assert "the file is not there any more" in clinic.run("show", "q0").stdout


def test_an_exchange_that_is_not_there_and_a_ledger_that_is_not_there_are_told_in_a_sentence(
    clinic: Clinic, tmp_path: Path
) -> None:
    result = clinic.run("show", "zz")
    assert result.exit_code == 2
    assert "audit list shows their numbers" in result.stderr
    clinic.data = tmp_path / "elsewhere"
    result = clinic.run("list")
    assert result.exit_code == 2
    assert "no ledger" in result.stderr
    assert not (tmp_path / "elsewhere").exists(), "looking must not make one"


@given(st.lists(st.text(alphabet="ab \n\t", max_size=8), max_size=5))
def test_a_document_holds_each_of_its_own_lines_whatever_the_white_space(lines: list[str]) -> None:
    assert holds_text("\n\n".join(lines), "\n".join(lines))


def test_a_shorter_number_does_not_stand_in_a_longer_one() -> None:
    assert holds_text("Give 5 mg.\n\nRepeat.", "Give 5 mg.")
    assert not holds_text("Give 15 mg.", "5 mg.")
    assert not holds_text("Give 5 mg", "Give 5 m")


# --- verifying ----------------------------------------------------------------------------------------------


def test_verify_says_so_and_ends_with_1_when_a_row_was_changed(clinic: Clinic) -> None:
    import sqlite3

    assert clinic.run("verify").exit_code == 0
    assert clinic.json("verify")["intact"] is True
    with sqlite3.connect(clinic.data / LEDGER_FILE) as db:
        db.execute("UPDATE events SET body = replace(body, 'answered', 'refused') WHERE seq = 2")
    result = clinic.run("verify")
    assert result.exit_code == 1
    assert "event 2: its body does not fit the hash" in result.stdout
    assert clinic.json("verify")["faults"][0]["seq"] == 2


def test_verify_finds_a_cut_tail_by_the_head_file_and_says_so_when_that_is_gone(clinic: Clinic) -> None:
    import sqlite3

    with sqlite3.connect(clinic.data / LEDGER_FILE) as db:
        db.execute("DELETE FROM events WHERE seq > 9")
    result = clinic.run("verify")
    assert result.exit_code == 1
    assert "event 10: the end was cut off" in result.stdout
    (clinic.data / HEAD_FILE).unlink()
    result = clinic.run("verify")
    assert result.exit_code == 1
    assert "whether the end was cut off cannot be told" in result.stdout


def test_a_ledger_that_never_had_a_head_file_verifies_with_a_word_on_what_cannot_be_told(
    clinic: Clinic, tmp_path: Path
) -> None:
    clinic.data = tmp_path / "bare"
    ledger = Ledger.open(clinic.data / LEDGER_FILE)
    ledger.append("result", "q1", {"status": "refused"})
    ledger.close()
    result = clinic.run("verify")
    assert result.exit_code == 0
    assert "cannot be told" in result.stderr


def test_a_ledger_that_comes_back_from_a_backup_still_verifies(clinic: Clinic, tmp_path: Path) -> None:
    back_up(clinic.data, tmp_path / "backup.tar.gz")
    clinic.data = tmp_path / "restored"
    restore(tmp_path / "backup.tar.gz", clinic.data)
    assert clinic.run("verify").exit_code == 0
    assert len(clinic.json("list")) == 3


def test_verify_takes_a_head_that_was_noted_elsewhere(clinic: Clinic) -> None:
    head = clinic.json("verify")["head"]
    assert clinic.run("verify", "--head", f"{head['seq']}:{head['hash']}").exit_code == 0
    assert clinic.run("verify", "--head", f"{head['seq']}:{'0' * 64}").exit_code == 1
    assert clinic.run("verify", "--head", f"99:{'0' * 64}").exit_code == 1
    assert clinic.run("verify", "--head", "nonsense").exit_code == 2


# --- taking out ---------------------------------------------------------------------------------------------


def test_erasing_takes_every_text_of_one_exchange_and_nothing_else(clinic: Clinic) -> None:
    result = clinic.run("erase", "q0")
    assert result.exit_code == 0
    for file in clinic.data.glob("ledger*"):
        content = file.read_bytes()
        assert b"panic episode" not in content
        assert b"the wrong section" not in content
    listed = clinic.json("list")
    assert listed[0]["question"] == "(erased)"
    assert (listed[0]["status"], listed[0]["best_score"] > 0) == ("answered", True), "what is counted stays"
    assert listed[1]["question"] == OFF_TOPIC
    assert clinic.run("verify").exit_code == 0
    assert "Nothing to be erased" in clinic.run("erase", "q0").stdout
    assert clinic.run("erase", "no-such").exit_code == 2


def test_a_text_that_a_reader_keeps_on_the_disk_is_told_and_gone_with_the_next_try(clinic: Clinic) -> None:
    import sqlite3

    ledger = Ledger.open(clinic.data / LEDGER_FILE, busy_timeout_s=0.01)
    reader = sqlite3.connect(clinic.data / LEDGER_FILE, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM events").fetchone()
    assert not erase(ledger, "q0").gone_from_disk
    reader.execute("ROLLBACK")
    reader.close()
    assert erase(ledger, "q0").gone_from_disk
    assert b"panic episode" not in b"".join(file.read_bytes() for file in clinic.data.glob("ledger.sqlite*"))
    ledger.close()


def test_one_comment_can_be_erased_by_its_post(clinic: Clinic) -> None:
    ledger = clinic.ledger()
    cleared = erase(ledger, "p9")
    (comment,) = ledger.events(kinds=["comment"])
    assert cleared.seqs == (comment.seq,)
    assert exchanges_of(ledger.events())[0].question == PANIC
    ledger.close()


def test_a_purge_takes_everything_that_is_older_and_the_chain_stays_verifiable(clinic: Clinic) -> None:
    ledger = clinic.ledger()
    clinic.clock.now_s += 9.5 * DAY_S
    assert purge(ledger, 0, clinic.clock.now_s).said_in is None, "0 days means for ever"
    assert purge(ledger, 30, clinic.clock.now_s).said_in is None
    cleared = purge(ledger, 10, clinic.clock.now_s)
    assert [event.body for event in ledger.events("q0", kinds=["result"])] == [None]
    assert ledger.events("q1", kinds=["result"])[0].texts is not None
    assert verify(ledger.rows()).intact
    assert set(cleared.seqs) == {1, 2, 3}
    assert purge(ledger, 10, clinic.clock.now_s).said_in is None, "what is empty is not purged again"
    clinic.clock.now_s += 100 * DAY_S
    purge(ledger, 10, clinic.clock.now_s)
    clinic.clock.now_s += 100 * DAY_S
    purge(ledger, 10, clinic.clock.now_s)
    assert verify(ledger.rows()).intact, "the events that say what was purged are never purged themselves"
    assert {one.status for one in exchanges_of(ledger.events())} == {"purged", "failed"}
    ledger.close()


def test_a_purge_needs_a_number_of_days(clinic: Clinic) -> None:
    result = clinic.run("purge")
    assert result.exit_code == 2
    assert "retention_days" in result.stderr
    assert clinic.json("purge", config="[ledger]\nretention_days = 36500\n") == {
        "purged": [],
        "said_in": None,
        "gone_from_disk": True,
    }


# --- exporting ----------------------------------------------------------------------------------------------


def test_the_table_has_a_line_for_every_exchange_and_can_be_read_back(clinic: Clinic) -> None:
    file = clinic.place / "out.csv"
    assert clinic.run("export", str(file)).exit_code == 0
    assert file.stat().st_mode & 0o077 == 0, "it holds what people asked"
    with file.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["question_id"], row["status"]) for row in rows] == [
        ("q0", "answered"),
        ("q1", "refused"),
        ("q2", "failed"),
    ]
    assert rows[0]["question"] == PANIC
    assert rows[0]["comments"] == "the wrong section"


def test_json_lines_hold_enough_to_verify_the_chain_elsewhere(clinic: Clinic) -> None:
    output = clinic.run("export", "-", "--format", "jsonl").stdout
    rows = [json.loads(line) for line in output.splitlines()]
    assert verify(rows).intact
    rows[3]["question_id"] = "q9"
    assert not verify(rows).intact
    assert rows[1]["content"]["texts"]["question"] == PANIC


@given(st.text(alphabet=st.sampled_from("=+-@|＝＋－＠\t\r\n \u00a0\ufeffa1'"), max_size=6))
def test_no_cell_begins_like_a_formula(text: str) -> None:
    cell = defused(text)
    assert cell.removeprefix("'") == text.removeprefix("'") or cell == f"'{text}"
    assert not cell or cell[0] not in "=+-@|\t\r\n＝＋－＠"
    assert not cell.lstrip() or cell.lstrip()[0] not in "=+-@＝＋－＠"


def test_a_question_that_is_a_formula_reaches_no_spreadsheet(clinic: Clinic) -> None:
    ledger = clinic.ledger()
    body = {"status": "refused"}
    ledger.append("result", "q5", body, {"question": '=HYPERLINK("http://x","y")', "read_as": "@SUM(1)"})
    lines = "".join(csv_lines(select(exchanges_of(ledger.events()), status="refused")))
    (row,) = [row for row in csv.DictReader(io.StringIO(lines)) if row["question_id"] == "q5"]
    assert row["question"].startswith("'=")
    assert row["read_as"].startswith("'@")
    ledger.close()


# --- affected answers ---------------------------------------------------------------------------------------


def affected_now(clinic: Clinic, guideline: str = "triage") -> list[Any]:
    found: list[Any] = clinic.json("affected", guideline)["affected"]
    return found


def test_an_answer_is_affected_once_its_passage_has_changed_and_not_before(clinic: Clinic) -> None:
    assert affected_now(clinic) == []
    file = clinic.folder / "triage.md"
    text = file.read_text(encoding="utf-8")
    file.write_text(text + "\n\n## Unrelated\n\nSomething else entirely.\n", encoding="utf-8")
    clinic.index()
    assert affected_now(clinic) == [], "a change elsewhere in the file concerns no one"
    file.write_text(text.replace("breath", "BREATH"), encoding="utf-8")
    assert text != file.read_text(encoding="utf-8")
    clinic.index()
    (one,) = affected_now(clinic)
    assert one["question_id"] == "q0"
    assert one["sources"][0]["change"] == "changed"
    assert affected_now(clinic, "cardiology") == []


def test_an_answer_is_affected_when_its_guideline_is_not_served_any_more_but_not_by_a_new_name(
    clinic: Clinic,
) -> None:
    file = clinic.folder / "triage.md"
    renamed = file.rename(clinic.folder / "renamed.md")
    clinic.index()
    assert affected_now(clinic) == []
    renamed.rename(clinic.place / "gone.md")
    (clinic.folder / "other.md").write_text("# Other\n\n## A\n\nText.\n", encoding="utf-8")
    build([Folder(clinic.folder)], clinic.data, HashEmbedder(), _confirmed())
    (one,) = affected_now(clinic)
    assert one["sources"][0]["change"] == "withdrawn"


def _confirmed() -> Any:
    from retrieval.indexing import IndexOptions

    return IndexOptions(confirm_removals=True)


def test_the_threads_of_affected_answers_are_told_once(tmp_path: Path) -> None:
    async def run() -> None:
        async with a_bot(tmp_path, FakeAnswerer()) as (server, presence, _):
            question = server.post("ann", str(server.channel("triage")["id"]), "@guidebot what is a hypo?")
            await until(lambda: replies_to(server, question))
            gone = server.post("ann", str(server.channel("triage")["id"]), "@guidebot and a hyper?")
            await until(lambda: replies_to(server, gone))
            ledger = presence.desk.ledger.ledger
            for post in (question, gone):
                source = {"guideline": "d.md", "title": "Diabetes @all", "tag": "S1", "version": "2", "cited": True}
                body = {"status": "answered", "sources": [source]}
                ledger.append("result", post["id"], body, {}, thread_id=post["id"])
            posting.delete(server.world, server.user("ann"), server.world.posts[gone["id"]])
            found = affected_by(exchanges_of(ledger.events()), "diabetes", Served({"d.md": "3"}))
            assert {one.exchange.question_id for one in found} == {question["id"], gone["id"]}
            first = await tell_threads(found, ledger, presence.client)
            assert (first.told, first.before, first.gone) == (1, 0, 1)
            again = await tell_threads(found, ledger, presence.client)
            assert (again.told, again.before, again.gone) == (0, 2, 0)
            (notice,) = [post for post in bot_posts(server) if mark(post).get("notice") == "replaced"]
            assert notice["root_id"] == question["id"]
            assert "has been replaced" in notice["message"]
            assert "version 2 then, now 3" in notice["message"]
            assert display_line("Diabetes @all") in notice["message"], "a title must not call everybody"

    asyncio.run(run())


def test_the_command_tells_threads_with_the_configured_account(clinic: Clinic) -> None:
    async def run() -> None:
        server = SandboxServer()
        url = await server.start()
        question = server.post("ann", str(server.channel("triage")["id"]), "@guidebot panic?")
        ledger = clinic.ledger()
        first = ledger.events("q0", kinds=["result"])[0]
        ledger.append("result", question["id"], first.body or {}, first.texts, thread_id=question["id"])
        ledger.close()
        file = clinic.folder / "triage.md"
        file.write_text(file.read_text(encoding="utf-8").replace("breath", "BREATH"), encoding="utf-8")
        clinic.index()
        config = f'[mattermost]\nurl = "{url}"\ntoken = "{server.token_of("guidebot")}"\n'
        for told, before in ((1, 0), (0, 2)):
            result = await asyncio.to_thread(clinic.run, "affected", "triage", "--post", "--json", config=config)
            posted = json.loads(result.stdout)["posted"]
            assert (posted["told"], posted["before"]) == (told, before)
        (notice,) = bot_posts(server)
        assert notice["root_id"] == question["id"]
        assert clinic.run("verify").exit_code == 0
        await server.stop()

    asyncio.run(run())
