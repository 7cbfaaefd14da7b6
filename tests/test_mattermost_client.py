"""Talking to the server over REST: what goes wrong, who is trusted, and what never leaks."""

from __future__ import annotations

import asyncio
import logging
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.mattermost.client import MattermostClient
from bot.mattermost.errors import MattermostAway, MattermostRefused, TokenRefused
from bot.mattermost.session import error_of
from bot.sandbox.limiter import RateLimiter
from bot.sandbox.server import SandboxServer
from bot.settings import MattermostSettings
from retrieval.errors import ServiceAway, SettingError, WrongUse

TOKEN = "xoxo-very-secret-token"


def settings(url: str, **more: Any) -> MattermostSettings:
    return MattermostSettings.model_validate({"url": url, "connect_timeout_s": 1, "request_timeout_s": 1, **more})


class Waits:
    """Stands in for sleeping: notes how long, and goes on at once."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def on_server(scene: Callable[[SandboxServer, MattermostClient, Waits], Awaitable[None]], **more: Any) -> None:
    async def run() -> None:
        server = SandboxServer(**more)
        await server.start()
        waits = Waits()
        client = MattermostClient(settings(server.url), SecretStr(server.token_of("guidebot")), sleep=waits)
        try:
            await scene(server, client, waits)
        finally:
            client.close()
            await server.stop()

    asyncio.run(run())


Answer = Callable[[web.Request], web.StreamResponse]


def in_place_of(path: str, answers: list[Answer | None]) -> Any:
    """Answer the next requests to a path in the server's place; None lets one through."""

    @web.middleware
    async def middleware(request: web.Request, handler: Any) -> web.StreamResponse:
        if request.path.endswith(path) and answers:
            answer = answers.pop(0)
            if answer is not None:
                return answer(request)
        answered: web.StreamResponse = await handler(request)
        return answered

    return middleware


def page(request: web.Request) -> web.StreamResponse:
    return web.Response(status=502, text="<html>Bad gateway</html>", content_type="text/html")


def page_with_200(request: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>Please log in</html>", content_type="text/html")


def short(request: web.Request) -> web.StreamResponse:
    return web.Response(text='{"id": "abc', content_type="application/json")


def dropped(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def slow_down(request: web.Request) -> web.StreamResponse:
    return web.Response(status=429, text="limit exceeded\n", headers={"Retry-After": "7"})


def elsewhere(request: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "http://127.0.0.1:9/steal"})


def test_the_bot_learns_who_it_is_and_how_long_a_post_may_be() -> None:
    async def scene(server: SandboxServer, client: MattermostClient, _: Waits) -> None:
        me = await client.connect()
        assert (me.id, me.username, me.max_post_chars) == (server.bot.id, "guidebot", 16_383)

    on_server(scene)


@pytest.mark.parametrize("trouble", [page, page_with_200, short, dropped, slow_down])
def test_what_passes_is_tried_again_when_asking_twice_does_no_harm(trouble: Answer) -> None:
    async def scene(server: SandboxServer, client: MattermostClient, waits: Waits) -> None:
        await client.connect()
        assert len(waits.seconds) == 2

    on_server(scene, middlewares=[in_place_of("/users/me", [trouble, trouble])])


def test_a_rate_limit_is_waited_for_as_long_as_the_server_asks() -> None:
    async def scene(server: SandboxServer, client: MattermostClient, waits: Waits) -> None:
        await client.connect()
        assert waits.seconds == [7.0]

    on_server(scene, middlewares=[in_place_of("/users/me", [slow_down])])


def test_a_post_is_tried_again_after_a_rate_limit_but_not_when_it_may_be_there_already() -> None:
    async def scene(server: SandboxServer, client: MattermostClient, waits: Waits) -> None:
        await client.connect()
        channel = server.channel("triage")["id"]
        post = await client.create_post(channel, "once", root_id="", props={}, pending_post_id="p1")
        assert waits.seconds == [7.0]
        assert server.world.posts[post.id]["message"] == "once"
        with pytest.raises(MattermostAway):
            await client.create_post(channel, "twice?", root_id="", props={}, pending_post_id="p2")

    on_server(scene, middlewares=[in_place_of("/posts", [slow_down, None, page])])


def test_a_token_that_is_wrong_is_one_clear_error_and_is_nowhere_to_be_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def run() -> None:
        server = SandboxServer()
        await server.start()
        client = MattermostClient(settings(server.url), SecretStr(TOKEN))
        with caplog.at_level(logging.DEBUG), pytest.raises(TokenRefused) as caught:
            await client.connect()
        error = caught.value
        assert (error.status, error.id) == (401, "api.context.session_expired.app_error")
        assert error.request_id
        assert "mattermost.token_file" in str(error)
        assert isinstance(error, WrongUse)
        assert error.exit_status == 2
        for told in (str(error), repr(error), repr(client), repr(client.__dict__), caplog.text):
            assert TOKEN not in told
        client.close()
        await server.stop()

    asyncio.run(run())


def test_a_server_that_is_not_there_is_a_service_that_is_away() -> None:
    async def run() -> None:
        waits = Waits()
        client = MattermostClient(settings("http://127.0.0.1:1"), SecretStr(TOKEN), sleep=waits)
        with pytest.raises(MattermostAway) as caught:
            await client.connect()
        assert isinstance(caught.value, ServiceAway)
        assert caught.value.exit_status == 3
        assert TOKEN not in str(caught.value)
        assert waits.seconds == sorted(waits.seconds)
        client.close()

    asyncio.run(run())


def test_the_token_is_not_carried_elsewhere_by_a_redirect() -> None:
    async def scene(server: SandboxServer, client: MattermostClient, _: Waits) -> None:
        with pytest.raises(MattermostRefused, match=r"mattermost\.url"):
            await client.connect()

    on_server(scene, middlewares=[in_place_of("/users/me", [elsewhere])])


def test_netrc_and_proxies_of_the_environment_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")

    async def scene(server: SandboxServer, client: MattermostClient, _: Waits) -> None:
        assert (await client.connect()).username == "guidebot"

    on_server(scene)


def test_one_connection_serves_many_requests() -> None:
    seen: set[int] = set()

    @web.middleware
    async def note(request: web.Request, handler: Any) -> web.StreamResponse:
        seen.add(id(request.transport))
        answered: web.StreamResponse = await handler(request)
        return answered

    async def scene(server: SandboxServer, client: MattermostClient, _: Waits) -> None:
        await client.connect()
        for _ in range(10):
            await client.channels()
        assert len(seen) == 1

    on_server(scene, middlewares=[note])


def test_errors_keep_what_the_server_said_of_them() -> None:
    body = {"id": "api.some.error", "message": "somebody wrote this", "request_id": "r1", "status_code": 400}
    refused = error_of(400, {}, body)
    assert isinstance(refused, MattermostRefused)
    assert (refused.id, refused.status, refused.request_id) == ("api.some.error", 400, "r1")
    assert "somebody wrote this" not in str(refused)
    away = error_of(503, {"Retry-After": "100000", "X-Request-Id": "r2"}, None)
    assert isinstance(away, MattermostAway)
    assert away.retry_after_s == 300.0, "no server can send the bot to sleep for a day"
    assert away.request_id == "r2"
    assert error_of(429, {"Retry-After": "soon"}, None).retry_after_s is None
    assert error_of(501, {}, None).exit_status == 2


def test_lists_hold_each_post_once_and_not_the_roots_that_come_along() -> None:
    async def scene(server: SandboxServer, client: MattermostClient, _: Waits) -> None:
        await client.connect()
        channel = server.channel("triage")["id"]
        root = server.post("ann", channel, "root")
        anchor = server.post("ann", channel, "anchor")
        reply = server.post("ben", channel, "reply", root_id=root["id"])
        later = [server.post("ben", channel, str(number))["id"] for number in range(3)]
        after = await client.posts_after(channel, anchor["id"])
        assert [post.id for post in after] == [reply["id"], *later]
        thread = await client.thread(root["id"])
        assert thread is not None
        assert [post.id for post in thread] == [root["id"], reply["id"]]
        since, complete = await client.posts_since(channel, anchor["create_at"])
        assert complete
        assert {reply["id"], *later} <= {post.id for post in since}

    on_server(scene)


def test_many_posts_are_fetched_page_by_page() -> None:
    async def scene(server: SandboxServer, client: MattermostClient, _: Waits) -> None:
        await client.connect()
        channel = server.channel("triage")["id"]
        anchor = server.post("ann", channel, "anchor")
        later = [server.post("ben", channel, str(number))["id"] for number in range(450)]
        assert [post.id for post in await client.posts_after(channel, anchor["id"])] == later

    on_server(scene)


def test_what_is_gone_is_none_and_deleting_it_again_is_no_error() -> None:
    async def scene(server: SandboxServer, client: MattermostClient, _: Waits) -> None:
        await client.connect()
        missing = "a" * 26
        assert await client.post(missing) is None
        assert await client.thread(missing) is None
        assert await client.channel(missing) is None
        await client.delete_post(missing)

    on_server(scene)


# --- TLS ----------------------------------------------------------------------------------------------------


def make_ca(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a CA of the tests' own; returns certificate and key."""
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subject = ["-subj", f"/CN={name}"]
    run_openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-keyout", str(key), "-out", str(cert), *subject)  # fmt: skip
    return cert, key


def make_server_context(folder: Path, ca: tuple[Path, Path]) -> ssl.SSLContext:
    key, request, cert, names = (folder / name for name in ("s.key", "s.csr", "s.pem", "s.ext"))
    names.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    run_openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", str(key), "-out", str(request), "-subj", "/CN=127.0.0.1")  # fmt: skip
    run_openssl("x509", "-req", "-in", str(request), "-CA", str(ca[0]), "-CAkey", str(ca[1]), "-CAcreateserial",
                "-days", "2", "-extfile", str(names), "-out", str(cert))  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context


def run_openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def over_tls(tmp_path: Path, scene: Callable[[SandboxServer, Path, Path], Awaitable[None]]) -> None:
    ours, theirs = make_ca(tmp_path, "ours"), make_ca(tmp_path, "theirs")
    context = make_server_context(tmp_path, ours)

    async def run() -> None:
        server = SandboxServer()
        await server.start(tls=context)
        try:
            await scene(server, ours[0], theirs[0])
        finally:
            await server.stop()

    asyncio.run(run())


def tls_client(server: SandboxServer, **more: Any) -> MattermostClient:
    return MattermostClient(settings(server.url, **more), SecretStr(server.token_of("guidebot")), sleep=Waits())


def test_a_private_ca_is_trusted_when_it_is_named_and_only_then(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, ours: Path, theirs: Path) -> None:
        client = tls_client(server, ca_file=str(ours))
        assert (await client.connect()).username == "guidebot"
        client.close()
        for wrong in ({"ca_file": str(theirs)}, {}):
            client = tls_client(server, **wrong)
            with pytest.raises(MattermostAway, match=r"mattermost\.ca_file"):
                await client.connect()
            client.close()

    over_tls(tmp_path, scene)


def test_verification_off_works_and_is_warned_about_at_every_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(server: SandboxServer, ours: Path, theirs: Path) -> None:
        for _ in range(2):
            client = tls_client(server, verify_tls=False)
            assert (await client.connect()).username == "guidebot"
            client.close()

    over_tls(tmp_path, scene)
    assert sum("mattermost.verify_tls is false" in record.message for record in caplog.records) == 2


def test_a_ca_file_that_is_missing_or_no_certificate_is_named(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.pem"
    text = tmp_path / "text.pem"
    text.write_text("hello\n")
    for file in (nothing, text):
        with pytest.raises(SettingError, match=r"mattermost\.ca_file"):
            MattermostClient(settings("https://127.0.0.1", ca_file=str(file)), SecretStr(TOKEN))


def test_a_missing_url_is_named_with_an_example() -> None:
    with pytest.raises(SettingError, match=r"mattermost\.url.*example"):
        MattermostClient(settings(""), SecretStr(TOKEN))


def test_the_limiter_of_a_real_server_is_obeyed() -> None:
    async def run() -> None:
        now = [1000.0]
        server = SandboxServer(clock=lambda: now[0])
        await server.start()
        server.limiter = RateLimiter(per_s=2, burst=5)
        waits = Waits()

        async def sleep(seconds: float) -> None:
            await waits(seconds)
            now[0] += seconds

        client = MattermostClient(settings(server.url), SecretStr(server.token_of("guidebot")), sleep=sleep)
        await client.connect()
        for _ in range(12):
            await client.teams()
        assert waits.seconds
        assert all(seconds == 1.0 for seconds in waits.seconds)
        client.close()
        await server.stop()

    asyncio.run(run())


def test_an_address_with_a_path_too_many_is_told_as_such() -> None:
    async def scene(server: SandboxServer, _: MattermostClient, waits: Waits) -> None:
        client = MattermostClient(settings(f"{server.url}/chat"), SecretStr(server.token_of("guidebot")), sleep=waits)
        try:
            with pytest.raises(MattermostRefused, match=r"mattermost\.url"):
                await client.connect()
        finally:
            client.close()

    on_server(scene)


def test_https_to_a_server_without_tls_is_not_blamed_on_its_certificate() -> None:
    async def scene(server: SandboxServer, _: MattermostClient, waits: Waits) -> None:
        address = server.url.replace("http:", "https:")
        client = MattermostClient(settings(address), SecretStr(server.token_of("guidebot")), sleep=waits)
        try:
            with pytest.raises(MattermostAway) as caught:
                await client.connect()
        finally:
            client.close()
        assert "https" in str(caught.value)
        assert "not trusted" not in str(caught.value)

    on_server(scene)


def test_a_persons_token_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    """What a person's account posts is not marked as a bot's: other bots would answer it."""

    async def scene(server: SandboxServer, own: MattermostClient, waits: Waits) -> None:
        with caplog.at_level(logging.WARNING):
            await own.connect()
            assert "person" not in caplog.text
            client = MattermostClient(settings(server.url), SecretStr(server.token_of("ann")), sleep=waits)
            try:
                await client.connect()
            finally:
                client.close()
        assert "@ann is a person's account" in caplog.text

    on_server(scene)
