"""Versions: of two only the current one, and only for those who may see it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.access import Viewer, may_see
from retrieval.guideline import Metadata, Status
from retrieval.versions import covers, is_later, review_state, same_titles, standings

TODAY = date(2026, 5, 1)
LATER = date(2026, 5, 2)
EARLIER = date(2026, 4, 1)


def served(**guidelines: Metadata) -> set[str]:
    return {name for name, standing in standings(guidelines, TODAY).items() if standing.served}


def test_drafts_and_retired_guidelines_are_not_served() -> None:
    assert served(a=Metadata("A", status="draft"), b=Metadata("B", status="retired"), c=Metadata("C")) == {"c"}


def test_a_guideline_waits_for_its_day_and_the_old_version_answers_until_then() -> None:
    old, new = Metadata("A", version="1"), Metadata("A", version="2", effective=LATER)
    assert served(old=old, new=new) == {"old"}
    standing = standings({"old": old, "new": new}, LATER)
    assert (standing["old"].kind, standing["new"].kind) == ("superseded", None)


def test_on_its_effective_day_a_guideline_is_served() -> None:
    assert served(a=Metadata("A", effective=TODAY)) == {"a"}


def test_a_guideline_that_is_named_by_another_is_replaced() -> None:
    assert served(a=Metadata("A"), b=Metadata("B", supersedes=("a",))) == {"b"}
    assert served(a=Metadata("Old Title"), b=Metadata("B", supersedes=("old  title",))) == {"b"}


def test_a_draft_or_waiting_or_retired_successor_replaces_nothing() -> None:
    assert served(a=Metadata("A"), b=Metadata("B", supersedes=("a",), status="draft")) == {"a"}
    assert served(a=Metadata("A"), b=Metadata("B", supersedes=("a",), effective=LATER)) == {"a"}
    assert served(a=Metadata("A"), b=Metadata("B", supersedes=("a",), status="retired")) == {"a"}


def test_of_two_with_the_same_title_the_later_date_wins_over_the_higher_version() -> None:
    one = Metadata("A", version="9", effective=date(2024, 1, 1))
    two = Metadata("a", version="1", effective=date(2025, 1, 1))
    assert served(one=one, two=two) == {"two"}


def test_versions_are_compared_as_numbers() -> None:
    assert served(one=Metadata("A", version="2.9"), two=Metadata("A", version="v2.10")) == {"two"}
    assert not is_later(Metadata("A", version="2.0"), Metadata("A", version="2"))


def test_two_with_the_same_title_and_nothing_to_tell_them_apart_are_both_served_and_named() -> None:
    guidelines = {"one": Metadata("A"), "two": Metadata("A"), "three": Metadata("B")}
    assert served(**guidelines) == {"one", "two", "three"}
    assert same_titles(guidelines) == (("one", "two"),)


def test_superseding_the_own_title_means_the_versions_before() -> None:
    versions = {f"v{n}": Metadata("A", version=str(n), supersedes=("A",)) for n in (1, 2, 3)}
    assert served(**versions) == {"v3"}


def test_guidelines_that_replace_each_other_in_a_circle_stay() -> None:
    circle = {n: Metadata(n, supersedes=(m,)) for n, m in (("a", "b"), ("b", "c"), ("c", "a"))}
    assert served(**circle) == {"a", "b", "c"}


def test_a_chain_leaves_the_last() -> None:
    assert served(a=Metadata("A"), b=Metadata("B", supersedes=("A",)), c=Metadata("C", supersedes=("B",))) == {"c"}


def test_a_version_for_some_replaces_the_one_for_all_only_for_them() -> None:
    standing = standings({"old": Metadata("A"), "new": Metadata("N", supersedes=("A",), audience=("team:icu",))}, TODAY)
    assert standing["old"].served
    assert standing["old"].superseded_by == ("new",)


def test_the_same_title_for_another_audience_is_another_guideline() -> None:
    guidelines = {
        "a": Metadata("Sepsis", version="1", audience=("team:adults",)),
        "b": Metadata("Sepsis", version="2", audience=("team:children",)),
    }
    assert served(**guidelines) == {"a", "b"}
    assert same_titles(guidelines) == ()


def test_a_review_date_has_passed_only_on_the_day_after() -> None:
    assert review_state(Metadata("A"), TODAY) == "none"
    assert review_state(Metadata("A", review_by=TODAY), TODAY) == "ahead"
    assert review_state(Metadata("A", review_by=EARLIER), TODAY) == "past"


labels = st.lists(st.sampled_from(("team:a", "team:B", "person:x", "everyone")), max_size=3).map(tuple)
readers = st.lists(st.lists(st.sampled_from(("team:a", "team:b", "person:x"))), max_size=3)


@given(labels, labels, readers, st.booleans())
def test_what_covers_an_audience_is_seen_by_all_of_it(
    new: tuple[str, ...], old: tuple[str, ...], people: list[list[str]], deny: bool
) -> None:
    viewer = Viewer.of(people)
    if covers(new, old) and may_see(old, viewer, deny_by_default=deny):
        assert may_see(new, viewer, deny_by_default=deny)


titles = st.sampled_from(("A", "B", "C"))
known = st.builds(
    Metadata,
    title=titles,
    version=st.sampled_from((None, "1", "2")),
    effective=st.sampled_from((None, EARLIER, TODAY, LATER)),
    status=st.sampled_from(("current", "draft", "retired")),
    supersedes=st.lists(st.sampled_from(("A", "B", "n0", "n1")), max_size=2).map(tuple),
    audience=labels,
)


@given(st.lists(known.map(lambda one: replace(one, audience=())), max_size=6))
def test_something_is_served_wherever_something_could_be(metadata: list[Metadata]) -> None:
    status: Status = "current"
    guidelines = {f"n{index}": one for index, one in enumerate(metadata)}
    found = standings(guidelines, TODAY)
    able = [one for one in metadata if one.status == status and (one.effective is None or one.effective <= TODAY)]
    assert any(one.served for one in found.values()) == bool(able)
    for name, one in found.items():
        assert bool(one.reason) == (not one.served), name


@settings(max_examples=500)
@given(st.lists(known, max_size=6), readers)
def test_a_guideline_that_may_not_be_seen_changes_nothing_for_the_reader(
    metadata: list[Metadata], people: list[list[str]]
) -> None:
    viewer = Viewer.of(people)
    guidelines = {f"n{index}": one for index, one in enumerate(metadata)}
    visible = {name: one for name, one in guidelines.items() if may_see(one.audience, viewer)}

    def seen(everything: dict[str, Metadata]) -> set[str]:
        found = standings(everything, TODAY)
        return {
            name
            for name in visible
            if found[name].served and not any(new in visible for new in found[name].superseded_by)
        }

    assert seen(guidelines) == seen(visible)
