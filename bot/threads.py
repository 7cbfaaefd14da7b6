"""What a thread already holds of the bot's own (pure).

Every post of the bot carries `props.guideline_bot`: the question it belongs to, whether it is (part of) the
reply or only a notice, and which part. That is how a process that takes a question over sees what is done.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bot.mattermost.events import Post
from bot.replies import MARK


@dataclass(frozen=True, slots=True)
class Mark:
    """What the bot has written on one of its posts.

    Attributes:
        kind: reply or notice.
        part, parts: of a reply, counted from 1.
        notice: which notice: place, unwell, what_was_wrong …; "" for a reply.
    """

    question: str
    kind: str
    part: int = 1
    parts: int = 1
    notice: str = ""

    def props(self) -> dict[str, Any]:
        """Return it as props for a post."""
        mark: dict[str, Any] = {"question": self.question, "kind": self.kind, "part": self.part, "parts": self.parts}
        return {MARK: mark | ({"notice": self.notice} if self.notice else {})}


@dataclass(frozen=True, slots=True)
class Said:
    """What the bot has said about one question in its thread.

    Attributes:
        parts: part → the post that stands for it, the earliest.
        surplus: later posts of a part that is there already.
        notices: (which, post).
    """

    parts: dict[int, Post]
    surplus: tuple[Post, ...]
    notices: tuple[tuple[str, Post], ...]

    @property
    def is_complete(self) -> bool:
        """Whether every part of one reply is there."""
        marks = [mark for post in self.parts.values() if (mark := mark_of(post)) is not None]
        return bool(marks) and all(mark.parts == len(self.parts) for mark in marks)


def mark_of(post: Post) -> Mark | None:
    """Read the bot's own mark; None when there is none. Anyone can forge props: look at the author first."""
    raw = post.props.get(MARK)
    if not isinstance(raw, dict):
        return None
    question, kind, part, parts = raw.get("question"), raw.get("kind"), raw.get("part", 1), raw.get("parts", 1)
    if not isinstance(question, str) or kind not in ("reply", "notice"):
        return None
    if not isinstance(part, int) or not isinstance(parts, int):
        return None
    return Mark(question, kind, part, parts, str(raw.get("notice", "")))


def said(thread: Iterable[Post], question_id: str, me: str) -> Said:
    """Return what `me` has said about a question.

    Of two posts of one part the earlier stands; equal times are told apart by id, so that every process that
    looks decides alike.
    """
    parts: dict[int, Post] = {}
    surplus, notices = [], []
    for post in sorted(thread, key=lambda post: (post.create_at, post.id)):
        mark = mark_of(post) if post.user_id == me and not post.delete_at else None
        if mark is None or mark.question != question_id:
            continue
        if mark.kind == "notice":
            notices.append((mark.notice, post))
        elif mark.part in parts:
            surplus.append(post)
        else:
            parts[mark.part] = post
    return Said(parts, tuple(surplus), tuple(notices))
