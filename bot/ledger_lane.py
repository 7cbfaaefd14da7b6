"""The ledger, from the event loop: one thread of its own, and patience while it cannot be written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from bot.ledger import Ledger, LedgerError

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

FIRST_WAIT_S = 0.5
MOST_WAIT_S = 15.0


class LedgerLane:
    """Runs the ledger's methods one after the other, away from the event loop.

    Attributes:
        problem: why the ledger cannot be used now; "" while it can.
    """

    def __init__(self, ledger: Ledger, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.ledger = ledger
        self.problem = ""
        self._sleep = sleep
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")

    async def once(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one of the ledger's methods; raises LedgerError."""

        def run() -> T:
            return call(*args, **kwargs)

        try:
            value = await asyncio.get_running_loop().run_in_executor(self._thread, run)
        except LedgerError as error:
            if not self.problem:
                log.error("nothing is answered for now: %s", error)
            self.problem = str(error)
            raise
        if self.problem:
            log.info("the ledger can be used again")
            self.problem = ""
        return value

    async def patiently(
        self,
        call: Callable[..., T],
        *args: Any,
        first_failure: Callable[[], Awaitable[None]] | None = None,
        **kwargs: Any,
    ) -> T:
        """Run one of the ledger's methods, trying again until it can be.

        Args:
            first_failure: awaited once, when the first try has failed.
        """
        wait_s = FIRST_WAIT_S
        while True:
            try:
                return await self.once(call, *args, **kwargs)
            except LedgerError:
                if first_failure is not None:
                    await first_failure()
                    first_failure = None
            await self._sleep(wait_s)
            wait_s = min(2 * wait_s, MOST_WAIT_S)

    def close(self) -> None:
        """Let the thread go once it has done what it is doing."""
        self._thread.shutdown(wait=False, cancel_futures=True)
