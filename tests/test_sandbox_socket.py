"""The sandbox's websocket behaves as recorded from a real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import aiohttp
import pytest

from bot.sandbox.hub import RESUME_WITHIN_S, WAITING_EVENTS, Connection, Patience
from bot.sandbox.server import SandboxServer
from bot.sandbox.state import NEWER
from tests.doubles_sandbox import Client, Clock, Stream, run, running


async def greeted(client: Client, query: str = "", *, header: bool = True) -> tuple[Stream, str]:
    """Connect and skip the two frames of a fresh connection; return its id too."""
    stream = await client.socket(query, header=header)
    hello = await stream.frame()
    assert (hello["event"], hello["seq"]) == ("hello", 0)
    return stream, hello["data"]["connection_id"]


def say(server: SandboxServer, message: str, name: str = "ann") -> dict[str, Any]:
    return server.post(name, server.channel("triage")["id"], message)


def message_of(frame: dict[str, Any]) -> str:
    return str(json.loads(frame["data"]["post"])["message"])


async def lost(server: SandboxServer, name: str = "guidebot") -> None:
    """Drop somebody's sockets and wait until the server has noticed."""
    for socket in server.sockets_of(name):
        socket.abort()
        await socket.gone.wait()


# signing in


def test_a_token_on_the_upgrade_brings_hello_and_no_challenge_is_needed() -> None:
    async def story() -> None:
        async with running() as (server, client):
            stream = await client("guidebot").socket()
            hello = await stream.frame()
            assert (hello["event"], hello["seq"]) == ("hello", 0)
            assert len(hello["data"]["connection_id"]) == 26
            assert hello["data"]["server_version"].startswith("5.37.0.")
            assert hello["broadcast"] == {
                "omit_users": None,
                "user_id": server.bot.id,
                "channel_id": "",
                "team_id": "",
            }
            online = await stream.frame()
            assert (online["event"], online["seq"], online["data"]["status"]) == ("status_change", 1, "online")

    run(story)


def test_the_challenge_brings_hello_before_its_reply() -> None:
    async def story() -> None:
        async with running() as (_, client):
            bot = client("guidebot")
            stream = await bot.socket(header=False)
            await stream.send(1, "authentication_challenge", token=bot.token)
            assert (await stream.frame())["event"] == "hello"
            assert await stream.frame() == {"status": "OK", "seq_reply": 1}
            assert (await stream.frame())["seq"] == 1

    run(story)


@pytest.mark.parametrize("data", [{"token": "wrong"}, {}])
def test_a_bad_challenge_drops_the_connection_without_a_word(data: dict[str, str]) -> None:
    async def story() -> None:
        async with running() as (_, client):
            stream = await client("").socket(header=False)
            await stream.send(1, "authentication_challenge", **data)
            assert await stream.closed() == 1006

    run(story)


def test_without_a_token_or_with_a_bad_one_on_the_upgrade_it_is_dropped_after_a_while() -> None:
    async def story() -> None:
        async with running(patience=Patience(token_s=0.05)) as (_, client):
            anonymous, wrong = client(""), client("")
            wrong.token = "wrong"
            assert await (await anonymous.socket(header=False)).closed() == 1006
            assert await (await wrong.socket()).closed() == 1006

    run(story)


def test_before_the_token_and_with_seq_0_nothing_is_answered() -> None:
    async def story() -> None:
        async with running() as (_, client):
            bot = client("guidebot")
            stream = await bot.socket(header=False)
            await stream.send(1, "get_statuses")
            await stream.send(0, "authentication_challenge", token=bot.token)
            await stream.send(5, "authentication_challenge", token=bot.token)
            assert (await stream.frame())["event"] == "hello"
            assert (await stream.frame())["seq_reply"] == 5

    run(story)


def test_a_second_challenge_is_not_answered() -> None:
    async def story() -> None:
        async with running() as (_, client):
            bot = client("guidebot")
            stream, _ = await greeted(bot)
            await stream.send(1, "authentication_challenge", token=bot.token)
            await stream.send(2, "get_statuses")
            await stream.frame()
            assert (await stream.frame())["seq_reply"] == 2

    run(story)


# events


def test_a_mention_is_told_to_the_bot_and_its_reply_goes_into_the_thread() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot, ann = client("guidebot"), client("ann")
            stream, _ = await greeted(bot)
            channel = server.channel("triage")["id"]
            status, root = await ann.ask("POST", "/posts", {"channel_id": channel, "message": "@guidebot hi"})
            assert status == 201
            posted = await stream.until("posted")
            assert json.loads(posted["data"]["mentions"]) == [server.bot.id]
            assert json.loads(posted["data"]["post"]) == root
            status, reply = await bot.ask(
                "POST", "/posts", {"channel_id": channel, "message": "hello", "root_id": root["id"]}
            )
            assert (status, reply["root_id"], reply["props"]) == (201, root["id"], {"from_bot": "true"})
            own = await stream.until("posted")
            assert json.loads(own["data"]["post"]) == reply
            status, thread = await bot.ask("GET", f"/posts/{root['id']}/thread")
            assert thread["order"] == [root["id"], reply["id"], root["id"]]

    run(story)


def test_posted_has_the_recorded_shape() -> None:
    async def story() -> None:
        async with running() as (server, client):
            stream, _ = await greeted(client("guidebot"))
            say(server, "hello plain")
            frame = await stream.until("posted")
            assert list(frame) == ["event", "data", "broadcast", "seq"]
            assert list(frame["data"]) == [
                "channel_display_name",
                "channel_name",
                "channel_type",
                "post",
                "sender_name",
                "set_online",
                "team_id",
            ]
            assert frame["data"]["sender_name"] == "@ann"
            assert frame["data"]["team_id"] == server.team["id"]
            assert frame["broadcast"]["channel_id"] == server.channel("triage")["id"]
            post = json.loads(frame["data"]["post"])
            assert list(post) == [
                "id",
                "create_at",
                "update_at",
                "edit_at",
                "delete_at",
                "is_pinned",
                "user_id",
                "channel_id",
                "root_id",
                "parent_id",
                "original_id",
                "message",
                "type",
                "props",
                "hashtags",
                "pending_post_id",
                "reply_count",
                "last_reply_at",
                "participants",
                "metadata",
            ]

    run(story)


def test_a_direct_message_has_no_team_and_is_announced_when_new() -> None:
    async def story() -> None:
        async with running() as (server, client):
            stream, _ = await greeted(client("guidebot"))
            direct = server.direct("ann")
            server.post("ann", direct["id"], "dm hello")
            added = await stream.until("direct_added")
            assert added["data"] == {"creator_id": server.user("ann").id, "teammate_id": server.bot.id}
            posted = await stream.until("posted")
            assert posted["data"]["channel_type"] == "D"
            assert posted["data"]["team_id"] == ""
            assert posted["data"]["channel_display_name"] == "@ann"
            assert set(posted["data"]["channel_name"].split("__")) == {server.bot.id, server.user("ann").id}

    run(story)


def test_edits_deletions_and_reactions_are_told() -> None:
    async def story() -> None:
        async with running() as (server, client):
            ann = client("ann")
            stream, _ = await greeted(client("guidebot"))
            root = say(server, "hello")
            reply = server.post("ben", root["channel_id"], "reply", root_id=root["id"])
            await ann.ask("PUT", f"/posts/{root['id']}/patch", {"message": "now @guidebot"})
            edited = await stream.until("post_edited")
            assert list(edited["data"]) == ["post"]
            assert message_of(edited) == "now @guidebot"
            reaction = {"user_id": server.user("ann").id, "post_id": reply["id"], "emoji_name": "thumbsup"}
            await ann.ask("POST", "/reactions", reaction)
            added = await stream.until("reaction_added")
            assert json.loads(added["data"]["reaction"])["emoji_name"] == "thumbsup"
            await ann.ask("DELETE", f"/users/me/posts/{reply['id']}/reactions/thumbsup")
            removed = json.loads((await stream.until("reaction_removed"))["data"]["reaction"])
            assert removed["create_at"] == 0
            await ann.ask("DELETE", f"/posts/{root['id']}")
            deleted = await stream.until("post_deleted")
            assert message_of(deleted) == "now @guidebot"
            say(server, "next")
            assert message_of(await stream.frame()) == "next"  # the reply's deletion is not told
            assert server.world.posts[reply["id"]]["delete_at"]

    run(story)


def test_joining_and_leaving_are_told_and_a_system_post_mentions_who_was_added() -> None:
    async def story() -> None:
        async with running() as (server, client):
            ann, admin = client("ann"), client("admin")
            stream, _ = await greeted(client("guidebot"))
            new = {"team_id": server.team["id"], "name": "new", "display_name": "New", "type": "O"}
            _, channel = await ann.ask("POST", "/channels", new)
            status, member = await ann.ask("POST", f"/channels/{channel['id']}/members", {"user_id": server.bot.id})
            assert (status, member["user_id"]) == (201, server.bot.id)
            added = await stream.until("user_added")
            assert added["data"] == {"team_id": server.team["id"], "user_id": server.bot.id}
            assert added["broadcast"]["channel_id"] == channel["id"]
            posted = await stream.until("posted")
            post = json.loads(posted["data"]["post"])
            assert post["type"] == "system_add_to_channel"
            assert post["message"] == "guidebot added to the channel by ann."
            assert post["user_id"] == server.user("ann").id
            assert json.loads(posted["data"]["mentions"]) == [server.bot.id]
            assert posted["data"]["sender_name"] == "System"
            await admin.ask("PUT", f"/channels/{channel['id']}/patch", {"header": "ask @guidebot"})
            assert (await stream.until("channel_updated"))["data"]["channel"]
            header = await stream.until("posted")
            assert json.loads(header["data"]["post"])["type"] == "system_header_change"
            assert json.loads(header["data"]["mentions"]) == [server.bot.id]
            await admin.ask("DELETE", f"/channels/{channel['id']}/members/{server.bot.id}")
            removed = await stream.until("user_removed")
            assert removed["data"] == {"channel_id": channel["id"], "remover_id": server.user("admin").id}
            assert removed["broadcast"]["user_id"] == server.bot.id
            await admin.ask("DELETE", f"/channels/{server.channel('ward-3')['id']}")
            archived = await stream.until("channel_deleted")
            assert archived["broadcast"]["team_id"] == server.team["id"]

    run(story)


def test_each_connection_counts_for_itself() -> None:
    async def story() -> None:
        async with running() as (server, client):
            first, _ = await greeted(client("guidebot"))
            await first.until("status_change")
            second, _ = await greeted(client("guidebot"))
            say(server, "one")
            assert (await first.frame())["seq"] == 2
            assert (await second.frame())["seq"] == 1

    run(story)


def test_a_current_server_names_only_the_reader_in_mentions() -> None:
    async def story() -> None:
        async with running(rules=NEWER) as (server, client):
            bot, _ = await greeted(client("guidebot"))
            ann, _ = await greeted(client("ann"))
            say(server, "@guidebot @zoe", "ben")
            assert json.loads((await bot.until("posted"))["data"]["mentions"]) == [server.bot.id]
            assert "mentions" not in (await ann.until("posted"))["data"]

    run(story)


# resuming


def test_what_was_missed_follows_after_a_resume_and_no_hello_comes() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            stream, connection = await greeted(bot)
            say(server, "one")
            last = (await stream.until("posted"))["seq"]
            await lost(server)
            say(server, "missed1")
            say(server, "missed2")
            stream = await bot.socket(f"?connection_id={connection}&sequence_number={last + 1}")
            frames = [await stream.frame() for _ in range(4)]
            assert [frame["event"] for frame in frames] == ["status_change", "posted", "posted", "status_change"]
            assert [frame["seq"] for frame in frames] == list(range(last + 1, last + 5))
            assert message_of(frames[1]) == "missed1"

    run(story)


def test_frames_that_were_sent_but_never_arrived_are_sent_again() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            stream, connection = await greeted(bot)
            say(server, "one")
            last = (await stream.until("posted"))["seq"]
            await lost(server)
            stream = await bot.socket(f"?connection_id={connection}&sequence_number={last}")
            again = await stream.frame()
            assert (again["seq"], message_of(again)) == (last, "one")

    run(story)


def test_a_clean_close_can_be_resumed_too() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            stream, connection = await greeted(bot)
            await stream.frame()
            await stream.socket.close()
            await lost(server)
            say(server, "missed")
            stream = await bot.socket(f"?connection_id={connection}&sequence_number=2")
            assert message_of(await stream.until("posted")) == "missed"

    run(story)


def test_a_connection_that_is_still_open_is_not_resumed() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            old, connection = await greeted(bot)
            new, other = await greeted(bot, f"?connection_id={connection}&sequence_number=2")
            assert other != connection
            say(server, "to both")
            assert message_of(await old.until("posted")) == "to both"
            assert message_of(await new.until("posted")) == "to both"

    run(story)


def test_a_sequence_number_ahead_of_the_server_gives_a_new_id_and_two_hellos() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            _, connection = await greeted(bot)
            await lost(server)
            stream = await bot.socket(f"?connection_id={connection}&sequence_number=50")
            frames = [await stream.frame() for _ in range(4)]
            assert [f["event"] for f in frames] == ["hello", "status_change", "hello", "status_change"]
            assert [f["seq"] for f in frames] == [0, 1, 2, 3]
            assert frames[0]["data"]["connection_id"] == frames[2]["data"]["connection_id"] != connection

    run(story)


def test_sequence_number_0_counts_anew_without_hello() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            stream, connection = await greeted(bot)
            await stream.frame()
            await lost(server)
            say(server, "missed")
            stream = await bot.socket(f"?connection_id={connection}&sequence_number=0")
            frames = [await stream.frame() for _ in range(3)]
            assert [f["event"] for f in frames] == ["status_change", "posted", "status_change"]
            assert [f["seq"] for f in frames] == [0, 1, 2]

    run(story)


@pytest.mark.parametrize("query", ["?connection_id={id}", "?connection_id={id}&sequence_number=a", "?connection_id=x"])
def test_a_resume_that_makes_no_sense_is_dropped(query: str) -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            _, connection = await greeted(bot)
            await lost(server)
            stream = await bot.socket(query.format(id=connection))
            assert await stream.closed() == 1006

    run(story)


def test_unknown_and_other_peoples_connections_give_a_fresh_hello() -> None:
    async def story() -> None:
        async with running() as (server, client):
            _, connection = await greeted(client("guidebot"))
            await lost(server)
            _, other = await greeted(client("ben"), f"?connection_id={connection}&sequence_number=2")
            _, unknown = await greeted(client("guidebot"), f"?connection_id={'a' * 26}&sequence_number=3")
            assert connection not in (other, unknown)

    run(story)


def test_with_the_challenge_alone_a_resume_is_ignored() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot = client("guidebot")
            _, connection = await greeted(bot)
            await lost(server)
            stream = await bot.socket(f"?connection_id={connection}&sequence_number=2", header=False)
            await stream.send(1, "authentication_challenge", token=bot.token)
            hello = await stream.frame()
            assert hello["event"] == "hello"
            assert hello["data"]["connection_id"] != connection

    run(story)


@pytest.mark.parametrize("why", ["too many missed", "too late", "restarted"])
def test_where_the_missed_events_are_gone_a_fresh_hello_comes(why: str) -> None:
    clock = Clock()

    async def story() -> None:
        async with running(clock=clock) as (server, client):
            bot = client("guidebot")
            _, connection = await greeted(bot)
            if why == "restarted":
                port = server.port
                await server.stop()
                await server.start(port=port)
            else:
                await lost(server)
            for number in range(WAITING_EVENTS + 1 if why == "too many missed" else 1):
                say(server, f"missed {number}")
            clock.now += RESUME_WITHIN_S + 1 if why == "too late" else 1
            _, other = await greeted(bot, f"?connection_id={connection}&sequence_number=2")
            assert other != connection

    run(story)


def test_without_reliable_websockets_there_is_no_id_to_resume() -> None:
    async def story() -> None:
        async with running() as (server, client):
            server.hub.reliable = False
            _, connection = await greeted(client("guidebot"))
            assert connection == ""

    run(story)


# what a client asks, and what ends a socket


def test_typing_is_told_to_the_others() -> None:
    async def story() -> None:
        async with running() as (server, client):
            ann, _ = await greeted(client("ann"))
            bot, _ = await greeted(client("guidebot"))
            channel = server.channel("triage")["id"]
            await bot.send(2, "user_typing", channel_id=channel, parent_id="")
            assert await bot.reply(2) == {"status": "OK", "seq_reply": 2}
            typing = await ann.until("typing")
            assert typing["data"] == {"parent_id": "", "user_id": server.bot.id}
            assert typing["broadcast"]["omit_users"] == {server.bot.id: True}
            status, _ = await client("guidebot").ask("POST", f"/users/{server.bot.id}/typing", {"channel_id": channel})
            assert status == 200
            await ann.until("typing")

    run(story)


def test_failing_actions_are_answered_with_their_number() -> None:
    async def story() -> None:
        async with running() as (_, client):
            stream, _ = await greeted(client("guidebot"))
            await stream.send(4, "user_typing", channel_id="a" * 26)
            await stream.send(6, "nonsense")
            await stream.send(7, "get_statuses")
            failed = await stream.reply(4)
            assert failed["status"] == "FAIL"
            assert failed["error"]["id"] == "api.websocket_handler.invalid_param.app_error"
            assert (await stream.reply(6))["error"]["status_code"] == 500
            assert "online" in (await stream.reply(7))["data"].values()

    run(story)


def test_a_frame_that_is_no_json_drops_and_one_too_big_closes_1009() -> None:
    async def story() -> None:
        async with running() as (_, client):
            stream, _ = await greeted(client("guidebot"))
            await stream.socket.send_str("hello?")
            assert await stream.closed() == 1006
            stream, _ = await greeted(client("guidebot"))
            await stream.send(2, "x" * 9000)
            assert await stream.closed() == 1009

    run(story)


def test_a_revoked_token_leaves_the_socket_open_and_receiving() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot, admin = client("guidebot"), client("admin")
            stream, _ = await greeted(bot)
            token = server.world.tokens[bot.token]
            await admin.ask("POST", "/users/tokens/revoke", {"token_id": token.id})
            say(server, "after revoke")
            assert message_of(await stream.until("posted")) == "after revoke"
            await stream.send(2, "get_statuses")
            assert (await stream.reply(2))["error"]["id"] == "api.context.invalid_token.error"
            assert (await bot.ask("GET", "/users/me"))[0] == 401

    run(story)


def test_a_disabled_bots_socket_stays_open_and_silent() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot, admin = client("guidebot"), client("admin")
            stream, _ = await greeted(bot)
            await stream.frame()
            status, shown = await admin.ask("POST", f"/bots/{server.bot.id}/disable")
            assert (status, bool(shown["delete_at"])) == (200, True)
            assert (await stream.frame())["data"]["status"] == "offline"
            say(server, "@guidebot hello?")
            await stream.send(2, "get_statuses")
            with pytest.raises(asyncio.TimeoutError):
                await stream.socket.receive(timeout=0.1)
            assert not stream.socket.closed
            await admin.ask("POST", f"/bots/{server.bot.id}/enable")
            assert (await bot.ask("GET", "/users/me"))[0] == 200

    run(story)


def test_the_server_pings_and_drops_who_does_not_answer() -> None:
    async def story() -> None:
        async with running(patience=Patience(ping_s=0.02, pong_s=0.15)) as (server, client):
            headers = {"Authorization": f"Bearer {client('guidebot').token}"}
            url = f"{server.url}/api/v4/websocket"
            async with aiohttp.ClientSession() as session:
                deaf = await session.ws_connect(url, headers=headers, autoping=False)
                kinds = [(await deaf.receive()).type for _ in range(4)]
                assert aiohttp.WSMsgType.PING in kinds
                assert await Stream(deaf).closed() == 1006

    run(story)


def test_stopping_the_server_drops_sockets_without_a_close_frame() -> None:
    async def story() -> None:
        async with running() as (server, client):
            stream, _ = await greeted(client("guidebot"))
            await server.stop()
            assert await stream.closed() == 1006

    run(story)


def test_a_frame_hook_can_drop_double_and_hold_frames() -> None:
    async def hook(connection: Connection, frame: str) -> Sequence[str]:
        if "lose" in frame:
            return ()
        return (frame, frame) if "double" in frame else (frame,)

    async def story() -> None:
        async with running(on_frame=hook) as (server, client):
            stream, _ = await greeted(client("guidebot"))
            for message in ("lose", "double", "end"):
                say(server, message)
            frames = [await stream.until("posted") for _ in range(3)]
            assert [message_of(frame) for frame in frames] == ["double", "double", "end"]
            assert [frame["seq"] for frame in frames] == [3, 3, 4]

    run(story)
