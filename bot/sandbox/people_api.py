"""REST: users, bots, tokens, statuses."""

from __future__ import annotations

from aiohttp import web

from bot.sandbox import errors
from bot.sandbox.state import User
from bot.sandbox.web import HUB, admin, answer, body, caller, named_user, ok, own, path_id, table, world_of

routes = web.RouteTableDef()


@routes.get("/api/v4/users/username/{name}")
async def user_by_name(request: web.Request) -> web.Response:
    user = world_of(request).user_named(request.match_info["name"])
    if user is None:
        raise errors.ApiError(
            404,
            "app.user.get_by_username.app_error",
            "Unable to find an existing account matching your username for this team. "
            "This team may require an invite from the team owner to join.",
        )
    return answer(_shown(request, user))


@routes.post("/api/v4/users/ids")
async def users_by_ids(request: web.Request) -> web.Response:
    asked = await body(request, "user_ids")
    if not isinstance(asked, list) or not asked:
        raise errors.bad_body("user_ids")
    users = world_of(request).users
    return answer([users[each].wire(private=False) for each in dict.fromkeys(asked) if each in users])


@routes.post("/api/v4/users/usernames")
async def users_by_names(request: web.Request) -> web.Response:
    asked = await body(request, "usernames")
    found = [world_of(request).user_named(str(each)) for each in asked]
    return answer([user.wire(private=False) for user in found if user is not None])


@routes.get("/api/v4/users/{user_id}")
async def user(request: web.Request) -> web.Response:
    return answer(_shown(request, named_user(request)))


@routes.put("/api/v4/users/{user_id}/patch")
async def patch_user(request: web.Request) -> web.Response:
    user = named_user(request)
    own(request, user)
    changes = await table(request, "user")
    if isinstance(changes.get("notify_props"), dict):
        user.notify_props = {str(key): str(value) for key, value in changes["notify_props"].items()}
    if isinstance(changes.get("first_name"), str):
        user.display_name = changes["first_name"]
    user.update_at = world_of(request).now_ms()
    return answer(user.wire(private=True))


@routes.post("/api/v4/users/{user_id}/typing")
async def typing(request: web.Request) -> web.Response:
    user = named_user(request)
    own(request, user)
    asked = await table(request, "typing_request")
    channel_id = asked.get("channel_id")
    if not isinstance(channel_id, str) or not world_of(request).is_member(channel_id, user.id):
        raise errors.forbidden()
    request.app[HUB].type(user, channel_id, str(asked.get("parent_id", "")))
    return ok()


@routes.get("/api/v4/users/{user_id}/status")
async def status(request: web.Request) -> web.Response:
    return answer(_status(request, named_user(request), manual=False))


@routes.put("/api/v4/users/{user_id}/status")
async def set_status(request: web.Request) -> web.Response:
    user = named_user(request)
    own(request, user)
    wanted = (await table(request, "status")).get("status")
    if wanted not in ("online", "away", "offline", "dnd"):
        raise errors.bad_body("status")
    world_of(request).set_status(user, wanted)
    return answer(_status(request, user, manual=True))


@routes.post("/api/v4/users/{user_id}/tokens")
async def make_token(request: web.Request) -> web.Response:
    user = named_user(request)
    own(request, user)
    description = str((await table(request, "token")).get("description", ""))
    if not description:
        raise errors.bad_body("token")
    token = world_of(request).add_token(user, description)
    wire = token.wire()
    return answer({"id": wire.pop("id"), "token": token.secret, **wire})


@routes.post("/api/v4/users/tokens/revoke")
async def revoke_token(request: web.Request) -> web.Response:
    asking = caller(request)
    wanted = (await table(request, "token_id")).get("token_id")
    tokens = world_of(request).tokens
    token = next((each for each in tokens.values() if each.id == wanted), None)
    if token is None:
        raise errors.ApiError(404, "app.user_access_token.get.app_error", "Unable to get the token.")
    if token.user_id != asking.id and not asking.is_admin:
        raise errors.forbidden()
    token.is_active = False
    return ok()


@routes.post("/api/v4/bots")
async def make_bot(request: web.Request) -> web.Response:
    owner = admin(request)
    world = world_of(request)
    asked = await table(request, "bot")
    name = str(asked.get("username", "")).casefold()
    if not name or world.user_named(name) is not None:
        raise errors.ApiError(400, "app.user.save.username_exists.app_error", "A user with that username exists.")
    bot = world.add_user(name, bot=True, display_name=str(asked.get("display_name", "")))
    bot.description = str(asked.get("description", ""))
    bot.owner_id = owner.id
    return answer(bot.bot_wire(), 201)


@routes.get("/api/v4/bots")
async def bots(request: web.Request) -> web.Response:
    admin(request)
    return answer([user.bot_wire() for user in world_of(request).users.values() if user.is_bot])


@routes.get("/api/v4/bots/{user_id}")
async def bot(request: web.Request) -> web.Response:
    return answer(_bot(request).bot_wire())


@routes.put("/api/v4/bots/{user_id}")
async def patch_bot(request: web.Request) -> web.Response:
    bot = _bot(request)
    changes = await table(request, "bot")
    bot.display_name = str(changes.get("display_name", bot.display_name))
    bot.description = str(changes.get("description", bot.description))
    bot.update_at = world_of(request).now_ms()
    return answer(bot.bot_wire())


@routes.post("/api/v4/bots/{user_id}/disable")
async def disable_bot(request: web.Request) -> web.Response:
    bot = _bot(request)
    world = world_of(request)
    bot.delete_at = bot.update_at = world.now_ms()
    world.set_status(bot, "offline")
    request.app[HUB].silence(bot.id)
    return answer(bot.bot_wire())


@routes.post("/api/v4/bots/{user_id}/enable")
async def enable_bot(request: web.Request) -> web.Response:
    bot = _bot(request)
    bot.delete_at = 0
    bot.update_at = world_of(request).now_ms()
    return answer(bot.bot_wire())


def _shown(request: web.Request, user: User) -> dict[str, object]:
    asking = caller(request)
    return user.wire(private=asking.id == user.id or asking.is_admin)


def _status(request: web.Request, user: User, *, manual: bool) -> dict[str, object]:
    return {
        "user_id": user.id,
        "status": user.status,
        "manual": manual,
        "last_activity_at": world_of(request).now_ms(),
        "dnd_end_time": 0,
    }


def _bot(request: web.Request) -> User:
    """Return the bot that the path names, for an administrator; to others bots do not exist."""
    asking = caller(request)
    user = world_of(request).users.get(path_id(request, "user_id"))
    if user is None or not user.is_bot or not asking.is_admin:
        raise errors.ApiError(404, "store.sql_bot.get.missing.app_error", "Bot does not exist.")
    return user
