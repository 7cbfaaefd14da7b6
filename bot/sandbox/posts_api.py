"""REST: posts, lists of posts, reactions, files."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable

from aiohttp import BodyPartReader, web

from bot.sandbox import errors, listing, posting
from bot.sandbox.state import Event, Json, World, is_id, new_id
from bot.sandbox.web import answer, body, caller, channel_for, member_only, ok, path_id, table, world_of

REPEAT_WITHIN_S = 30.0

routes = web.RouteTableDef()


class PendingPosts:
    """Remembers for half a minute which `pending_post_id` made which post.

    Attributes:
        before_save: awaited while a post is being made; a test can hold it there.
    """

    def __init__(self, world: World, before_save: Callable[[Json], Awaitable[None]] | None = None) -> None:
        self.world = world
        self.before_save = before_save
        self._made: dict[str, tuple[str, float]] = {}

    def first(self, pending_id: str) -> Json | None:
        """Return the post that this id has made already.

        Raises:
            ApiError: 500, another request with it is being worked on, or its post has been deleted.
        """
        post_id, end = self._made.get(pending_id, ("", 0.0))
        if self.world.clock() >= end:
            return None
        if not post_id:
            raise errors.repeated_meanwhile()
        post = self.world.posts[post_id]
        if post["delete_at"]:
            raise errors.repeated_but_gone()
        return post

    def begin(self, pending_id: str) -> None:
        if pending_id:
            self._made[pending_id] = ("", self.world.clock() + REPEAT_WITHIN_S)

    def end(self, pending_id: str, post_id: str) -> None:
        if pending_id:
            self._made[pending_id] = (post_id, self.world.clock() + REPEAT_WITHIN_S)

    def give_up(self, pending_id: str) -> None:
        self._made.pop(pending_id, None)


PENDING: web.AppKey[PendingPosts] = web.AppKey("pending", PendingPosts)


@routes.post("/api/v4/posts")
async def create(request: web.Request) -> web.Response:
    author = caller(request)
    sent = await table(request, "post")
    kind = str(sent.get("type") or "")
    if kind.startswith("system_"):
        raise errors.bad_param("post.type")
    member_only(request, sent.get("channel_id"))
    world, pending = world_of(request), request.app[PENDING]
    channel_id = sent["channel_id"]
    if world.channels[channel_id]["delete_at"]:
        raise errors.channel_archived()
    pending_id = str(sent.get("pending_post_id") or "")
    first = pending.first(pending_id) if pending_id else None
    if first is not None:
        world.publish(Event("channel_viewed", {"channel_id": channel_id}, user_id=author.id))
        shown = posting.view(world, first)
        del shown["metadata"]
        return answer(shown, 201)
    pending.begin(pending_id)
    try:
        if pending.before_save is not None:
            await pending.before_save(sent)
        props = sent.get("props")
        post = posting.create(
            world,
            author,
            channel_id,
            str(sent.get("message") or ""),
            root_id=str(sent.get("root_id") or ""),
            props=props if isinstance(props, dict) else None,
            kind=kind,
            pending_post_id=pending_id,
            file_ids=sent.get("file_ids"),
        )
    except BaseException:
        pending.give_up(pending_id)
        raise
    pending.end(pending_id, post["id"])
    return answer(post, 201)


@routes.post("/api/v4/posts/ephemeral")
async def create_ephemeral(request: web.Request) -> web.Response:
    if not caller(request).is_admin:
        raise errors.forbidden()
    raise errors.ApiError(501, "sandbox.ephemeral.app_error", "The sandbox has no ephemeral posts.")


@routes.get("/api/v4/posts/{post_id}")
async def get(request: web.Request) -> web.Response:
    return answer(posting.view(world_of(request), _readable(request)))


@routes.get("/api/v4/posts/{post_id}/thread")
async def thread(request: web.Request) -> web.Response:
    return answer(listing.thread(world_of(request), _readable(request)))


@routes.put("/api/v4/posts/{post_id}/patch")
async def patch(request: web.Request) -> web.Response:
    post = _own_post(request)
    changes = await table(request, "post")
    return answer(posting.edit(world_of(request), post, changes))


@routes.put("/api/v4/posts/{post_id}")
async def update(request: web.Request) -> web.Response:
    sent = await table(request, "post")
    if sent.get("id") != path_id(request, "post_id"):
        raise errors.bad_body("id")
    changes = {"message": str(sent.get("message") or ""), "props": sent.get("props") or {}}
    return answer(posting.edit(world_of(request), _own_post(request), changes))


@routes.delete("/api/v4/posts/{post_id}")
async def delete(request: web.Request) -> web.Response:
    user = caller(request)
    post = world_of(request).posts.get(path_id(request, "post_id"))
    if post is None or post["delete_at"] or (post["user_id"] != user.id and not user.is_admin):
        raise errors.forbidden()
    posting.delete(world_of(request), user, post)
    return ok()


@routes.post("/api/v4/posts/{post_id}/{action:pin|unpin}")
async def pin(request: web.Request) -> web.Response:
    posting.pin(world_of(request), _readable(request), request.match_info["action"] == "pin")
    return ok()


@routes.get("/api/v4/channels/{channel_id}/pinned")
async def pinned(request: web.Request) -> web.Response:
    world, channel = world_of(request), channel_for(request, missing=403)
    posts = [p for p in world.posts.values() if p["channel_id"] == channel["id"] and p["is_pinned"]]
    return answer(listing.listed(world, listing.newest_first(posts), counted=True))


@routes.get("/api/v4/channels/{channel_id}/posts")
async def channel_posts(request: web.Request) -> web.Response:
    world, query = world_of(request), request.query
    since = listing.whole_number(query.get("since", ""), "since", 0)
    for name in ("after", "before"):
        if query.get(name) and not is_id(query[name]):
            raise errors.bad_body(name)
    channel = channel_for(request, missing=403)
    number = max(0, listing.whole_number(query.get("page", ""), "page", 0))
    per_page = listing.whole_number(query.get("per_page", ""), "per_page", 60)
    per_page = min(per_page if per_page > 0 else 60, listing.MAX_PER_PAGE)
    if since:
        return answer(listing.since(world, channel["id"], since))
    etag = f"{world.rules.version}.{listing.last_change(world, channel['id'])}"
    if request.headers.get("If-None-Match") == etag:
        return web.Response(status=304, headers={"Etag": etag})
    for name in ("after", "before"):
        if query.get(name):
            found = listing.around(
                world, channel["id"], query[name], after=name == "after", number=number, per_page=per_page
            )
            return answer(found, headers={"Etag": etag})
    return answer(listing.page(world, channel["id"], number, per_page), headers={"Etag": etag})


@routes.post("/api/v4/reactions")
async def react(request: web.Request) -> web.Response:
    user = caller(request)
    sent = await table(request, "reaction")
    world = world_of(request)
    if sent.get("user_id") != user.id:
        message = "You cannot save reaction for the other user."
        raise errors.ApiError(403, "api.reaction.save_reaction.user_id.app_error", message)
    post_id = sent.get("post_id")
    post = world.posts.get(post_id) if isinstance(post_id, str) else None
    if post is None or post["delete_at"]:
        raise errors.forbidden()
    member_only(request, post["channel_id"])
    if world.channels[post["channel_id"]]["delete_at"]:
        message = "You cannot react in an archived channel."
        raise errors.ApiError(403, "api.reaction.save.archived_channel.app_error", message)
    emoji = sent.get("emoji_name")
    if not isinstance(emoji, str) or not 0 < len(emoji) <= 64:
        raise errors.bad_body("reaction")
    return answer(posting.react(world, user, post, emoji))


@routes.delete("/api/v4/users/{user_id}/posts/{post_id}/reactions/{emoji}")
async def unreact(request: web.Request) -> web.Response:
    user = caller(request)
    if request.match_info["user_id"] not in ("me", user.id):
        raise errors.forbidden()
    posting.unreact(world_of(request), user, _readable(request), request.match_info["emoji"])
    return ok()


@routes.get("/api/v4/posts/{post_id}/reactions")
async def reactions(request: web.Request) -> web.Response:
    return answer(world_of(request).reactions.get(_readable(request)["id"], []))


@routes.post("/api/v4/posts/ids/reactions")
async def reactions_of(request: web.Request) -> web.Response:
    asked = await body(request, "post_ids")
    kept = world_of(request).reactions
    return answer({str(post_id): kept[post_id] for post_id in asked if post_id in kept})


@routes.post("/api/v4/files")
async def upload(request: web.Request) -> web.Response:
    user, world = caller(request), world_of(request)
    channel_id, found = request.query.get("channel_id", ""), []
    if request.content_type == "multipart/form-data":
        async for part in await request.multipart():
            if isinstance(part, BodyPartReader):
                content = bytes(await part.read())
                if part.filename:
                    found.append((part.filename, content))
                elif part.name == "channel_id":
                    channel_id = content.decode()
    else:
        found.append((request.query.get("filename", "file"), await request.read()))
    member_only(request, channel_id)
    infos = []
    for name, content in found:
        now = world.now_ms()
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        info: Json = {
            "id": new_id(),
            "user_id": user.id,
            "channel_id": "",
            "create_at": now,
            "update_at": now,
            "delete_at": 0,
            "name": name,
            "extension": name.rpartition(".")[2],
            "size": len(content),
            "mime_type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind,
            "mini_preview": None,
            "remote_id": "",
        }
        world.files[info["id"]] = (info, content)
        infos.append(dict(info))
    return answer({"file_infos": infos, "client_ids": []}, 201)


@routes.get("/api/v4/files/{file_id}")
async def file(request: web.Request) -> web.Response:
    info, content = _file(request)
    headers = {
        "Content-Type": info["mime_type"] if info["mime_type"].startswith("image/") else "application/octet-stream",
        "Content-Disposition": "attachment",
        "Content-Security-Policy": "default-src 'none'",
        "X-Content-Type-Options": "nosniff",
    }
    return web.Response(body=content, headers=headers)


@routes.get("/api/v4/files/{file_id}/info")
async def file_info(request: web.Request) -> web.Response:
    return answer(_file(request)[0])


def _file(request: web.Request) -> tuple[Json, bytes]:
    user, world = caller(request), world_of(request)
    kept = world.files.get(path_id(request, "file_id"))
    if kept is None:
        raise errors.ApiError(404, "app.file_info.get.app_error", "Unable to get the file info.")
    post = world.posts.get(kept[0].get("post_id", ""))
    if kept[0]["user_id"] != user.id:
        member_only(request, post["channel_id"] if post else None)
    return kept


def _readable(request: web.Request) -> Json:
    post = world_of(request).posts.get(path_id(request, "post_id"))
    caller(request)
    if post is None or post["delete_at"]:
        raise errors.post_missing()
    member_only(request, post["channel_id"])
    return post


def _own_post(request: web.Request) -> Json:
    user = caller(request)
    post = world_of(request).posts.get(path_id(request, "post_id"))
    if post is None or post["delete_at"] or post["user_id"] != user.id:
        raise errors.forbidden()
    return post
