"""What the handlers of the REST API share: who asks, what was sent, how it is answered."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from bot.sandbox import errors
from bot.sandbox.hub import Hub
from bot.sandbox.state import Json, User, World, is_id

WORLD: web.AppKey[World] = web.AppKey("world", World)
HUB: web.AppKey[Hub] = web.AppKey("hub", Hub)


def world_of(request: web.Request) -> World:
    return request.app[WORLD]


def bearer(request: web.Request) -> str:
    """Return the token that a request carries, "" for none."""
    kind, _, secret = request.headers.get("Authorization", "").partition(" ")
    return secret.strip() if kind.casefold() in ("bearer", "token") else ""


def caller(request: web.Request) -> User:
    """Return who asks.

    Raises:
        ApiError: 401, the token is missing, wrong or revoked, or its bot is disabled.
    """
    user = world_of(request).user_of(bearer(request))
    if user is None:
        raise errors.session_expired()
    return user


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(value, status=status, headers=headers, dumps=_dumps)


def ok() -> web.Response:
    return answer({"status": "OK"})


async def body(request: web.Request, name: str) -> Any:
    """Read the JSON body.

    Raises:
        ApiError: 400, it is not JSON; `name` says of what.
    """
    try:
        return json.loads(await request.read())
    except ValueError:
        raise errors.bad_body(name) from None


async def table(request: web.Request, name: str) -> Json:
    """Read the JSON body as an object."""
    sent = await body(request, name)
    if not isinstance(sent, dict):
        raise errors.bad_body(name)
    return sent


def path_id(request: web.Request, name: str) -> str:
    value = request.match_info[name]
    if not is_id(value):
        raise errors.bad_url(name)
    return value


def named_user(request: web.Request, name: str = "user_id") -> User:
    """Return the user whom the path names; `me` is who asks.

    Raises:
        ApiError: 404 there is none, 400 it is no id.
    """
    if request.match_info[name] == "me":
        return caller(request)
    user = world_of(request).users.get(path_id(request, name))
    if user is None:
        raise errors.ApiError(404, "app.user.missing_account.const", "Unable to find the user.")
    return user


def own(request: web.Request, user: User) -> None:
    """Require that who asks is `user` or an administrator."""
    asking = caller(request)
    if asking.id != user.id and not asking.is_admin:
        raise errors.forbidden()


def admin(request: web.Request) -> User:
    user = caller(request)
    if not user.is_admin:
        raise errors.forbidden()
    return user


def channel_for(request: web.Request, *, missing: int = 404) -> Json:
    """Return the channel that the path names, for a member of it.

    Args:
        missing: status for a channel that is not there: 404, or 403 as for one that the caller is not in.
    """
    channel = world_of(request).channels.get(path_id(request, "channel_id"))
    if channel is None:
        if missing == 403:
            raise errors.forbidden()
        raise errors.ApiError(404, "app.channel.get.existing.app_error", "Unable to find the existing channel.")
    member_only(request, channel["id"])
    return channel


def member_only(request: web.Request, channel_id: Any) -> None:
    """Require that who asks is in the channel; a channel that is not there is answered in the same way."""
    user = caller(request)
    world = world_of(request)
    if not isinstance(channel_id, str) or channel_id not in world.channels:
        raise errors.forbidden()
    if not user.is_admin and not world.is_member(channel_id, user.id):
        raise errors.forbidden()


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
