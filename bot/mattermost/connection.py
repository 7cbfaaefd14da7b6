"""How the bot's connection is, for the log and for whoever watches it."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass
class ConnectionState:
    """What is known of the connection now; times are those of a clock that only goes forward.

    Attributes:
        connected: events are coming in, as far as is known.
        problem: one sentence on what is wrong; "" while all is well.
        connected_at: since when, None when not connected.
        heard_at: when the last frame came.
        probed_at: when a probe last went round the whole loop.
        connects, resumes, gaps: how often: connected afresh, resumed, missed events.
    """

    connected: bool = False
    problem: str = "not connected yet"
    connected_at: float | None = None
    heard_at: float | None = None
    probed_at: float | None = None
    connects: int = 0
    resumes: int = 0
    gaps: int = 0

    @property
    def well(self) -> bool:
        return self.connected and not self.problem


class Backoff:
    """How long to wait before another try: doubling, with jitter, so that many bots do not come at once.

    Args:
        first_s, most_s: the shortest and the longest wait.
        chance: hands out numbers in [0, 1).
    """

    def __init__(self, first_s: float, most_s: float, chance: random.Random) -> None:
        self._first_s = first_s
        self._most_s = most_s
        self._chance = chance
        self._tries = 0

    def next_s(self) -> float:
        """Return the next wait: between a half and the whole of first · 2ⁿ, at most `most_s`."""
        whole_s: float = min(self._first_s * 2 ** min(self._tries, 30), self._most_s)
        self._tries += 1
        return whole_s * (0.5 + 0.5 * self._chance.random())

    def reset(self) -> None:
        self._tries = 0
