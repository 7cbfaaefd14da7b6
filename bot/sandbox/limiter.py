"""The rate limit of a Mattermost server (pure but for its own memory)."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a request is told of the limit."""

    allowed: bool
    headers: dict[str, str]


class RateLimiter:
    """The generic cell rate algorithm: `burst` + 1 requests at once, then `per_s` a second, by caller."""

    def __init__(self, per_s: float, burst: int) -> None:
        self._interval_s = 1 / per_s
        self._limit = burst + 1
        self._full_at: dict[str, float] = {}

    def ask(self, caller: str, now_s: float) -> Allowance:
        """Count a request; `now_s` on any clock that does not run backwards."""
        full_at = max(self._full_at.get(caller, now_s), now_s) + self._interval_s
        allowed = full_at - now_s <= self._limit * self._interval_s + 1e-9
        if allowed:
            self._full_at[caller] = full_at
        used_s = self._full_at[caller] - now_s
        headers = {
            "X-Ratelimit-Limit": str(self._limit),
            "X-Ratelimit-Remaining": str(max(0, self._limit - math.ceil(used_s / self._interval_s - 1e-9))),
            "X-Ratelimit-Reset": str(math.ceil(used_s - 1e-9)),
        }
        if not allowed:
            wait_s = full_at - now_s - self._limit * self._interval_s
            headers["Retry-After"] = str(max(1, math.ceil(wait_s - 1e-9)))
        return Allowance(allowed, headers)
