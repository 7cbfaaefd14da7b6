"""Which questions speak of an emergency."""

from __future__ import annotations

import pytest

from bot.answering.emergency import speaks_of_emergency
from bot.settings import AnswerSettings

WORDS = AnswerSettings().emergency_words


@pytest.mark.parametrize(
    "question",
    [
        "Patient is UNRESPONSIVE",
        "she's not  breathing!",
        "He is not\nbreathing",
        "sudden chest-pain",
        "two strokes this year",
        "he overdosed on paracetamol",
        "collapsed, what now?",
        "\u200bchest\u202e pain",
        "(anaphylaxis)",
    ],
)
def test_a_word_or_phrase_of_the_site_counts_whatever_its_case_or_dress(question):
    assert speaks_of_emergency(question, WORDS)


@pytest.mark.parametrize(
    "question", ["", "keystroke", "benefitting from", "heatstrokes2", "What is the dose of aspirin?"]
)
def test_a_part_of_another_word_does_not(question):
    assert not speaks_of_emergency(question, WORDS)


def test_a_site_may_have_other_words_or_none():
    assert speaks_of_emergency("code blue", ("Code Blue",))
    assert not speaks_of_emergency("collapsed", ())
    assert not speaks_of_emergency("collapsed", ("",))
