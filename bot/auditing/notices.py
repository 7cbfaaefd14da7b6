"""Telling the threads of affected answers, each once."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from bot.auditing.affected import Affected, notice_text
from bot.ledger import Ledger
from bot.mattermost.client import MattermostClient
from bot.mattermost.errors import MattermostRefused
from bot.threads import Mark

NOTICE = "replaced"
_LEASE_S = 60.0


@dataclass(frozen=True, slots=True)
class Told:
    """How many threads were told, had been told before, and are not there any more."""

    told: int
    before: int
    gone: int


async def tell_threads(affected: Sequence[Affected], ledger: Ledger, client: MattermostClient) -> Told:
    """Post a note under every affected answer that has none yet.

    A claim in the ledger comes before each note, so that neither a second run nor another process says it again.

    Raises:
        MattermostAway: the server is away; run it again, what was told stays told.
        LedgerError: the ledger cannot be written.
    """
    owner = f"{socket.gethostname()}:{os.getpid()}:notices"
    told = before = gone = 0
    for one in {each.exchange.question_id: each for each in affected}.values():
        question_id, thread_id = one.exchange.question_id, one.exchange.outcome.thread_id
        claim = ledger.claim(f"{question_id}#{NOTICE}", owner, _LEASE_S, thread_id=thread_id)
        if claim is None:
            before += 1
            continue
        try:
            post = await client.post(question_id)
            if post is None:
                gone += 1
                ledger.finish(claim, "notice", {"which": NOTICE, "post": ""}, thread_id=thread_id)
                continue
            notice = await client.create_post(
                post.channel_id,
                notice_text(one),
                root_id=post.thread_id,
                props=Mark(question_id, "notice", notice=NOTICE).props(),
                pending_post_id=f"{client.me.id}:{question_id}:{NOTICE}",
            )
        except MattermostRefused:
            gone += 1
            ledger.finish(claim, "notice", {"which": NOTICE, "post": ""}, thread_id=thread_id)
        except BaseException:
            ledger.release(claim)
            raise
        else:
            told += 1
            ledger.finish(claim, "notice", {"which": NOTICE, "post": notice.id}, thread_id=thread_id)
    return Told(told, before, gone)
