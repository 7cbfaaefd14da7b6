"""Lists of posts as the server cuts and orders them."""

from __future__ import annotations

from collections.abc import Iterable, Set

from bot.sandbox import errors, posting
from bot.sandbox.state import Json, World

SINCE_CAP = 1000
MAX_PER_PAGE = 200


def newest_first(posts: Iterable[Json]) -> list[Json]:
    """Sort by creation, newest first."""
    return sorted(posts, key=lambda post: post["create_at"], reverse=True)


def page(world: World, channel_id: str, number: int, per_page: int) -> Json:
    """Return page `number` (from 0) of a channel, with the threads of the replies in it."""
    posts = newest_first(_standing(world, channel_id))
    start = number * per_page
    cut = posts[start : start + per_page]
    threads = {post["root_id"] for post in cut if post["root_id"]}
    return listed(
        world,
        cut,
        threads,
        following=posts[start - 1]["id"] if 0 < start <= len(posts) else "",
        previous=posts[start + per_page]["id"] if start + per_page < len(posts) else "",
    )


def around(world: World, channel_id: str, post_id: str, *, after: bool, number: int, per_page: int) -> Json:
    """Return a page of what was posted after (or before) a post, in strictly another millisecond.

    An unknown post gives an empty list.
    """
    pivot = world.posts.get(post_id)
    posts = newest_first(_standing(world, channel_id))
    if pivot is None:
        beyond: list[Json] = []
    elif after:
        beyond = [post for post in reversed(posts) if post["create_at"] > pivot["create_at"]]
    else:
        beyond = [post for post in posts if post["create_at"] < pivot["create_at"]]
    cut = beyond[number * per_page : (number + 1) * per_page]
    rest = beyond[(number + 1) * per_page :]
    threads = {post["root_id"] or post["id"] for post in cut}
    further = rest[0]["id"] if rest else ""
    return listed(
        world,
        newest_first(cut) if not after else list(reversed(cut)),
        threads,
        following=further if after else post_id,
        previous=post_id if after else further,
        counted=True,
    )


def since(world: World, channel_id: str, time_ms: int) -> Json:
    """Return what changed after `time_ms`: new, edited, deleted, reacted to, and roots of new replies.

    At most `SINCE_CAP`, of which the server does not say which.
    """
    changed = [p for p in world.posts.values() if p["channel_id"] == channel_id and p["update_at"] > time_ms]
    changed = changed[:SINCE_CAP]
    return listed(world, newest_first(changed), roots={post["root_id"] for post in changed if post["root_id"]})


def thread(world: World, post: Json) -> Json:
    """Return a whole thread; the post that was asked for stands first and again in its place."""
    root_id = post["root_id"] or post["id"]
    posts = [p for p in world.posts.values() if not p["delete_at"] and root_id in (p["id"], p["root_id"])]
    found = listed(world, newest_first(posts), counted=True)
    found["order"].insert(0, post["id"])
    return found


def last_change(world: World, channel_id: str) -> int:
    return max((post["update_at"] for post in world.posts.values() if post["channel_id"] == channel_id), default=0)


def whole_number(text: str, name: str, default: int) -> int:
    """Read a query parameter.

    Raises:
        ApiError: it is no whole number.
    """
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        raise errors.bad_body(name) from None


def _standing(world: World, channel_id: str) -> list[Json]:
    return [post for post in world.posts.values() if post["channel_id"] == channel_id and not post["delete_at"]]


def listed(
    world: World,
    posts: list[Json],
    threads: Set[str] = frozenset(),
    *,
    roots: Set[str] = frozenset(),
    following: str = "",
    previous: str = "",
    counted: bool = False,
) -> Json:
    """Return a list of posts as it is sent.

    Args:
        posts: in the order given.
        threads: root ids; every post of these threads comes with the list, outside its order.
        roots: ids of posts that come with it alone.
        following, previous: ids of the next newer and the next older post.
        counted: say of each post how many replies its thread has.
    """
    shown = {post["id"]: post for post in posts}
    if threads:
        for post in world.posts.values():
            if not post["delete_at"] and (post["id"] in threads or post["root_id"] in threads):
                shown.setdefault(post["id"], post)
    for root_id in roots:
        shown.setdefault(root_id, world.posts[root_id])
    return {
        "order": [post["id"] for post in posts],
        "posts": {post_id: posting.view(world, post, counted=counted) for post_id, post in shown.items()},
        "next_post_id": following,
        "prev_post_id": previous,
    }
