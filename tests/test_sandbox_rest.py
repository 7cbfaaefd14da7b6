"""The sandbox's REST API answers as recorded from a real server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import aiohttp.web
import pytest

from bot.sandbox.limiter import RateLimiter
from bot.sandbox.server import SandboxServer
from bot.sandbox.state import NEWER, Rules, is_id
from tests.doubles_sandbox import Client, Clock, run, running

USER_KEYS = [
    *("id", "create_at", "update_at", "delete_at", "username", "auth_data", "auth_service", "email", "nickname"),
    *("first_name", "last_name", "position", "roles"),
]
CHANNEL_KEYS = [
    *("id", "create_at", "update_at", "delete_at", "team_id", "type", "display_name", "name", "header", "purpose"),
    *("last_post_at", "total_msg_count", "extra_update_at", "creator_id", "scheme_id", "props", "group_constrained"),
    *("shared", "total_msg_count_root", "policy_id"),
]
MISSING = "a" * 26


def failed(answer: tuple[int, Any], status: int, error_id: str) -> None:
    """Assert that an answer is the error, in its full shape."""
    got, body = answer
    assert (got, body["id"]) == (status, error_id)
    assert list(body) == ["id", "message", "detailed_error", "request_id", "status_code"]
    assert body["status_code"] == status
    assert is_id(body["request_id"])


async def create(client: Client, channel_id: str, message: str = "x", **more: Any) -> tuple[int, Any]:
    return await client.ask("POST", "/posts", {"channel_id": channel_id, "message": message, **more})


def triage(server: SandboxServer) -> str:
    return str(server.channel("triage")["id"])


# who asks


def test_a_bad_missing_or_revoked_token_is_401_on_every_call() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bad = client("")
            expired = "api.context.session_expired.app_error"
            failed(await bad.ask("GET", "/users/me"), 401, expired)
            failed(await create(bad, triage(server)), 401, expired)
            bad.token = "wrong"
            failed(await bad.ask("GET", "/users/me"), 401, expired)
            bot = client("guidebot")
            server.world.tokens[bot.token].is_active = False
            failed(await bot.ask("GET", "/users/me"), 401, expired)
            assert (await bad.ask("GET", "/system/ping"))[0] == 200

    run(story)


def test_me_has_the_recorded_keys_and_others_hide_what_is_private() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            _, me = await bot.ask("GET", "/users/me")
            assert list(me) == [
                *USER_KEYS,
                *("notify_props", "last_password_update", "locale", "timezone", "is_bot", "bot_description"),
                "disable_welcome_email",
            ]
            _, ann = await bot.ask("GET", f"/users/{server.user('ann').id}")
            assert list(ann) == [*USER_KEYS, "locale", "timezone", "disable_welcome_email"]
            _, both = await bot.ask("POST", "/users/ids", [ann["id"], me["id"], MISSING])
            assert [user["username"] for user in both] == ["ann", "guidebot"]
            failed(await bot.ask("GET", "/users/username/nosuch"), 404, "app.user.get_by_username.app_error")
            failed(await bot.ask("GET", f"/bots/{me['id']}"), 404, "store.sql_bot.get.missing.app_error")

    run(story)


def test_the_bot_may_patch_its_own_notify_props_and_nobody_elses() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            status, me = await bot.ask("PUT", "/users/me/patch", {"notify_props": {"channel": "false"}})
            assert (status, me["notify_props"]) == (200, {"channel": "false"})
            other = f"/users/{server.user('ann').id}/patch"
            failed(await bot.ask("PUT", other, {"notify_props": {}}), 403, "api.context.permissions.app_error")

    run(story)


def test_an_administrator_makes_a_bot_with_a_token_that_works() -> None:
    async def story() -> None:
        async with running() as (server, client):
            admin = client("admin")
            status, bot = await admin.ask("POST", "/bots", {"username": "second", "display_name": "Second"})
            assert status == 201
            assert list(bot) == [
                *("user_id", "username", "display_name", "description", "owner_id", "create_at", "update_at"),
                "delete_at",
            ]
            status, token = await admin.ask("POST", f"/users/{bot['user_id']}/tokens", {"description": "t"})
            assert (status, list(token)) == (200, ["id", "token", "user_id", "description", "is_active"])
            second = client("")
            second.token = token["token"]
            team = server.team["id"]
            failed(await second.ask("GET", f"/teams/{team}"), 403, "api.context.permissions.app_error")
            status, _ = await admin.ask("POST", f"/teams/{team}/members", {"team_id": team, "user_id": bot["user_id"]})
            assert status == 201
            _, teams = await second.ask("GET", "/users/me/teams")
            assert [each["name"] for each in teams] == ["clinic"]
            _, channels = await second.ask("GET", f"/users/me/teams/{team}/channels")
            assert [each["name"] for each in channels] == ["town-square"]
            failed(await second.ask("POST", "/bots", {"username": "x"}), 403, "api.context.permissions.app_error")

    run(story)


# places


def test_channels_are_found_by_name_and_id_and_have_the_recorded_keys() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            _, channel = await bot.ask("GET", "/teams/name/clinic/channels/name/triage")
            assert list(channel) == CHANNEL_KEYS
            _, same = await bot.ask("GET", f"/channels/{channel['id']}")
            assert same == channel
            missing = "app.channel.get_by_name.missing.app_error"
            failed(await bot.ask("GET", "/teams/name/clinic/channels/name/nosuch"), 404, missing)
            failed(await bot.ask("GET", f"/channels/{MISSING}"), 404, "app.channel.get.existing.app_error")
            failed(await bot.ask("GET", "/channels/bad"), 400, "api.context.invalid_url_param.app_error")
            _, members = await bot.ask("GET", f"/channels/{channel['id']}/members")
            assert {each["user_id"] for each in members} == set(server.world.users)

    run(story)


def test_a_channel_that_the_bot_is_not_in_is_403_and_so_is_a_missing_one() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot, ann = client("guidebot"), client("ann")
            for kind in ("O", "P"):
                new = {"team_id": server.team["id"], "name": f"no{kind.lower()}", "display_name": "N", "type": kind}
                _, channel = await ann.ask("POST", "/channels", new)
                denied = "api.context.permissions.app_error"
                failed(await create(bot, channel["id"]), 403, denied)
                failed(await bot.ask("GET", f"/channels/{channel['id']}/posts"), 403, denied)
            failed(await bot.ask("GET", f"/channels/{channel['id']}"), 403, denied)
            failed(await create(bot, MISSING), 403, denied)
            failed(await bot.ask("POST", "/posts", {"message": "x"}), 403, denied)

    run(story)


def test_direct_and_group_channels_are_made_once() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            ids = [server.bot.id, server.user("ann").id]
            status, direct = await bot.ask("POST", "/channels/direct", ids)
            assert (status, direct["type"], direct["team_id"], direct["shared"]) == (201, "D", "", False)
            _, again = await client("ann").ask("POST", "/channels/direct", ids[::-1])
            assert again["id"] == direct["id"]
            _, group = await bot.ask("POST", "/channels/group", [*ids, server.user("ben").id])
            assert (group["type"], group["display_name"]) == ("G", "ann, ben, guidebot")
            _, channels = await bot.ask("GET", f"/users/me/teams/{server.team['id']}/channels")
            assert {direct["id"], group["id"]} <= {each["id"] for each in channels}

    run(story)


def test_an_archived_channel_can_be_read_and_nothing_else() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            _, post = await create(bot, triage(server))
            await client("admin").ask("DELETE", f"/channels/{triage(server)}")
            failed(await create(bot, triage(server)), 400, "api.post.create_post.can_not_post_to_deleted.error")
            reaction = {"user_id": server.bot.id, "post_id": post["id"], "emoji_name": "eyes"}
            archived = "api.reaction.save.archived_channel.app_error"
            failed(await bot.ask("POST", "/reactions", reaction), 403, archived)
            status, posts = await bot.ask("GET", f"/channels/{triage(server)}/posts")
            assert status == 200
            assert posts["posts"][posts["order"][0]]["type"] == "system_channel_deleted"

    run(story)


# posts


def test_a_root_must_be_a_standing_root_of_the_same_channel() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            _, root = await create(bot, triage(server))
            status, reply = await create(bot, triage(server), root_id=root["id"])
            assert (status, reply["parent_id"], reply["reply_count"]) == (201, root["id"], 1)
            bad_root = "api.post.create_post.root_id.app_error"
            for wrong in (reply["id"], MISSING, "zz"):
                failed(await create(bot, triage(server), root_id=wrong), 400, bad_root)
            elsewhere = "api.post.create_post.channel_root_id.app_error"
            ward = server.channel("ward-3")["id"]
            failed(await create(bot, ward, root_id=root["id"]), 400, elsewhere)
            assert (await bot.ask("DELETE", f"/posts/{root['id']}"))[0] == 200
            failed(await create(bot, triage(server), root_id=root["id"]), 400, bad_root)
            for path in ("", "/thread"):
                failed(await bot.ask("GET", f"/posts/{root['id']}{path}"), 404, "app.post.get.app_error")
            failed(await bot.ask("GET", f"/posts/{reply['id']}"), 404, "app.post.get.app_error")

    run(story)


@pytest.mark.parametrize("char", ["a", "é", "😀"])
def test_a_message_of_16383_characters_is_the_longest(char: str) -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            status, post = await create(bot, triage(server), char * 16_383)
            assert (status, len(post["message"])) == (201, 16_383)
            failed(await create(bot, triage(server), char * 16_384), 400, "model.post.is_valid.msg.app_error")

    run(story)


def test_limits_of_an_older_and_a_current_server() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            props = {"x": "y" * 8_000}
            failed(await create(bot, triage(server), props=props), 400, "model.post.is_valid.props.app_error")
            failed(await create(bot, triage(server), "a\0b"), 500, "app.post.save.app_error")
            _, config = await bot.ask("GET", "/config/client?format=old")
            assert (config["MaxPostSize"], config["Version"]) == ("16383", "5.37.0")
        async with running(rules=NEWER) as (server, client):
            bot = client("guidebot")
            assert (await create(bot, triage(server), props=props))[0] == 201
            too_long = "model.post.is_valid.message_length.app_error"
            failed(await create(bot, triage(server), "a" * 16_384), 400, too_long)

    run(story)


def test_odd_bodies() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            url = f"{server.url}/api/v4/posts"
            headers = {"Authorization": f"Bearer {bot.token}"}
            async with bot.session.post(url, data="{nonsense", headers=headers) as response:
                failed((response.status, await response.json()), 400, "api.context.invalid_body_param.app_error")
            failed(await create(bot, triage(server), type="system_generic"), 400, "api.context.invalid_param.app_error")
            _, post = await create(bot, triage(server), create_at=15, bogus=1, props={"from_bot": "false", "a": 1})
            assert post["create_at"] > 15
            assert post["props"] == {"a": 1, "from_bot": "true"}
            assert (await create(bot, triage(server), ""))[0] == 201
            ephemeral = {"user_id": server.user("ann").id, "post": {"channel_id": triage(server), "message": "psst"}}
            failed(await bot.ask("POST", "/posts/ephemeral", ephemeral), 403, "api.context.permissions.app_error")

    run(story)


def test_attachments_are_stored_in_full_and_without_the_buttons_addresses() -> None:
    async def story() -> None:
        async with running() as (server, client):
            action = {"id": "like", "type": "button", "name": "Like", "integration": {"url": "http://127.0.0.1:9/x"}}
            props = {"attachments": [{"text": "**bold**", "actions": [action]}]}
            _, post = await create(client("guidebot"), triage(server), "", props=props)
            (attachment,) = post["props"]["attachments"]
            assert attachment == {
                **{"id": 0, "fallback": "", "color": "", "pretext": "", "author_name": "", "author_link": ""},
                **{"author_icon": "", "title": "", "title_link": "", "text": "**bold**", "fields": None},
                **{"image_url": "", "thumb_url": "", "footer": "", "footer_icon": "", "ts": None},
                "actions": [{"id": "like", "type": "button", "name": "Like"}],
            }
            assert post["metadata"] == {"embeds": [{"type": "message_attachment"}]}

    run(story)


def test_a_message_patch_keeps_the_props_and_a_props_patch_replaces_them_all() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            _, post = await create(bot, triage(server), props={"keep": "me"})
            path = f"/posts/{post['id']}/patch"
            _, edited = await bot.ask("PUT", path, {"message": "final"})
            assert (edited["message"], edited["props"]) == ("final", {"from_bot": "true", "keep": "me"})
            assert edited["edit_at"] == edited["update_at"] > post["update_at"]
            _, edited = await bot.ask("PUT", path, {"props": {"a": 1}})
            assert (edited["message"], edited["props"]) == ("final", {"a": 1})
            failed(await bot.ask("PUT", path, {"message": "a" * 16_384}), 400, "model.post.is_valid.msg.app_error")
            denied = "api.context.permissions.app_error"
            failed(await client("ann").ask("PUT", path, {"message": "x"}), 403, denied)
            failed(await client("ann").ask("DELETE", f"/posts/{post['id']}"), 403, denied)
            failed(await bot.ask("PUT", f"/posts/{MISSING}/patch", {"message": "x"}), 403, denied)
            assert (await bot.ask("DELETE", f"/posts/{post['id']}"))[0] == 200
            failed(await bot.ask("PUT", path, {"message": "x"}), 403, denied)

    run(story)


def test_reactions() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            _, post = await create(client("ann"), triage(server))
            wish = {"user_id": server.bot.id, "post_id": post["id"], "emoji_name": "eyes"}
            status, reaction = await bot.ask("POST", "/reactions", wish)
            assert (status, list(reaction)) == (
                200,
                ["user_id", "post_id", "emoji_name", "create_at", "update_at", "delete_at", "remote_id"],
            )
            assert (await bot.ask("POST", "/reactions", {**wish, "emoji_name": "nosuchemoji"}))[0] == 200
            other = {**wish, "user_id": server.user("ann").id}
            own_only = "api.reaction.save_reaction.user_id.app_error"
            failed(await bot.ask("POST", "/reactions", other), 403, own_only)
            denied = "api.context.permissions.app_error"
            failed(await bot.ask("POST", "/reactions", {**wish, "post_id": MISSING}), 403, denied)
            _, listed = await bot.ask("GET", f"/posts/{post['id']}/reactions")
            assert [each["emoji_name"] for each in listed] == ["eyes", "nosuchemoji"]
            for _ in range(2):
                path = f"/users/{server.bot.id}/posts/{post['id']}/reactions/eyes"
                assert (await bot.ask("DELETE", path))[0] == 200
            _, shown = await bot.ask("GET", f"/posts/{post['id']}")
            assert shown["has_reactions"]
            assert [each["emoji_name"] for each in shown["metadata"]["reactions"]] == ["nosuchemoji"]

    run(story)


def test_a_file_is_uploaded_and_read_by_the_channel() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot, ann = client("guidebot"), client("ann")
            form = aiohttp.FormData({"channel_id": triage(server)})
            form.add_field("files", b"\x89PNG", filename="chart.png")
            headers = {"Authorization": f"Bearer {bot.token}"}
            async with bot.session.post(f"{server.url}/api/v4/files", data=form, headers=headers) as response:
                assert response.status == 201
                (info,) = (await response.json())["file_infos"]
            assert (info["extension"], info["mime_type"], info["size"]) == ("png", "image/png", 4)
            _, post = await create(bot, triage(server), file_ids=[info["id"], MISSING])
            assert post["file_ids"] == [info["id"]]
            assert post["metadata"]["files"][0]["post_id"] == post["id"]
            assert (await ann.ask("GET", f"/files/{info['id']}/info"))[1]["name"] == "chart.png"

    run(story)


# creating once


def test_the_same_pending_id_within_half_a_minute_gives_the_first_post() -> None:
    clock = Clock()

    async def story() -> None:
        async with running(clock=clock) as (server, client):
            bot = client("guidebot")
            pending = f"{server.bot.id}:1"
            _, first = await create(bot, triage(server), "once", pending_post_id=pending)
            assert first["pending_post_id"] == pending
            clock.now += 25
            status, again = await create(bot, server.channel("ward-3")["id"], "else", pending_post_id=pending)
            assert (status, again["id"], again["pending_post_id"]) == (201, first["id"], "")
            assert "metadata" not in again
            assert len(server.posts_in(triage(server))) == 1
            clock.now += 6
            _, late = await create(bot, triage(server), "once", pending_post_id=pending)
            assert late["id"] != first["id"]

    run(story)


def test_while_one_is_being_made_the_same_pending_id_is_refused() -> None:
    async def story() -> None:
        begun, go = asyncio.Event(), asyncio.Event()

        async def hold(_: dict[str, Any]) -> None:
            begun.set()
            await go.wait()

        async with running(before_save=hold) as (server, client):
            bot = client("guidebot")
            first = asyncio.create_task(create(bot, triage(server), pending_post_id="p"))
            await begun.wait()
            pending = "api.post.deduplicate_create_post.pending"
            failed(await create(bot, triage(server), pending_post_id="p"), 500, pending)
            go.set()
            assert (await first)[0] == 201

    run(story)


def test_a_failed_create_frees_its_pending_id_and_a_deleted_post_does_not() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            assert (await create(bot, triage(server), "a" * 20_000, pending_post_id="p"))[0] == 400
            _, post = await create(bot, triage(server), pending_post_id="p")
            await bot.ask("DELETE", f"/posts/{post['id']}")
            gone = "api.post.deduplicate_create_post.failed_to_get"
            failed(await create(bot, triage(server), pending_post_id="p"), 500, gone)

    run(story)


# lists


class Five:
    """A channel with m0 … m3 and a reply to m0, a second apart."""

    def __init__(self, server: SandboxServer, clock: Clock) -> None:
        self.channel = triage(server)
        self.path = f"/channels/{self.channel}/posts"
        self.m = []
        for number in range(4):
            clock.now += 1
            self.m.append(server.post("ann", self.channel, f"m{number}"))
        clock.now += 1
        self.reply = server.post("ann", self.channel, "reply", root_id=self.m[0]["id"])

    def names(self, posts: dict[str, Any], ids: list[str]) -> list[str]:
        return [posts["posts"][post_id]["message"] for post_id in ids]


def test_pages_are_newest_first_and_bring_the_roots_of_replies() -> None:
    clock = Clock()

    async def story() -> None:
        async with running(clock=clock) as (server, client):
            five, bot = Five(server, clock), client("guidebot")
            _, got = await bot.ask("GET", f"{five.path}?per_page=2&page=0")
            assert five.names(got, got["order"]) == ["reply", "m3"]
            assert set(five.names(got, list(got["posts"]))) == {"reply", "m3", "m0"}
            assert (got["next_post_id"], got["prev_post_id"]) == ("", five.m[2]["id"])
            assert {post["reply_count"] for post in got["posts"].values()} == {0}
            _, got = await bot.ask("GET", f"{five.path}?per_page=2&page=1")
            assert five.names(got, got["order"]) == ["m2", "m1"]
            assert (got["next_post_id"], got["prev_post_id"]) == (five.m[3]["id"], five.m[0]["id"])

    run(story)


def test_after_pages_forward_and_before_backward() -> None:
    clock = Clock()

    async def story() -> None:
        async with running(clock=clock) as (server, client):
            five, bot = Five(server, clock), client("guidebot")
            _, got = await bot.ask("GET", f"{five.path}?after={five.m[1]['id']}")
            assert five.names(got, got["order"]) == ["reply", "m3", "m2"]
            assert got["posts"][five.m[0]["id"]]["reply_count"] == 1
            assert (got["next_post_id"], got["prev_post_id"]) == ("", five.m[1]["id"])
            _, got = await bot.ask("GET", f"{five.path}?after={five.m[1]['id']}&per_page=1")
            assert five.names(got, got["order"]) == ["m2"]
            assert (got["next_post_id"], got["prev_post_id"]) == (five.m[3]["id"], five.m[1]["id"])
            _, got = await bot.ask("GET", f"{five.path}?before={five.m[1]['id']}")
            assert five.names(got, got["order"]) == ["m0"]
            assert five.reply["id"] in got["posts"]
            assert (got["next_post_id"], got["prev_post_id"]) == (five.m[1]["id"], "")
            _, got = await bot.ask("GET", f"{five.path}?after={MISSING}")
            assert (got["order"], got["prev_post_id"]) == ([], MISSING)
            bad = "api.context.invalid_body_param.app_error"
            failed(await bot.ask("GET", f"{five.path}?after=bad"), 400, bad)

    run(story)


def test_after_skips_a_post_of_the_same_millisecond_where_times_may_be_equal() -> None:
    async def story() -> None:
        async with running(clock=Clock(), rules=Rules(distinct_times=False)) as (server, client):
            first, second = (server.post("ann", triage(server), text) for text in ("one", "two"))
            assert first["create_at"] == second["create_at"]
            _, got = await client("guidebot").ask("GET", f"/channels/{triage(server)}/posts?after={first['id']}")
            assert got["order"] == []

    run(story)


def test_since_is_strictly_by_update_and_brings_edits_deletions_reactions_and_bumped_roots() -> None:
    clock = Clock()

    async def story() -> None:
        async with running(clock=clock) as (server, client):
            five, bot, ann = Five(server, clock), client("guidebot"), client("ann")
            _, got = await bot.ask("GET", f"{five.path}?since={five.m[2]['create_at']}")
            assert five.names(got, got["order"]) == ["reply", "m3", "m0"]
            assert (got["next_post_id"], got["prev_post_id"]) == ("", "")
            now = int(clock.now * 1000)
            clock.now += 1
            await ann.ask("PUT", f"/posts/{five.m[1]['id']}/patch", {"message": "m1 edited"})
            await ann.ask("DELETE", f"/posts/{five.m[3]['id']}")
            wish = {"user_id": server.bot.id, "post_id": five.m[2]["id"], "emoji_name": "eyes"}
            await bot.ask("POST", "/reactions", wish)
            _, got = await bot.ask("GET", f"{five.path}?since={now}")
            assert five.names(got, got["order"])[:2] == ["", "m2"]
            deleted = got["posts"][five.m[3]["id"]]
            assert (deleted["message"], deleted["props"]) == ("", {"deleteBy": server.user("ann").id})
            assert deleted["delete_at"] == deleted["update_at"]
            (before,) = [post for post in got["posts"].values() if post["original_id"]]
            assert (before["original_id"], before["message"]) == (five.m[1]["id"], "")
            assert before["delete_at"]
            assert (await bot.ask("GET", f"{five.path}?since={now + 10**9}"))[1]["order"] == []
            failed(await bot.ask("GET", f"{five.path}?since=abc"), 400, "api.context.invalid_body_param.app_error")

    run(story)


def test_since_gives_a_thousand_at_most() -> None:
    async def story() -> None:
        async with running() as (server, client):
            for _ in range(1005):
                server.post("ann", triage(server), "x")
            _, got = await client("guidebot").ask("GET", f"/channels/{triage(server)}/posts?since=1")
            assert len(got["order"]) == 1000
            _, got = await client("guidebot").ask("GET", f"/channels/{triage(server)}/posts?per_page=500")
            assert len(got["order"]) == 200

    run(story)


def test_a_thread_gives_the_asked_post_twice() -> None:
    clock = Clock()

    async def story() -> None:
        async with running(clock=clock) as (server, client):
            five, bot = Five(server, clock), client("guidebot")
            root, reply = five.m[0]["id"], five.reply["id"]
            _, got = await bot.ask("GET", f"/posts/{root}/thread")
            assert got["order"] == [root, reply, root]
            _, got = await bot.ask("GET", f"/posts/{reply}/thread")
            assert got["order"] == [reply, reply, root]

    run(story)


def test_an_unchanged_channel_is_304() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot, path = client("guidebot"), f"/channels/{triage(server)}/posts"
            _, headers, _ = await bot.ask_in_full("GET", path)
            tag = {"If-None-Match": headers["Etag"]}
            assert (await bot.ask_in_full("GET", path, headers=tag))[0] == 304
            await create(bot, triage(server))
            assert (await bot.ask_in_full("GET", path, headers=tag))[0] == 200

    run(story)


# limits and odd routes


def test_the_rate_limit_counts_as_recorded() -> None:
    clock = Clock()

    async def story() -> None:
        async with running(clock=clock) as (server, client):
            bot = client("guidebot")
            server.limiter = RateLimiter(per_s=2, burst=5)
            seen = []
            for _ in range(9):
                status, headers, text = await bot.ask_in_full("GET", "/users/me")
                seen.append((status, headers["X-Ratelimit-Remaining"], headers["X-Ratelimit-Reset"]))
                assert headers["X-Ratelimit-Limit"] == "6"
            assert seen == [
                *[(200, "5", "1"), (200, "4", "1"), (200, "3", "2"), (200, "2", "2"), (200, "1", "3"), (200, "0", "3")],
                *[(429, "0", "3")] * 3,
            ]
            assert (text, headers["Retry-After"]) == ("limit exceeded\n", "1")
            assert headers["Content-Type"].startswith("text/plain")
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await bot.socket()
            assert refused.value.status == 429
            clock.now += 5
            _, headers, _ = await bot.ask_in_full("GET", "/users/me")
            assert headers["X-Ratelimit-Remaining"] == "5"

    run(story)


def test_an_unknown_route_is_text_that_holds_json() -> None:
    async def story() -> None:
        async with running() as (_, client):
            status, headers, body = await client("guidebot").ask_in_full("GET", "/nosuch")
            assert (status, headers["Content-Type"].partition(";")[0]) == (404, "text/plain")
            assert list(body) == ["id", "message", "detailed_error", "status_code"]
            assert "/api/v4/nosuch" in body["detailed_error"]
            failed(await client("").ask("GET", "/config/client"), 501, "api.config.client.old_format.app_error")
            assert "MaxPostSize" not in (await client("").ask("GET", "/config/client?format=old"))[1]

    run(story)


def test_answers_carry_the_servers_version() -> None:
    async def story() -> None:
        async with running() as (_, client):
            _, headers, _ = await client("guidebot").ask_in_full("GET", "/users/me")
            assert headers["X-Version-Id"].startswith("5.37.0.")
            assert is_id(headers["X-Request-Id"])

    run(story)


def test_a_middleware_sees_a_request_first_and_may_answer_it() -> None:
    @aiohttp.web.middleware
    async def broken(request: aiohttp.web.Request, handler: Any) -> aiohttp.web.StreamResponse:
        if request.path == "/api/v4/posts":
            return aiohttp.web.Response(status=502, text="<html>bad gateway</html>")
        response: aiohttp.web.StreamResponse = await handler(request)
        return response

    async def story() -> None:
        async with running(middlewares=[broken]) as (server, client):
            assert (await create(client("guidebot"), triage(server)))[0] == 502
            assert server.posts_in(triage(server)) == []
            assert (await client("guidebot").ask("GET", "/users/me"))[0] == 200

    run(story)


# this machine only


def test_it_listens_on_loopback_only() -> None:
    with pytest.raises(ValueError, match="loopback"):
        asyncio.run(SandboxServer().start(host="0.0.0.0"))


def test_the_names_and_tokens_are_not_given_to_a_page_of_another_name() -> None:
    async def story() -> None:
        async with running() as (server, client):
            session = client("").session
            async with session.get(f"{server.url}/sandbox") as response:
                people = json.loads(await response.text())
                assert [each["username"] for each in people["people"]] == ["ann", "ben", "zoe"]
            for path in ("/sandbox", "/"):
                async with session.get(f"{server.url}{path}", headers={"Host": "evil.test"}) as response:
                    assert response.status == 403

    run(story)
