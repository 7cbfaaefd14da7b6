"""A small Mattermost-compatible server for trying the bot and for the tests; on loopback, in memory."""

from __future__ import annotations

import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Middleware

from bot.sandbox import errors, people_api, places, places_api, posting, posts_api
from bot.sandbox.hub import FrameHook, Hub, Patience, Socket
from bot.sandbox.limiter import RateLimiter
from bot.sandbox.posts_api import PENDING, PendingPosts
from bot.sandbox.state import Json, Rules, User, World, new_id
from bot.sandbox.web import HUB, WORLD, answer, bearer, caller

PAGE = Path(__file__).parent / "page"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
BOT_NAME = "guidebot"
PEOPLE = ("ann", "ben", "zoe")
CHANNELS = (("triage", "Triage"), ("ward-3", "Ward 3"))
SAMPLE_QUESTIONS: tuple[str, ...] = (
    "Can I start metformin with an eGFR of 40?",
    "What should I do about a hypo?",
    "What dose of semaglutide should I start?",
)
_OPEN_TO_ALL = ("/api/v4/config/client", "/api/v4/system/ping", "/api/v4/websocket")


class SandboxServer:
    """The server: a team with a few people, channels and one bot account.

    Args:
        clock: seconds since 1970; every time stamp and time limit but the sockets' own goes by it.
        rules: what differs from server to server.
        patience: of the sockets, in real seconds.
        middlewares: aiohttp middlewares, outermost: they see every request first and can delay it, answer in
            the server's place or drop its connection (`request.transport.abort()`).
        on_frame: called before each websocket frame is written, see `hub.FrameHook`.
        before_save: awaited while a post is being created, before it is kept.
        seed: make team, people, channels and the bot; off, the world is empty.

    Attributes:
        world: everything the server knows; tests look into it and act in it.
        hub: the websockets: `hub.sockets`, `hub.sockets_of(user_id)`, `socket.abort()`.
        limiter: set it to limit requests, None for no limit.
        sample_questions: offered on the page while a channel is empty.
        url: "http://127.0.0.1:PORT" while it runs.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        rules: Rules | None = None,
        patience: Patience | None = None,
        middlewares: Sequence[Middleware] = (),
        on_frame: FrameHook | None = None,
        before_save: Callable[[Json], Awaitable[None]] | None = None,
        seed: bool = True,
    ) -> None:
        self.world = World(clock, rules)
        self.hub = Hub(self.world, patience or Patience(), on_frame)
        self.pending = PendingPosts(self.world, before_save)
        self.limiter: RateLimiter | None = None
        self.middlewares = tuple(middlewares)
        self.sample_questions = SAMPLE_QUESTIONS
        self.url = ""
        self._runner: web.AppRunner | None = None
        if seed:
            self._seed()

    # running

    async def start(self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> str:
        """Listen, and return the URL.

        Args:
            host: an address of this machine's own; the tokens of everybody are on the page.
            port: 0 for any that is free.

        Raises:
            ValueError: the host is not loopback.
            OSError: the port is taken.
        """
        if host not in LOOPBACK:
            raise ValueError(f"The sandbox listens on loopback only, not on {host}: use 127.0.0.1.")
        self._runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port, ssl_context=tls, reuse_address=True)
        try:
            await site.start()
        except OSError:
            await self._runner.cleanup()
            raise
        port = self._runner.addresses[0][1]
        shown = f"[{host}]" if ":" in host else host
        self.url = f"{'https' if tls else 'http'}://{shown}:{port}"
        return self.url

    async def stop(self) -> None:
        """Stop as a killed server does: sockets drop without a close frame, connections are forgotten.

        The world stays: `start` again, with the same port, is a restart.
        """
        self.hub.abort_all()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    # acting in the world, as a person at a keyboard would

    @property
    def team(self) -> Json:
        return next(iter(self.world.teams.values()))

    @property
    def bot(self) -> User:
        return self.user(BOT_NAME)

    def user(self, username: str) -> User:
        user = self.world.user_named(username)
        if user is None:
            raise KeyError(username)
        return user

    def token_of(self, username: str) -> str:
        """Return an active token of somebody's, made when there is none."""
        user = self.user(username)
        for token in self.world.tokens.values():
            if token.user_id == user.id and token.is_active:
                return token.secret
        return self.world.add_token(user, "sandbox").secret

    def channel(self, name: str) -> Json:
        channel = self.world.channel_named(self.team["id"], name)
        if channel is None:
            raise KeyError(name)
        return channel

    def direct(self, username: str, other: str = BOT_NAME) -> Json:
        """Return the direct channel of two people."""
        return places.direct(self.world, self.user(username), self.user(other))

    def post(self, username: str, channel_id: str, message: str, *, root_id: str = "", **more: Any) -> Json:
        """Post as somebody; `more` as in `posting.create`."""
        return posting.create(self.world, self.user(username), channel_id, message, root_id=root_id, **more)

    def posts_in(self, channel_id: str) -> list[Json]:
        """Return a channel's posts that are not deleted, oldest first."""
        return [p for p in self.world.posts.values() if p["channel_id"] == channel_id and not p["delete_at"]]

    def sockets_of(self, username: str) -> list[Socket]:
        return self.hub.sockets_of(self.user(username).id)

    # inside

    def _seed(self) -> None:
        world = self.world
        admin = world.add_user("admin", admin=True)
        bot = world.add_user(BOT_NAME, bot=True, display_name="Guideline Bot")
        bot.owner_id = admin.id
        team = world.add_team("clinic", "Clinic")
        people = [admin, bot, *(world.add_user(name) for name in PEOPLE)]
        world.team_members[team["id"]] = [user.id for user in people]
        for name, display_name in (("town-square", "Town Square"), *CHANNELS):
            channel = world.add_channel(name, display_name, team_id=team["id"], creator_id=admin.id)
            for user in people:
                world.add_member(channel["id"], user.id, admin=user is admin)
        for user in people:
            world.add_token(user, "sandbox")

    def _app(self) -> web.Application:
        app = web.Application(
            middlewares=[*self.middlewares, self._answer_errors, self._limit, self._authenticate],
            client_max_size=100 * 1024 * 1024,
        )
        app[WORLD], app[HUB], app[PENDING] = self.world, self.hub, self.pending
        for routes in (people_api.routes, places_api.routes, posts_api.routes):
            app.add_routes(routes)
        app.router.add_get("/api/v4/websocket", self._websocket)
        app.router.add_get("/api/v4/config/client", self._config)
        app.router.add_get("/api/v4/system/ping", self._ping)
        app.router.add_get("/sandbox", self._people)
        app.router.add_get("/", self._page)
        app.router.add_get("/page/{name}", self._page)
        return app

    @web.middleware
    async def _answer_errors(self, request: web.Request, handler: Any) -> web.StreamResponse:
        request_id = new_id()
        try:
            response: web.StreamResponse = await handler(request)
        except errors.ApiError as error:
            response = answer(error.body(request_id), error.status)
            if error.status == 401:
                response.headers["Set-Cookie"] = "MMAUTHTOKEN=; Path=/; Max-Age=0; HttpOnly"
        except (web.HTTPNotFound, web.HTTPMethodNotAllowed):
            response = self._no_such_route(request)
        if not response.prepared and request.path.startswith("/api/"):
            response.headers["X-Request-Id"] = request_id
            response.headers["X-Version-Id"] = self.world.rules.build
        return response

    @web.middleware
    async def _limit(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if self.limiter is None or not request.path.startswith("/api/v4/"):
            answered: web.StreamResponse = await handler(request)
            return answered
        allowance = self.limiter.ask(request.remote or "", self.world.clock())
        if not allowance.allowed:
            return web.Response(status=429, text="limit exceeded\n", headers=allowance.headers)
        answered = await handler(request)
        if not answered.prepared:
            answered.headers.update(allowance.headers)
        return answered

    @web.middleware
    async def _authenticate(self, request: web.Request, handler: Any) -> web.StreamResponse:
        known = request.match_info.http_exception is None
        if known and request.path.startswith("/api/v4/") and request.path not in _OPEN_TO_ALL:
            caller(request)
        answered: web.StreamResponse = await handler(request)
        return answered

    def _no_such_route(self, request: web.Request) -> web.Response:
        if not request.path.startswith("/api/"):
            return web.Response(status=404, text="There is nothing here; the page is at /.\n")
        body = errors.ApiError(
            404,
            "api.context.404.app_error",
            "Sorry, we could not find the page.",
            f"There doesn't appear to be an api call for the url='{request.path}'.  "
            "Typo? are you missing a team_id or user_id as part of the url?",
        ).body("")
        del body["request_id"]
        text = answer(body).text
        return web.Response(status=404, text=text, content_type="text/plain")

    async def _websocket(self, request: web.Request) -> web.StreamResponse:
        return await self.hub.serve(request, bearer(request))

    async def _config(self, request: web.Request) -> web.Response:
        if request.query.get("format") != "old":
            raise errors.ApiError(
                501,
                "api.config.client.old_format.app_error",
                "New format for the client configuration is not supported yet. "
                "Please specify format=old in the query string.",
            )
        rules = self.world.rules
        config = {
            "BuildNumber": f"{rules.version}-dev",
            "EnableBotAccountCreation": "true",
            "SiteName": "Sandbox",
            "Version": rules.version,
            "WebsocketURL": "",
        }
        if self.world.user_of(bearer(request)) is not None:
            config |= {
                "EnableReliableWebSockets": str(self.hub.reliable).lower(),
                "EnableUserAccessTokens": "true",
                "MaxFileSize": "104857600",
                "MaxPostSize": str(rules.max_post_chars),
            }
        return answer(dict(sorted(config.items())))

    async def _ping(self, request: web.Request) -> web.Response:
        names = (f"{system}{part}Version" for system in ("Android", "Desktop", "Ios") for part in ("Latest", "Min"))
        return answer(dict.fromkeys(names, "") | {"status": "OK"})

    # the chat page

    async def _people(self, request: web.Request) -> web.Response:
        """Return the names that one can write as, with their tokens: for the page, on this machine only."""
        self._from_this_machine(request)
        bot = next((user for user in self.world.users.values() if user.is_bot), None)
        writers = [user for user in self.world.users.values() if not user.is_bot and not user.is_admin]
        return answer(
            {
                "people": [
                    {"id": user.id, "username": user.username, "token": self.token_of(user.username)}
                    for user in writers
                ],
                "bot": {"id": bot.id, "username": bot.username} if bot is not None else None,
                "questions": list(self.sample_questions),
            },
            headers={"Cache-Control": "no-store"},
        )

    async def _page(self, request: web.Request) -> web.StreamResponse:
        self._from_this_machine(request)
        name = request.match_info.get("name", "index.html")
        file = PAGE / name
        if file.parent != PAGE or not file.is_file():
            raise web.HTTPNotFound
        headers = {
            "Cache-Control": "no-cache",
            "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
            "connect-src 'self' ws://127.0.0.1:* ws://localhost:*; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        return web.FileResponse(file, headers=headers)

    def _from_this_machine(self, request: web.Request) -> None:
        """Refuse a name that only points here: another site's page could read the tokens through it."""
        if (request.url.host or "") not in LOOPBACK:
            raise web.HTTPForbidden(text="Open the sandbox as http://127.0.0.1 or http://localhost.\n")
