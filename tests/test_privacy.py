"""The screen: what it does with a text, whatever stands in it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.privacy import Detail, find_details, screen

TEXT = "Pt John Smith, mobile 07700 900123: dose of amoxicillin?"


def found(text, names=()):
    return [(text[one.start : one.end], one.kind) for one in find_details(text, names)]


def test_block_stops_the_text_and_keeps_nothing_of_it():
    screened = screen(TEXT)
    assert screened.blocked
    assert screened.text == ""
    assert screened.kinds == ("name", "phone number")


def test_redact_puts_the_kind_in_the_place_of_each_detail():
    screened = screen(TEXT, "redact")
    assert not screened.blocked
    assert screened.text == "Pt [name], mobile [phone number]: dose of amoxicillin?"


def test_off_looks_at_nothing():
    assert screen(TEXT, "off").text == TEXT
    assert screen(TEXT, "off").details == ()


@pytest.mark.parametrize("mode", ["block", "redact", "off"])
def test_a_text_without_details_goes_through_as_it_was(mode):
    text = "What is the dose of amoxicillin in a 5 year old?"
    assert screen(text, mode) == screen(text, "off")


def test_places_are_those_of_the_original_text():
    text = "ＮＨＳ no ９４３\u200b４７６\u00a05919 for the pt"
    (detail,) = find_details(text)
    assert text[detail.start : detail.end] == "９４３\u200b４７６\u00a05919"
    assert detail.kind == "NHS or CHI number"


@pytest.mark.parametrize(
    "text",
    [
        "call 07700\u200b900\u200b123",
        "call ０７７００ ９００１２３",
        "call 07700\u2013900\u2013123",
        "call 07700\u00a0900\u202f123",
        "call 07700\u2011900123",
        "call 0\u200d7\u200d7\u200d0\u200d0\u200d9\u200d0\u200d0\u200d1\u200d2\u200d3",
        "call 𝟎𝟕𝟕𝟎𝟎 𝟗𝟎𝟎𝟏𝟐𝟑",
        "call ٠٧٧٠٠ ٩٠٠١٢٣",
    ],
)
def test_look_alikes_do_not_hide_a_number(text):
    assert [kind for _, kind in found(text)] == ["phone number"]


@pytest.mark.parametrize(
    "text", ["@ann.okafor dose of amoxicillin?", "@guideline-bot panic?", "ask (@john.smith) first"]
)
def test_a_mention_is_no_detail(text):
    assert found(text) == []


def test_an_e_mail_address_is_no_mention():
    assert found("write to jane.roe@example.org") == [("jane.roe@example.org", "e-mail address")]


def test_colleagues_may_be_named_and_others_may_not():
    text = "Dr Ngozi Okafor asks about Maria Lopez"
    assert found(text, names=["ngozi.okafor"]) == [("Maria Lopez", "name")]


PIECES = (
    "patient pt Mr John Smith 943 476 5919 07700 900123 dob 12/03/1956 MRN: A123456 a@b.org 12 High Street LS1 4AB "
    "\u200b \u00a0 ４５ , ( ) @ann [name] 王伟 o'brien dose mg 5"
)
CLINICAL = st.sampled_from(PIECES.split(" "))


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(max_size=200), st.lists(CLINICAL, max_size=25).map(" ".join)))
def test_spans_are_in_order_apart_and_within_the_text(text):
    details = find_details(text)
    places = [place for one in details for place in (one.start, one.end)]
    assert places == sorted(places)
    assert all(0 <= one.start < one.end <= len(text) and one.kind for one in details)


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(max_size=200), st.lists(CLINICAL, max_size=25).map(" ".join)))
def test_a_redacted_text_holds_nothing_more_to_redact(text):
    once = screen(text, "redact")
    again = screen(once.text, "redact")
    assert again.text == once.text
    assert again.details == ()


def test_a_detail_is_a_plain_value():
    assert Detail(0, 1, "name") == Detail(0, 1, "name")


@pytest.mark.parametrize(
    "number", ["+33 (0)6 37 30 21 57", "492.217.4218x0967", "(0306) 999 0074", "4055756682", "+3190 1933501"]
)
def test_ringing_a_number_is_neither_a_guideline_s_number_nor_a_street(number: str) -> None:
    text = f"Please ring {number} re discharge meds"
    (detail,) = find_details(text)
    assert (text[detail.start : detail.end], detail.kind) == (number, "phone number")
