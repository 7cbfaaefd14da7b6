"""Who is next: a bounded queue that is fair between people (no I/O, no clock).

One turn a person: a person with ten questions waiting gets one answered, then everybody else who waits gets
one, and so on. Within a person the order is that of asking.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, Literal, TypeVar

Item = TypeVar("Item")
Declined = Literal["full", "person_full"]


class FairQueue(Generic[Item]):
    """Items waiting, by person.

    Args:
        max_items: how many may wait in all.
        max_per_person: how many one person may have waiting.
    """

    def __init__(self, max_items: int, max_per_person: int) -> None:
        self._max_items = max_items
        self._max_per_person = max_per_person
        # People in the order of their turns; each with what they wait for.
        self._turns: OrderedDict[str, deque[Item]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, person: str, item: Item) -> Declined | None:
        """Let an item wait; says why when it may not."""
        if self._count >= self._max_items:
            return "full"
        mine = self._turns.get(person)
        if mine is not None and len(mine) >= self._max_per_person:
            return "person_full"
        if mine is None:
            mine = self._turns[person] = deque()
        mine.append(item)
        self._count += 1
        return None

    def take(self) -> Item | None:
        """Remove and return whoever is next; None when nothing waits."""
        if not self._turns:
            return None
        person, mine = next(iter(self._turns.items()))
        item = mine.popleft()
        del self._turns[person]
        if mine:
            self._turns[person] = mine  # to the end: the others have their turn first
        self._count -= 1
        return item

    def remove(self, item: Item) -> bool:
        """Take an item out of turn; False when it does not wait."""
        for person, mine in self._turns.items():
            if item in mine:
                mine.remove(item)
                if not mine:
                    del self._turns[person]
                self._count -= 1
                return True
        return False

    def place(self, item: Item) -> int | None:
        """Return how many turns it takes until this item has its own: 1 is next; None when it does not wait."""
        people = list(self._turns)
        for position, person in enumerate(people):
            mine = self._turns[person]
            if item not in mine:
                continue
            round_number = mine.index(item)
            before = 0
            for other_position, other in enumerate(people):
                waiting = len(self._turns[other])
                before += min(waiting, round_number + (1 if other_position < position else 0))
            # In its own row only those before it count, and they are round_number many.
            return before + 1
        return None
