"""The sandbox's websocket behaves as recorded from a real server."""

from __future__ import annotations

import json

from tests.doubles_sandbox import run, running


def test_a_token_on_the_upgrade_brings_hello_and_no_challenge_is_needed() -> None:
    async def story() -> None:
        async with running() as (_, client):
            stream = await client("guidebot").socket()
            hello = await stream.frame()
            assert (hello["event"], hello["seq"]) == ("hello", 0)
            assert len(hello["data"]["connection_id"]) == 26
            online = await stream.frame()
            assert (online["event"], online["seq"]) == ("status_change", 1)

    run(story)


def test_a_mention_is_told_to_the_bot_and_its_reply_goes_into_the_thread() -> None:
    async def story() -> None:
        async with running() as (server, client):
            bot, ann = client("guidebot"), client("ann")
            stream = await bot.socket()
            await stream.until("status_change")
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
