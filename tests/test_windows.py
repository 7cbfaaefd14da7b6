"""Windows: short enough for the model, the path in front, every word seen."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.guideline import Block, Metadata, Passage
from retrieval.windows import divided, shortened, windows_of


def count_words(text: str) -> int:
    """Count as a model with one token for four letters of a word and two of its own."""
    return 2 + sum(-(-len(word) // 4) for word in text.split())


def passage(text: str, path: tuple[str, ...] = ("Low glucose",), title: str = "Diabetes") -> Passage:
    block = Block("paragraph", text)
    return Passage("id", "a.md", Metadata(title), path, 0, (block,), text)


def test_a_short_passage_is_one_window_with_title_and_path_in_front() -> None:
    assert windows_of(passage("Give glucose.", ("Low glucose", "Treatment")), count_words, 64) == (
        "Diabetes. Low glucose. Treatment. Give glucose.",
    )


def test_a_long_passage_is_divided_at_the_ends_of_sentences_and_lines() -> None:
    text = "One two three four five. Six seven eight nine.\n- ten eleven twelve\n- thirteen fourteen"
    windows = windows_of(passage(text), count_words, 24)
    assert len(windows) > 1
    assert all(window.startswith("Diabetes. Low glucose. ") for window in windows)
    bodies = [window.removeprefix("Diabetes. Low glucose. ") for window in windows]
    whole = {"One two three four five.", "Six seven eight nine.", "- ten eleven twelve", "- thirteen fourteen"}
    assert all(line in whole for body in bodies for line in body.split("\n"))


def test_a_decimal_or_an_abbreviation_does_not_end_a_window() -> None:
    text = "Give 0.5 mg i.m. approx. every 5 min, e.g. into the thigh. Then wait."
    assert "\n".join(divided(text, count_words, 22)).split("\n") == [
        "Give 0.5 mg i.m. approx. every 5 min, e.g. into the thigh.",
        "Then wait.",
    ]


def test_no_window_is_a_short_rest() -> None:
    text = " ".join(f"Sentence number {n:04d}." for n in range(41))
    sizes = [count_words(window) for window in windows_of(passage(text), count_words, 64)]
    assert min(sizes) > 0.6 * max(sizes)


def test_a_path_longer_than_half_a_window_loses_its_far_end() -> None:
    path = tuple(f"Chapter with a long heading {n}" for n in range(30))
    (window,) = windows_of(passage("Give glucose.", path), count_words, 64)
    assert "long heading 29. Give glucose." in window
    assert "Diabetes" not in window
    assert count_words(window) <= 64


def test_an_endless_word_is_still_divided() -> None:
    windows = windows_of(passage("x" * 20_000), count_words, 32)
    assert all(count_words(window) <= 32 for window in windows)
    assert sum(window.count("x") for window in windows) == 20_000


def test_a_text_without_words_has_one_window() -> None:
    assert windows_of(passage("", ()), count_words, 32) == ("Diabetes.",)


def test_a_passage_without_title_or_path_has_no_empty_lead() -> None:
    assert windows_of(passage("Text.", (), ""), count_words, 32) == ("Text.",)


words = st.text(alphabet="abcXYZ09.,;!?≤é-|", min_size=1, max_size=30)
bodies = st.lists(st.tuples(words, st.sampled_from((" ", "\n", ". ", "\n\n", "  "))), max_size=120).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)
paths = st.lists(words, max_size=4).map(tuple)


@settings(max_examples=300)
@given(bodies, paths, st.integers(16, 80))
def test_windows_fit_and_hold_every_letter_in_order(text: str, path: tuple[str, ...], max_tokens: int) -> None:
    windows = windows_of(passage(text, path), count_words, max_tokens)
    assert windows
    assert all(count_words(window) <= max_tokens for window in windows)
    parts = divided(text, count_words, max_tokens)
    assert "".join("".join(parts).split()) == "".join(text.split())


@given(bodies, st.integers(3, 60))
def test_whole_words_are_kept_where_each_fits(text: str, extra: int) -> None:
    longest = max((count_words(word) for word in text.split()), default=2)
    parts = divided(text, count_words, longest + extra)
    assert " ".join(parts).split() == text.split()


@given(words, st.integers(8, 40))
def test_a_lead_is_shortened_until_it_fits(lead: str, max_tokens: int) -> None:
    assert count_words(shortened(" ".join([lead] * 30), count_words, max_tokens)) <= max_tokens
