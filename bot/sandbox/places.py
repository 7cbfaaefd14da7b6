"""Channels: making, joining, leaving, archiving them, and what the server says of it."""

from __future__ import annotations

import hashlib
import json

from bot.sandbox import posting
from bot.sandbox.state import Event, Json, User, World


def open_channel(world: World, actor: User, team_id: str, name: str, display_name: str, kind: str = "O") -> Json:
    """Create a public ("O") or private ("P") channel with its creator in it."""
    channel = world.add_channel(name, display_name, team_id=team_id, kind=kind, creator_id=actor.id)
    world.add_member(channel["id"], actor.id, admin=True)
    world.publish(Event("channel_created", {"channel_id": channel["id"], "team_id": team_id}, user_id=actor.id))
    message = f"{actor.username} joined the channel."
    posting.say_system(world, actor, channel["id"], "system_join_channel", message, {"username": actor.username})
    return channel


def join(world: World, actor: User, channel: Json, user: User) -> Json:
    """Put `user` into a channel; `actor` may be the same person."""
    known = world.members[channel["id"]].get(user.id)
    if known is not None:
        return known
    member = world.add_member(channel["id"], user.id)
    world.publish(Event("user_added", {"team_id": channel["team_id"], "user_id": user.id}, channel_id=channel["id"]))
    if actor.id == user.id:
        kind, message = "system_join_channel", f"{user.username} joined the channel."
        props: Json = {"username": user.username}
    else:
        kind, message = "system_add_to_channel", f"{user.username} added to the channel by {actor.username}."
        props = {
            "addedUserId": user.id,
            "addedUsername": user.username,
            "userId": actor.id,
            "username": actor.username,
        }
    posting.say_system(world, actor, channel["id"], kind, message, props)
    return member


def leave(world: World, actor: User, channel: Json, user: User) -> None:
    """Take `user` out of a channel."""
    if world.members[channel["id"]].pop(user.id, None) is None:
        return
    data: Json = {"channel_id": channel["id"], "remover_id": actor.id}
    world.publish(Event("user_removed", data, user_id=user.id))
    world.publish(Event("user_removed", {"remover_id": actor.id, "user_id": user.id}, channel_id=channel["id"]))
    if actor.id == user.id:
        kind, message = "system_leave_channel", f"{user.username} left the channel."
        props: Json = {"username": user.username}
    else:
        kind, message = "system_remove_from_channel", f"{user.username} was removed from the channel."
        props = {"removedUserId": user.id, "removedUsername": user.username}
    posting.say_system(world, actor, channel["id"], kind, message, props)


def archive(world: World, actor: User, channel: Json) -> None:
    message = f"{actor.username} archived the channel."
    posting.say_system(world, actor, channel["id"], "system_channel_deleted", message, {"username": actor.username})
    now = world.now_ms()
    channel |= {"delete_at": now, "update_at": now}
    data: Json = {"channel_id": channel["id"], "delete_at": now}
    if channel["type"] == "O":
        world.publish(Event("channel_deleted", data, team_id=channel["team_id"]))
    else:
        world.publish(Event("channel_deleted", data, channel_id=channel["id"]))


def set_header(world: World, actor: User, channel: Json, header: str) -> None:
    old = channel["header"]
    channel |= {"header": header, "update_at": world.now_ms()}
    text = json.dumps(channel, separators=(",", ":"), ensure_ascii=False)
    world.publish(Event("channel_updated", {"channel": text}, channel_id=channel["id"]))
    message = f"{actor.username} updated the channel header to: {header}"
    props: Json = {"new_header": header, "old_header": old, "username": actor.username}
    posting.say_system(world, actor, channel["id"], "system_header_change", message, props)


def direct(world: World, actor: User, other: User) -> Json:
    """Return the direct channel of two people, made when there is none."""
    names = (f"{actor.id}__{other.id}", f"{other.id}__{actor.id}")
    for channel in world.channels.values():
        if channel["type"] == "D" and channel["name"] in names:
            return channel
    name = "__".join(sorted((actor.id, other.id)))
    channel = world.add_channel(name, "", kind="D", creator_id=actor.id)
    for user_id in dict.fromkeys((actor.id, other.id)):
        world.add_member(channel["id"], user_id)
    data: Json = {"creator_id": actor.id, "teammate_id": other.id}
    world.publish(Event("direct_added", data, channel_id=channel["id"]))
    return channel


def group(world: World, users: list[User]) -> Json:
    """Return the group channel of three to eight people, made when there is none."""
    name = hashlib.sha1("".join(sorted(user.id for user in users)).encode(), usedforsecurity=False).hexdigest()
    for channel in world.channels.values():
        if channel["type"] == "G" and channel["name"] == name:
            return channel
    display_name = ", ".join(sorted(user.username for user in users))
    channel = world.add_channel(name, display_name, kind="G")
    for user in users:
        world.add_member(channel["id"], user.id)
    ids = json.dumps([user.id for user in users], separators=(",", ":"))
    world.publish(Event("group_added", {"teammate_ids": ids}, channel_id=channel["id"]))
    return channel
