"""The fair queue."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bot.waiting import FairQueue


def drained(queue: FairQueue[object]) -> list[object]:
    taken = []
    while (item := queue.take()) is not None:
        taken.append(item)
    return taken


def test_people_take_turns_however_many_questions_one_of_them_has() -> None:
    queue: FairQueue[object] = FairQueue(100, 100)
    for number in range(3):
        queue.put("ann", ("ann", number))
    queue.put("ben", ("ben", 0))
    queue.put("zoe", ("zoe", 0))
    assert drained(queue) == [("ann", 0), ("ben", 0), ("zoe", 0), ("ann", 1), ("ann", 2)]


def test_a_full_queue_says_so_and_one_person_cannot_fill_it() -> None:
    queue: FairQueue[object] = FairQueue(3, 2)
    assert queue.put("ann", 1) is None
    assert queue.put("ann", 2) is None
    assert queue.put("ann", 3) == "person_full"
    assert queue.put("ben", 4) is None
    assert queue.put("zoe", 5) == "full"
    assert len(queue) == 3


def test_who_has_been_served_goes_to_the_end_of_the_row() -> None:
    queue: FairQueue[object] = FairQueue(100, 100)
    queue.put("ann", "a1")
    queue.put("ann", "a2")
    assert queue.take() == "a1"
    queue.put("ben", "b1")
    assert drained(queue) == ["a2", "b1"]


people = st.lists(st.sampled_from("abcde"), max_size=40)


@given(people)
def test_the_place_that_is_told_is_the_turn_that_comes(order: list[str]) -> None:
    queue: FairQueue[object] = FairQueue(100, 100)
    items = [(person, number) for number, person in enumerate(order)]
    for item in items:
        queue.put(item[0], item)
    told = {item: queue.place(item) for item in items}
    assert [told[item] for item in drained(queue)] == list(range(1, len(items) + 1))  # type: ignore[index]


@given(people)
def test_nobody_waits_for_more_than_one_turn_of_each_other_person(order: list[str]) -> None:
    queue: FairQueue[object] = FairQueue(100, 100)
    for number, person in enumerate(order):
        queue.put(person, (person, number))
    served: Counter[str] = Counter()
    for item in drained(queue):
        person = item[0]  # type: ignore[index]
        served[person] += 1
        waiting = {other: order.count(other) - served[other] for other in set(order)}
        assert all(served[person] - served[other] <= 1 or not waiting[other] for other in set(order))


@given(people, st.data())
def test_removed_items_do_not_come_and_all_others_do(order: list[str], data: st.DataObject) -> None:
    queue: FairQueue[object] = FairQueue(100, 100)
    items = [(person, number) for number, person in enumerate(order)]
    for item in items:
        queue.put(item[0], item)
    gone = data.draw(st.lists(st.sampled_from(items), unique=True)) if items else []
    assert all(queue.remove(item) for item in gone)
    assert not any(queue.remove(item) for item in gone)
    assert len(queue) == len(items) - len(gone)
    assert set(drained(queue)) == set(items) - set(gone)
