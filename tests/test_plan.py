"""The plan of an index run: by content, and nothing is lost without being said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.plan import FIRST_PAUSE_S, LONGEST_PAUSE_S, Failure, File, Known, Plan, compare, over, pause_s

NOW_S = 1_000_000.0


def file(name: str, sha256: str = "aa", *, folder: str = "/g", described: str = "", problem: str = "") -> File:
    return File(name, folder, sha256, described, problem)


def known(name: str, sha256: str = "aa", *, folder: str = "/g", described: str = "") -> Known:
    return Known(name, folder, sha256, described)


def failure(name: str, sha256: str, attempts: int = 1, tried_s: float = NOW_S, described: str = "") -> Failure:
    return Failure(name, sha256, described, "is damaged", None, attempts, tried_s, tried_s)


def test_a_first_run_adds_everything() -> None:
    assert compare([file("b"), file("a")], [], {}, NOW_S) == Plan(added=("a", "b"))


def test_same_content_is_unchanged_and_other_content_is_changed() -> None:
    plan = compare([file("a"), file("b", "new")], [known("a"), known("b", "old")], {}, NOW_S)
    assert (plan.unchanged, plan.changed) == (("a",), ("b",))


def test_a_changed_sidecar_makes_a_guideline_changed() -> None:
    assert compare([file("a", described="2")], [known("a", described="1")], {}, NOW_S).changed == ("a",)


def test_a_file_under_a_new_name_is_renamed_and_no_loss() -> None:
    plan = compare([file("new", "x")], [known("old", "x")], {}, NOW_S)
    assert plan == Plan(renamed=(("old", "new"),))


def test_a_copy_of_a_file_that_is_still_there_is_added() -> None:
    plan = compare([file("a", "x"), file("copy", "x")], [known("a", "x")], {}, NOW_S)
    assert (plan.added, plan.renamed, plan.unchanged) == (("copy",), (), ("a",))


def test_two_equal_files_that_moved_are_two_renames_that_keep_their_last_part() -> None:
    plan = compare([file("new/b", "x"), file("new/a", "x")], [known("a", "x"), known("b", "x")], {}, NOW_S)
    assert plan.renamed == (("a", "new/a"), ("b", "new/b"))


def test_a_removed_file_is_a_loss_of_its_folder() -> None:
    before = [known("a"), known("b", "bb"), known("c", "cc", folder="/h")]
    plan = compare([file("a"), file("c", "cc", folder="/h")], before, {}, NOW_S)
    assert plan.removed == ("b",)
    assert [(loss.folder, loss.lost, loss.before) for loss in plan.losses] == [("/g", 1, 2)]


def test_a_third_is_allowed_and_more_must_be_confirmed() -> None:
    before = [known(str(n), str(n)) for n in range(3)]
    one = compare([file(str(n), str(n)) for n in range(2)], before, {}, NOW_S)
    two = compare([file("0", "0")], before, {}, NOW_S)
    assert over(one.losses, 0.34) == ()
    assert [loss.lost for loss in over(two.losses, 0.34)] == [2]


def test_a_loss_in_a_small_folder_does_not_hide_in_a_large_one() -> None:
    before = [known(f"large{n}", f"l{n}") for n in range(100)] + [
        known(f"s{n}", f"s{n}", folder="/s") for n in range(4)
    ]
    plan = compare([file(f"large{n}", f"l{n}") for n in range(100)], before, {}, NOW_S)
    assert [loss.folder for loss in over(plan.losses, 0.34)] == ["/s"]


def test_an_unreadable_file_is_a_loss_only_where_its_passages_are_not_kept() -> None:
    files = [file("a", "", problem="may not be read")]
    assert compare(files, [known("a")], {}, NOW_S).losses == ()
    assert compare(files, [known("a")], {}, NOW_S, keep_last_good=False).losses[0].lost == 1


def test_an_unreadable_file_is_named_and_not_removed() -> None:
    plan = compare([file("a", "", problem="may not be read")], [known("a")], {}, NOW_S)
    assert [(p.file, p.reason) for p in plan.unreadable] == [("a", "may not be read")]
    assert plan.removed == ()


def test_a_failed_file_rests_and_is_tried_again_after_its_pause() -> None:
    failed = {"a": failure("a", "bad")}
    before = [known("a", "good")]
    resting = compare([file("a", "bad")], before, failed, NOW_S + FIRST_PAUSE_S - 1)
    due = compare([file("a", "bad")], before, failed, NOW_S + FIRST_PAUSE_S)
    assert (resting.failing, resting.changed) == (("a",), ())
    assert (due.failing, due.changed) == ((), ("a",))


def test_a_failed_file_that_was_mended_is_tried_at_once() -> None:
    assert compare([file("a", "mended")], [], {"a": failure("a", "bad")}, NOW_S).added == ("a",)


def test_a_failed_file_whose_sidecar_was_mended_is_tried_at_once() -> None:
    assert compare([file("a", "bad", described="2")], [], {"a": failure("a", "bad")}, NOW_S).added == ("a",)


def test_a_failed_file_that_was_put_back_as_it_was_is_unchanged() -> None:
    plan = compare([file("a", "good")], [known("a", "good")], {"a": failure("a", "bad")}, NOW_S)
    assert plan.unchanged == ("a",)


def test_a_clock_that_went_back_does_not_stop_the_retries() -> None:
    assert compare([file("a", "bad")], [], {"a": failure("a", "bad")}, NOW_S - 86_400).added == ("a",)


@given(st.integers(1, 10_000))
def test_pauses_grow_and_end_at_a_week(attempts: int) -> None:
    assert FIRST_PAUSE_S <= pause_s(attempts) <= pause_s(attempts + 1) <= LONGEST_PAUSE_S


names = st.sampled_from("abcdefgh")
states = st.dictionaries(names, st.tuples(st.sampled_from(("1", "2", "3")), st.booleans()), max_size=8)


@given(states, states, states)
def test_every_name_is_in_exactly_one_place(
    now: dict[str, tuple[str, bool]], before: dict[str, tuple[str, bool]], failed: dict[str, tuple[str, bool]]
) -> None:
    files = [file(name, sha, problem="no" if bad else "") for name, (sha, bad) in now.items()]
    plan = compare(
        files,
        [known(name, sha) for name, (sha, _) in before.items()],
        {name: failure(name, sha) for name, (sha, _) in failed.items()},
        NOW_S + 1,
    )
    new = [pair[1] for pair in plan.renamed]
    old = [pair[0] for pair in plan.renamed]
    here = [*plan.added, *plan.changed, *plan.unchanged, *plan.failing, *new, *(one.file for one in plan.unreadable)]
    assert sorted(here) == sorted(now)
    assert sorted([*plan.removed, *old]) == sorted(set(before) - set(now))
    assert set(plan.to_read) <= set(now)
