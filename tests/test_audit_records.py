"""What the ledger keeps of an exchange: all that an auditor asks for, and no more of the question than is set."""

from __future__ import annotations

import json
from dataclasses import replace

from bot.exchange import Quote, Result, SentenceCheck
from bot.records import passage_sha256, question_sha256, record_of, told
from retrieval.found import Reading, Verdict
from tests.doubles_answering import HYPO, METFORMIN, a_source

PARTS = [{"message": "Read as: what is zanzibar?\n\nTreat with 15 g.", "attachments": []}]
ANSWERED = Result(
    question="what is zz?",
    reading=Reading("what is zz?", "what is zanzibar?", (("zz", "zanzibar"),)),
    status="answered",
    mode="written",
    answer="Treat with 15 g [S1].",
    quotes=(Quote("S1", HYPO, True),),
    sources=(
        replace(a_source("S1", HYPO), reason="holds a dose for zanzibar"),
        a_source("S2", METFORMIN, gate=0.2, kept=False),
    ),
    verdict=Verdict(True, 0.8, 0.5, "S1 carries zanzibar.", None, ("dose",)),
    checks=(SentenceCheck("Treat with 15 g.", ("S1",), (("number", "15"),)),),
    model="llama3.1:8b",
    model_digest="46e0c10c039e",
    generation="000001-ab",
    timings_ms={"embed": 1.25},
)


def test_an_answer_is_kept_with_everything_it_rests_on() -> None:
    body, texts = record_of(ANSWERED, PARTS, questions="full", settings="f00d")
    assert (body["status"], body["mode"], body["model"], body["model_digest"]) == (
        "answered",
        "written",
        "llama3.1:8b",
        "46e0c10c039e",
    )
    assert (body["settings"], body["generation"], body["timings_ms"]) == ("f00d", "000001-ab", {"embed": 1.2})
    assert body["gate"]["min_score"] == 0.5
    first, second = body["sources"]
    assert first["cited"]
    assert not second["cited"]
    assert first["text_sha256"] == passage_sha256(HYPO)
    assert (first["version"], first["scores"]["gate"]) == ("2", 0.8)
    assert texts["passages"] == {"S1": HYPO}, "the text of what was cited is kept, that of other candidates is not"
    assert texts["parts"] == PARTS
    assert (texts["question"], texts["read_as"]) == ("what is zz?", "what is zanzibar?")
    assert texts["checks"] == [{"sentence": "Treat with 15 g.", "problems": [["number", "15"]]}]
    json.dumps([body, texts])


def test_a_body_never_repeats_the_questions_words_so_that_erasing_the_texts_is_enough() -> None:
    body, _ = record_of(ANSWERED, PARTS, questions="full", settings="")
    assert "zanzibar" not in json.dumps(body)


def test_reasons_are_put_back_for_those_who_may_read_them() -> None:
    body, texts = record_of(ANSWERED, PARTS, questions="full", settings="")
    whole = told(body, texts)
    assert whole["gate"]["reason"] == "S1 carries zanzibar."
    assert whole["sources"][0]["reason"] == "holds a dose for zanzibar"
    assert told(body, None)["gate"]["reason"] == "", "once erased they are gone"


def test_with_questions_as_hash_no_word_of_the_question_is_kept() -> None:
    body, texts = record_of(ANSWERED, PARTS, questions="hash", settings="")
    kept = json.dumps([body, texts])
    assert "zanzibar" not in kept
    assert "what is zz" not in kept
    assert texts["question_sha256"] == question_sha256(texts["question_salt"], "what is zz?")
    _, again = record_of(ANSWERED, PARTS, questions="hash", settings="")
    assert again["question_sha256"] != texts["question_sha256"], "each with a salt of its own"
    assert "Treat with 15 g." in texts["parts"][0]["message"]


def test_of_a_blocked_question_only_the_kinds_of_detail_are_kept() -> None:
    blocked = Result("", Reading("", ""), "blocked", details=("name", "nhs number"), reason="It holds a name.")
    body, texts = record_of(blocked, [{"message": "Not answered.", "attachments": []}], questions="full", settings="")
    assert body["details"] == ["name", "nhs number"]
    assert texts == {"parts": [{"message": "Not answered.", "attachments": []}]}
