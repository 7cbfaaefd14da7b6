"""REST: teams, channels, members."""

from __future__ import annotations

from aiohttp import web

from bot.sandbox import errors, places
from bot.sandbox.state import Json, User
from bot.sandbox.web import answer, body, caller, channel_for, named_user, ok, own, path_id, table, world_of

routes = web.RouteTableDef()


@routes.get("/api/v4/users/{user_id}/teams")
async def teams_of(request: web.Request) -> web.Response:
    user = named_user(request)
    own(request, user)
    world = world_of(request)
    return answer([team for team_id, team in world.teams.items() if user.id in world.team_members[team_id]])


@routes.get("/api/v4/teams/name/{name}")
async def team_by_name(request: web.Request) -> web.Response:
    return answer(_team_named(request))


@routes.get("/api/v4/teams/{team_id}")
async def team(request: web.Request) -> web.Response:
    return answer(_team(request))


@routes.get("/api/v4/teams/{team_id}/members")
async def team_members(request: web.Request) -> web.Response:
    team = _team(request)
    return answer([_team_member(team, user_id) for user_id in world_of(request).team_members[team["id"]]])


@routes.post("/api/v4/teams/{team_id}/members")
async def add_team_member(request: web.Request) -> web.Response:
    team = _team(request)
    asked = await table(request, "team_member")
    user = _user(request, asked.get("user_id"))
    world = world_of(request)
    if user.id not in world.team_members[team["id"]]:
        world.team_members[team["id"]].append(user.id)
        for name in ("town-square", "off-topic"):
            channel = world.channel_named(team["id"], name)
            if channel is not None:
                places.join(world, caller(request), channel, user)
    return answer(_team_member(team, user.id), 201)


@routes.get("/api/v4/users/{user_id}/teams/{team_id}/channels")
async def channels_of(request: web.Request) -> web.Response:
    user = named_user(request)
    own(request, user)
    return answer(world_of(request).channels_of(user.id, _team(request)["id"]))


@routes.get("/api/v4/users/{user_id}/channels")
async def all_channels_of(request: web.Request) -> web.Response:
    user = named_user(request)
    own(request, user)
    return answer(world_of(request).channels_of(user.id))


@routes.get("/api/v4/teams/{team_id}/channels/name/{channel_name}")
async def channel_by_name(request: web.Request) -> web.Response:
    return _channel_named(request, _team(request))


@routes.get("/api/v4/teams/name/{name}/channels/name/{channel_name}")
async def channel_by_names(request: web.Request) -> web.Response:
    return _channel_named(request, _team_named(request))


@routes.post("/api/v4/channels")
async def make_channel(request: web.Request) -> web.Response:
    user = caller(request)
    asked = await table(request, "channel")
    world = world_of(request)
    team_id, name = str(asked.get("team_id", "")), str(asked.get("name", ""))
    if user.id not in world.team_members.get(team_id, []):
        raise errors.forbidden()
    if not name or world.channel_named(team_id, name) is not None:
        message = "A channel with that name already exists on the same team."
        raise errors.ApiError(400, "store.sql_channel.save_channel.exists.app_error", message)
    kind = "P" if asked.get("type") == "P" else "O"
    display_name = str(asked.get("display_name") or name)
    return answer(places.open_channel(world, user, team_id, name, display_name, kind), 201)


@routes.post("/api/v4/channels/direct")
async def direct(request: web.Request) -> web.Response:
    asked = await body(request, "user_ids")
    user = caller(request)
    if not isinstance(asked, list) or len(asked) != 2:
        raise errors.bad_body("user_ids")
    if user.id not in asked and not user.is_admin:
        raise errors.forbidden()
    first, second = (_user(request, each) for each in asked)
    other = second if first.id == user.id else first
    return answer(places.direct(world_of(request), user if user.id in asked else second, other), 201)


@routes.post("/api/v4/channels/group")
async def group(request: web.Request) -> web.Response:
    asked = await body(request, "user_ids")
    user = caller(request)
    if not isinstance(asked, list):
        raise errors.bad_body("user_ids")
    users = {each.id: each for each in (user, *(_user(request, each) for each in asked))}
    if not 3 <= len(users) <= 8:
        message = "Group message channels must contain at least 3 and no more than 8 users."
        raise errors.ApiError(400, "api.channel.create_group.bad_size.app_error", message)
    return answer(places.group(world_of(request), list(users.values())), 201)


@routes.get("/api/v4/channels/{channel_id}")
async def channel(request: web.Request) -> web.Response:
    world = world_of(request)
    found = world.channels.get(path_id(request, "channel_id"))
    user = caller(request)
    if found is not None and found["type"] == "O" and user.id in world.team_members.get(found["team_id"], []):
        return answer(found)
    return answer(channel_for(request))


@routes.put("/api/v4/channels/{channel_id}/patch")
async def patch_channel(request: web.Request) -> web.Response:
    channel = channel_for(request)
    changes = await table(request, "channel")
    if isinstance(changes.get("header"), str):
        places.set_header(world_of(request), caller(request), channel, changes["header"])
    return answer(channel)


@routes.delete("/api/v4/channels/{channel_id}")
async def archive_channel(request: web.Request) -> web.Response:
    places.archive(world_of(request), caller(request), channel_for(request))
    return ok()


@routes.get("/api/v4/channels/{channel_id}/members")
async def members(request: web.Request) -> web.Response:
    channel = channel_for(request, missing=403)
    page, per_page = (int(request.query.get(key, default)) for key, default in (("page", "0"), ("per_page", "60")))
    listed = list(world_of(request).members[channel["id"]].values())
    return answer(listed[page * per_page : (page + 1) * per_page])


@routes.get("/api/v4/channels/{channel_id}/members/{user_id}")
async def member(request: web.Request) -> web.Response:
    channel = channel_for(request, missing=403)
    found = world_of(request).members[channel["id"]].get(named_user(request).id)
    if found is None:
        raise errors.ApiError(404, "app.channel.get_member.missing.app_error", "No channel member found.")
    return answer(found)


@routes.post("/api/v4/channels/{channel_id}/members")
async def add_member(request: web.Request) -> web.Response:
    world = world_of(request)
    actor = caller(request)
    asked = await table(request, "user_id")
    user = _user(request, asked.get("user_id"))
    channel = world.channels.get(path_id(request, "channel_id"))
    joining_itself = channel is not None and channel["type"] == "O" and user.id == actor.id
    if not joining_itself:
        channel = channel_for(request)
    assert channel is not None
    return answer(places.join(world, actor, channel, user), 201)


@routes.delete("/api/v4/channels/{channel_id}/members/{user_id}")
async def remove_member(request: web.Request) -> web.Response:
    channel = channel_for(request)
    user = named_user(request)
    places.leave(world_of(request), caller(request), channel, user)
    return ok()


@routes.post("/api/v4/channels/members/{user_id}/view")
async def view_channel(request: web.Request) -> web.Response:
    own(request, named_user(request))
    return answer({"status": "OK", "last_viewed_at_times": {}})


def _user(request: web.Request, user_id: object) -> User:
    user = world_of(request).users.get(user_id) if isinstance(user_id, str) else None
    if user is None:
        raise errors.bad_body("user_id")
    return user


def _team(request: web.Request) -> Json:
    return _joined(request, world_of(request).teams.get(path_id(request, "team_id")))


def _team_named(request: web.Request) -> Json:
    return _joined(request, world_of(request).team_named(request.match_info["name"]))


def _joined(request: web.Request, team: Json | None) -> Json:
    user = caller(request)
    if team is None:
        raise errors.ApiError(404, "app.team.get_by_name.missing.app_error", "Unable to find the existing team.")
    if not user.is_admin and user.id not in world_of(request).team_members[team["id"]]:
        raise errors.forbidden()
    return team


def _team_member(team: Json, user_id: str) -> Json:
    return {
        "team_id": team["id"],
        "user_id": user_id,
        "roles": "team_user",
        "delete_at": 0,
        "scheme_guest": False,
        "scheme_user": True,
        "scheme_admin": False,
        "explicit_roles": "",
    }


def _channel_named(request: web.Request, team: Json) -> web.Response:
    found = world_of(request).channel_named(team["id"], request.match_info["channel_name"])
    user = caller(request)
    if found is None or (found["type"] == "P" and not world_of(request).is_member(found["id"], user.id)):
        raise errors.ApiError(404, "app.channel.get_by_name.missing.app_error", "Channel does not exist.")
    return answer(found)
