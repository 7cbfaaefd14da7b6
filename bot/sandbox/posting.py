"""Writing, editing, deleting posts and reacting to them: what the server checks, keeps and tells."""

from __future__ import annotations

import copy
import json
from typing import Any

from bot.sandbox import errors
from bot.sandbox.mentions import Reader, mentioned
from bot.sandbox.state import Event, Json, User, World, is_id, new_id

_ATTACHMENT = (
    ("id", 0),
    ("fallback", ""),
    ("color", ""),
    ("pretext", ""),
    ("author_name", ""),
    ("author_link", ""),
    ("author_icon", ""),
    ("title", ""),
    ("title_link", ""),
    ("text", ""),
    ("fields", None),
    ("image_url", ""),
    ("thumb_url", ""),
    ("footer", ""),
    ("footer_icon", ""),
    ("ts", None),
)


def create(
    world: World,
    author: User,
    channel_id: str,
    message: str,
    *,
    root_id: str = "",
    props: Json | None = None,
    kind: str = "",
    pending_post_id: str = "",
    file_ids: list[str] | None = None,
    viewed: bool = True,
) -> Json:
    """Create a post and tell the channel.

    Args:
        kind: the post's type: "", "me", "system_…".
        viewed: the author is told that the channel counts as read.

    Returns:
        The post as the author's request is answered.

    Raises:
        ApiError: the channel is archived, the root is wrong, or message or props are too long.
    """
    channel = world.channels[channel_id]
    if channel["delete_at"]:
        raise errors.channel_archived()
    if root_id:
        _check_root(world, channel_id, root_id)
    props = _normal_props(props or {})
    if author.is_bot and not kind.startswith("system_"):
        props["from_bot"] = "true"
    _check_size(world, message, props)
    now = world.now_ms()
    post: Json = {
        "id": new_id(),
        "create_at": now,
        "update_at": now,
        "edit_at": 0,
        "delete_at": 0,
        "is_pinned": False,
        "user_id": author.id,
        "channel_id": channel_id,
        "root_id": root_id,
        "parent_id": root_id,
        "original_id": "",
        "message": message,
        "type": kind,
        "props": dict(sorted(props.items())),
        "hashtags": "",
        "file_ids": [],
        "pending_post_id": "",
    }
    for file_id in file_ids or []:
        if file_id in world.files and world.files[file_id][0]["user_id"] == author.id:
            world.files[file_id][0]["post_id"] = post["id"]
            post["file_ids"].append(file_id)
    world.posts[post["id"]] = post
    if root_id:
        world.posts[root_id]["update_at"] = now
    channel["last_post_at"] = now
    if not kind.startswith("system_"):
        channel["total_msg_count"] += 1
        channel["total_msg_count_root"] += not root_id
    shown = view(world, post, counted=True)
    shown["pending_post_id"] = pending_post_id
    _tell_posted(world, author, channel, shown)
    if viewed and not author.is_bot and not kind.startswith("system_") and "from_webhook" not in props:
        world.publish(Event("channel_viewed", {"channel_id": channel_id}, user_id=author.id))
    return shown


def say_system(world: World, actor: User, channel_id: str, kind: str, message: str, props: Json) -> Json:
    """Post what the server itself says about a channel; it bears the acting person's id."""
    return create(world, actor, channel_id, message, kind=kind, props=props, viewed=False)


def edit(world: World, post: Json, changes: Json) -> Json:
    """Change a post's message, props or pin; sent props replace all, and `from_bot` with them.

    Raises:
        ApiError: message or props are too long, or the channel is archived.
    """
    if world.channels[post["channel_id"]]["delete_at"]:
        raise errors.ApiError(
            400,
            "api.post.update_post.can_not_update_post_in_deleted.error",
            "Can not update a post in a deleted channel.",
        )
    message = str(changes.get("message") if changes.get("message") is not None else post["message"])
    props = _normal_props(changes["props"]) if changes.get("props") is not None else post["props"]
    _check_size(world, message, props)
    now = world.now_ms()
    if (message, props) != (post["message"], post["props"]):
        before = {**post, "id": new_id(), "original_id": post["id"], "update_at": now, "delete_at": now}
        world.posts[before["id"]] = {**before, "message": "", "props": {}, "edit_at": 0, "file_ids": []}
        post["edit_at"] = now
    post |= {"message": message, "props": props, "update_at": now}
    post["is_pinned"] = bool(changes.get("is_pinned", post["is_pinned"]))
    return _tell_edited(world, post)


def pin(world: World, post: Json, pinned: bool) -> None:
    post |= {"is_pinned": pinned, "update_at": world.now_ms()}
    _tell_edited(world, post)


def delete(world: World, user: User, post: Json) -> None:
    """Delete a post, and with a root all its replies; only the named post is told of, as it was."""
    shown = view(world, post)
    now = world.now_ms()
    for each in world.posts.values():
        if not each["delete_at"] and post["id"] in (each["id"], each["root_id"]):
            each |= {"delete_at": now, "update_at": now, "message": "", "props": {"deleteBy": user.id}}
    _tell_post(world, "post_deleted", shown)


def react(world: World, user: User, post: Json, emoji: str) -> Json:
    """Add a reaction; added twice it is told twice and kept once."""
    now = world.now_ms()
    reaction: Json = {
        "user_id": user.id,
        "post_id": post["id"],
        "emoji_name": emoji,
        "create_at": now,
        "update_at": now,
        "delete_at": 0,
        "remote_id": "",
    }
    kept = [each for each in world.reactions.get(post["id"], []) if not _same(each, user.id, emoji)]
    world.reactions[post["id"]] = [*kept, reaction]
    post["update_at"] = now
    _tell_reaction(world, "reaction_added", post, reaction)
    return reaction


def unreact(world: World, user: User, post: Json, emoji: str) -> None:
    now = world.now_ms()
    world.reactions[post["id"]] = [r for r in world.reactions.get(post["id"], []) if not _same(r, user.id, emoji)]
    post["update_at"] = now
    gone: Json = {
        "user_id": user.id,
        "post_id": post["id"],
        "emoji_name": emoji,
        "create_at": 0,
        "update_at": now,
        "delete_at": 0,
        "remote_id": "",
    }
    _tell_reaction(world, "reaction_removed", post, gone)


def view(world: World, post: Json, *, counted: bool = False) -> Json:
    """Return a post as clients get it; `counted`: with the number of replies in its thread."""
    metadata: Json = {}
    if post["props"].get("attachments"):
        metadata["embeds"] = [{"type": "message_attachment"}]
    if post["file_ids"]:
        metadata["files"] = [world.files[file_id][0] for file_id in post["file_ids"]]
    reactions = world.reactions.get(post["id"])
    if reactions:
        metadata["reactions"] = copy.deepcopy(reactions)
    shown = {key: copy.deepcopy(value) for key, value in post.items() if key != "file_ids" or value}
    for attachment in shown["props"].get("attachments", []):
        for action in attachment.get("actions", []):
            action.pop("integration", None)
    if reactions:
        shown["has_reactions"] = True
    root_id = post["root_id"] or post["id"]
    shown["reply_count"] = replies(world, root_id) if counted else 0
    return shown | {"last_reply_at": 0, "participants": None, "metadata": metadata}


def replies(world: World, root_id: str) -> int:
    return sum(post["root_id"] == root_id and not post["delete_at"] for post in world.posts.values())


def _same(reaction: Json, user_id: str, emoji: str) -> bool:
    return bool(reaction["user_id"] == user_id and reaction["emoji_name"] == emoji)


def _check_root(world: World, channel_id: str, root_id: str) -> None:
    root = world.posts.get(root_id) if is_id(root_id) else None
    if root is None or root["delete_at"] or root["root_id"]:
        raise errors.bad_root()
    if root["channel_id"] != channel_id:
        raise errors.root_elsewhere()


def _check_size(world: World, message: str, props: Json) -> None:
    if len(message) > world.rules.max_post_chars:
        error_id = "model.post.is_valid.message_length.app_error" if world.rules.newer else ""
        raise errors.ApiError(400, error_id or "model.post.is_valid.msg.app_error", "Invalid message.")
    if len(json.dumps(props, separators=(",", ":"), ensure_ascii=False)) > world.rules.max_props_chars:
        raise errors.ApiError(400, "model.post.is_valid.props.app_error", "Invalid props.")
    if "\0" in message:
        raise errors.unable_to_save()


def _normal_props(props: Json) -> Json:
    """Return the props with every attachment in its full form."""
    kept = copy.deepcopy(props)
    attachments = kept.get("attachments")
    if isinstance(attachments, list):
        kept["attachments"] = [_normal_attachment(each) for each in attachments if isinstance(each, dict)]
    return kept


def _normal_attachment(attachment: dict[str, Any]) -> Json:
    normal: Json = {name: attachment.get(name, default) for name, default in _ATTACHMENT}
    normal["id"] = 0
    if normal["fields"]:
        normal["fields"] = [
            {"title": each.get("title", ""), "value": each.get("value", ""), "short": bool(each.get("short"))}
            for each in normal["fields"]
        ]
    if attachment.get("actions"):
        normal["actions"] = attachment["actions"]
    return normal


def _texts(post: Json) -> list[str]:
    texts = [post["message"]]
    for attachment in post["props"].get("attachments") or []:
        texts += [attachment["pretext"] or "", attachment["text"] or ""]
    return texts


def _tell_posted(world: World, author: User, channel: Json, shown: Json) -> None:
    system = shown["type"].startswith("system_")
    readers = [
        Reader(user.id, user.username, user.notify_props, user.display_name, user.status == "online")
        for user in (world.users[user_id] for user_id in world.members[channel["id"]])
    ]
    named = mentioned(_texts(shown), readers)
    if channel["type"] == "D":
        named = [reader.user_id for reader in readers]
    if added := shown["props"].get("addedUserId"):
        named.append(added)
    named += _followers(world, shown)
    acting = () if shown["props"].get("from_webhook") == "true" else (author.id,)
    named = [user_id for user_id in dict.fromkeys(named) if user_id not in acting]
    data: Json = {
        "channel_display_name": f"@{author.username}" if channel["type"] == "D" else channel["display_name"],
        "channel_name": channel["name"],
        "channel_type": channel["type"],
    }
    if named:
        data["mentions"] = json.dumps(named, separators=(",", ":"))
    if shown.get("file_ids"):
        pictures = all(world.files[i][0]["mime_type"].startswith("image/") for i in shown["file_ids"])
        data["image" if pictures else "otherFile"] = "true"
    data |= {
        "post": json.dumps(shown, separators=(",", ":"), ensure_ascii=False),
        "sender_name": "System" if system else f"@{author.username}",
        "set_online": True,
        "team_id": channel["team_id"],
    }
    world.publish(Event("posted", data, channel_id=channel["id"]))


def _followers(world: World, shown: Json) -> list[str]:
    """Return who has asked to be told of replies in this thread (notify_props.comments any or root)."""
    if not shown["root_id"]:
        return []
    told = []
    for post in world.posts.values():
        if post["id"] != shown["id"] and shown["root_id"] in (post["id"], post["root_id"]):
            wish = world.users[post["user_id"]].notify_props.get("comments")
            if wish == "any" or (wish == "root" and not post["root_id"]):
                told.append(post["user_id"])
    return told


def _tell_post(world: World, name: str, shown: Json) -> None:
    text = json.dumps(shown, separators=(",", ":"), ensure_ascii=False)
    world.publish(Event(name, {"post": text}, channel_id=shown["channel_id"]))


def _tell_edited(world: World, post: Json) -> Json:
    shown = view(world, post, counted=True)
    _tell_post(world, "post_edited", shown)
    return shown


def _tell_reaction(world: World, name: str, post: Json, reaction: Json) -> None:
    text = json.dumps(reaction, separators=(",", ":"), ensure_ascii=False)
    world.publish(Event(name, {"reaction": text}, channel_id=post["channel_id"]))
