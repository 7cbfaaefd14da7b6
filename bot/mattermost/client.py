"""What the bot asks a Mattermost server, over mattermostdriver's endpoints.

The driver is synchronous: its calls run in a few threads of their own, and all waiting (for a rate limit, before
another try) is done outside them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from mattermostdriver import Driver
from pydantic import SecretStr

from bot.mattermost.errors import MattermostAway, MattermostError, MattermostRefused
from bot.mattermost.events import Post
from bot.mattermost.session import Session
from bot.mattermost.tls import Trust, trust_of
from bot.settings import MattermostSettings
from retrieval.errors import SettingError

log = logging.getLogger(__name__)

T = TypeVar("T")

CONNECTIONS = 8
TRIES = 4
FIRST_WAIT_S = 0.5
MOST_LIMITED = 100
"""So many rate limits in a row for one and the same call are an error."""

PER_PAGE = 200
_NO_SUCH_ROUTE = "api.context.404.app_error"
MOST_SINCE = 1000
"""As many posts as the server lists at most for `since`."""

DEFAULT_MAX_POST_CHARS = 4000
"""What every server takes; used when it does not say."""


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's own account, and what its server allows.

    Attributes:
        max_post_chars: of one message, in Unicode code points.
    """

    id: str
    username: str
    max_post_chars: int = DEFAULT_MAX_POST_CHARS
    server_version: str = ""


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel that the bot is in.

    Attributes:
        type: O public, P private, D direct, G group.
        team_id: "" for direct and group messages.
    """

    id: str
    type: str
    name: str
    team_id: str
    archived: bool
    last_post_at: int

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Channel:
        return cls(
            str(raw.get("id", "")),
            str(raw.get("type", "")),
            str(raw.get("name", "")),
            str(raw.get("team_id", "") or ""),
            bool(raw.get("delete_at", 0)),
            int(raw.get("last_post_at", 0) or 0),
        )


class MattermostClient:
    """One bot account on one server.

    Args:
        settings: where the server is and how long to wait for it.
        token: of the bot account.
        sleep: waits; tests hand in their own.

    Raises:
        SettingError: there is no URL, or the CA file cannot be used.
    """

    def __init__(
        self,
        settings: MattermostSettings,
        token: SecretStr,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        parts = urlsplit(settings.url)
        if not parts.hostname:
            raise SettingError('mattermost.url is not set. For example: mattermost.url = "https://chat.example.org".')
        self.settings = settings
        self.token = token
        self.trust: Trust = trust_of(settings)
        self._sleep = sleep
        self._deadline_s = settings.connect_timeout_s + settings.request_timeout_s + 5.0
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        options = {
            "scheme": parts.scheme,
            "url": host,
            "port": parts.port or (443 if parts.scheme == "https" else 80),
            "basepath": parts.path.rstrip("/") + "/api/v4",
            "verify": self.trust.verify,
            "secret": token,
            "timeouts": (settings.connect_timeout_s, settings.request_timeout_s),
            "connections": CONNECTIONS,
        }
        self._driver = Driver(options, client_cls=Session)
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="mattermost")
        self._me: Me | None = None
        self._limit = asyncio.Lock()
        self._limits_waited = 0

    def __repr__(self) -> str:
        return f"MattermostClient({self.settings.url!r})"

    @property
    def me(self) -> Me:
        """The account, once `connect` has succeeded."""
        assert self._me is not None, "connect() comes first"
        return self._me

    @property
    def websocket_url(self) -> str:
        """Where the events come from."""
        url: str = self._driver.client.url
        return "ws" + url.removeprefix("http") + "/websocket"

    def close(self) -> None:
        """Let go of connections and threads; calls under way end by their time-outs."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._driver.client.close()

    # --- the account ----------------------------------------------------------------------------------------

    async def connect(self) -> Me:
        """Learn who the bot is and what the server allows, and ask not to be named by @all.

        Raises:
            MattermostError: no server, or it does not take the token.
        """
        try:
            raw = await self._ask(lambda: self._driver.users.get_user("me"))
        except MattermostRefused as error:
            if error.status != 404:
                raise
            raise MattermostRefused(
                "There is no Mattermost at mattermost.url (404). Give the address that people open, "
                "without anything behind it that is not part of it.",
                status=404,
            ) from None
        if not isinstance(raw, dict) or not raw.get("id") or not raw.get("username"):
            raise MattermostAway("What answers at mattermost.url does not say who the bot is; is it Mattermost?")
        me = Me(str(raw["id"]), str(raw["username"]))
        if raw.get("is_bot") is not True:
            log.warning("@%s is a person's account: other bots may answer its posts; make a bot account", me.username)
        try:
            config = await self._ask(lambda: self._driver.system.get_client_configuration({"format": "old"}))
            limit = int(config.get("MaxPostSize") or DEFAULT_MAX_POST_CHARS)
            me = Me(me.id, me.username, max(limit, 1), str(config.get("Version", "")))
        except (MattermostRefused, ValueError):
            log.warning("the server does not say how long a post may be; %d characters it is", me.max_post_chars)
        self._me = me
        await self._quieten(raw.get("notify_props"))
        return me

    async def _quieten(self, notify_props: object) -> None:
        if not isinstance(notify_props, dict) or notify_props.get("channel") == "false":
            return
        # A patch replaces all of them.
        wanted = {name: str(value) for name, value in notify_props.items() if name != "push_status"}
        wanted["channel"] = "false"
        try:
            await self._ask(lambda: self._driver.users.patch_user(self.me.id, {"notify_props": wanted}))
        except MattermostError as error:
            log.info("the bot may not change its own notifications (%s); @all still reaches it, unanswered", error.id)

    async def check_token(self) -> None:
        """Ask who the bot is; raises TokenRefused when the server does not know it any more."""
        await self._ask(lambda: self._driver.users.get_user("me"), tries=1)

    async def set_status(self, status: str) -> None:
        """Set the bot's own status; the server tells every one of its sockets."""
        body = {"user_id": self.me.id, "status": status}
        await self._ask(lambda: self._driver.status.update_user_status(self.me.id, body), tries=1)

    # --- posts ----------------------------------------------------------------------------------------------

    async def create_post(
        self,
        channel_id: str,
        message: str,
        *,
        root_id: str,
        props: Mapping[str, Any],
        pending_post_id: str,
        file_ids: Sequence[str] = (),
    ) -> Post:
        """Post once.

        Args:
            file_ids: of files that were uploaded to this channel.
            root_id: the thread's root, never a reply; "" begins a thread.
            pending_post_id: a second post with the same one is, for half a minute, the first.

        Raises:
            MattermostAway: it is not known whether the post is there: look into the thread before another try.
            MattermostRefused: it is not there.
        """
        body = {
            "channel_id": channel_id,
            "message": message,
            "root_id": root_id,
            "props": dict(props),
            "pending_post_id": pending_post_id,
        }
        if file_ids:
            body["file_ids"] = list(file_ids)
        return Post.of(await self._ask(lambda: self._driver.posts.create_post(body), idempotent=False))

    async def upload(self, channel_id: str, name: str, content: bytes, media_type: str) -> str:
        """Upload a file for a post in a channel, and return its id."""
        files = {"files": (name, content, media_type)}
        raw = await self._ask(lambda: self._driver.files.upload_file(channel_id, files), idempotent=False)
        infos = raw.get("file_infos") if isinstance(raw, dict) else None
        if not infos or not isinstance(infos[0], dict) or not infos[0].get("id"):
            raise MattermostAway("The Mattermost server did not say what became of an uploaded file.")
        return str(infos[0]["id"])

    async def patch_post(self, post_id: str, message: str, props: Mapping[str, Any]) -> Post:
        """Replace a post's message and all its props."""
        body = {"message": message, "props": dict(props)}
        return Post.of(await self._ask(lambda: self._driver.posts.patch_post(post_id, body)))

    async def delete_post(self, post_id: str) -> None:
        """Delete a post of the bot's own; one that is gone already is no error."""
        try:
            await self._ask(lambda: self._driver.posts.delete_post(post_id))
        except MattermostRefused as error:
            if error.status not in (403, 404):
                raise

    async def post(self, post_id: str) -> Post | None:
        """Return a post; None when it is gone or out of the bot's sight."""
        try:
            return Post.of(await self._ask(lambda: self._driver.posts.get_post(post_id)))
        except MattermostRefused as error:
            if error.status in (400, 403, 404):
                return None
            raise

    async def thread(self, root_id: str) -> list[Post] | None:
        """Return a thread's posts, oldest first; None when its root is gone or out of sight."""
        try:
            return _posts(await self._ask(lambda: self._driver.posts.get_thread(root_id)))
        except MattermostRefused as error:
            if error.status in (400, 403, 404):
                return None
            raise

    async def posts_since(self, channel_id: str, since_ms: int) -> tuple[list[Post], bool]:
        """Return what was posted or changed after a time, oldest first, and whether that is all of it."""
        params = {"since": str(since_ms)}
        raw = await self._ask(lambda: self._driver.posts.get_posts_for_channel(channel_id, params))
        order = raw.get("order") if isinstance(raw, dict) else None
        posts = _posts(raw, only_ordered=True)
        return posts, len(order or ()) < MOST_SINCE

    async def posts_after(self, channel_id: str, post_id: str) -> list[Post]:
        """Return everything posted after a post, oldest first, page by page."""
        found: list[Post] = []
        seen = set()
        while post_id not in seen:
            seen.add(post_id)
            params = {"after": post_id, "per_page": str(PER_PAGE)}
            ask = partial(self._driver.posts.get_posts_for_channel, channel_id, params)
            page = _posts(await self._ask(ask), only_ordered=True)
            if not page:
                break
            found += page
            post_id = page[-1].id
        return found

    # --- reactions ------------------------------------------------------------------------------------------

    async def react(self, post_id: str, emoji: str) -> None:
        """Put the bot's own reaction on a post."""
        body = {"user_id": self.me.id, "post_id": post_id, "emoji_name": emoji}
        await self._ask(lambda: self._driver.reactions.create_reaction(body))

    async def unreact(self, post_id: str, emoji: str) -> None:
        """Take the bot's own reaction off a post; without one nothing happens."""
        await self._ask(lambda: self._driver.reactions.delete_reaction(self.me.id, post_id, emoji))

    # --- places and people ----------------------------------------------------------------------------------

    async def channels(self) -> list[Channel]:
        """Return every channel that the bot is in, of all its teams, archived ones too."""
        found: dict[str, Channel] = {}
        for team in await self.teams():
            ask = partial(self._driver.channels.get_channels_for_user, "me", str(team.get("id", "")))
            for raw in _list(await self._ask(ask)):
                channel = Channel.of(raw)
                found[channel.id] = channel
        return list(found.values())

    async def channel(self, channel_id: str) -> Channel | None:
        """Return a channel; None when the bot may not see it."""
        try:
            return Channel.of(await self._ask(lambda: self._driver.channels.get_channel(channel_id)))
        except MattermostRefused as error:
            if error.status in (400, 403, 404):
                return None
            raise

    async def channel_named(self, team: str, channel: str) -> Channel:
        """Return a channel by the names in its address."""
        ask = partial(self._driver.channels.get_channel_by_name_and_team_name, team, channel)
        return Channel.of(await self._ask(ask))

    async def teams(self) -> list[dict[str, Any]]:
        """Return the bot's teams as the server tells them."""
        return _list(await self._ask(lambda: self._driver.teams.get_user_teams("me")))

    async def members(self, channel_id: str) -> list[str]:
        """Return the ids of everyone in a channel."""
        return await self._all_ids(partial(self._driver.channels.get_channel_members, channel_id))

    async def is_in_team(self, team_id: str, user_id: str) -> bool:
        """Tell whether a person is in a team of the bot's."""
        try:
            await self._ask(lambda: self._driver.teams.get_team_member(team_id, user_id))
        except MattermostRefused as error:
            if error.id == _NO_SUCH_ROUTE:
                return user_id in await self._all_ids(partial(self._driver.teams.get_team_members, team_id))
            if error.status in (400, 403, 404):
                return False
            raise
        return True

    async def is_in_channel(self, channel_id: str, user_id: str) -> bool:
        """Tell whether a person is in a channel that the bot can see."""
        return await self._exists(lambda: self._driver.channels.get_channel_member(channel_id, user_id))

    async def users(self, user_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return people as the server tells them, in no order; unknown ids are left out."""
        found: list[dict[str, Any]] = []
        for start in range(0, len(user_ids), PER_PAGE):
            ask = partial(self._driver.users.get_users_by_ids, list(user_ids[start : start + PER_PAGE]))
            found += _list(await self._ask(ask))
        return found

    async def _all_ids(self, list_page: Callable[[dict[str, str]], Any]) -> list[str]:
        ids: list[str] = []
        for page in range(10_000):
            params = {"page": str(page), "per_page": str(PER_PAGE)}
            raw = _list(await self._ask(partial(list_page, params)))
            ids += [str(member.get("user_id", "")) for member in raw]
            if len(raw) < PER_PAGE:
                break
        return ids

    async def _exists(self, call: Callable[[], Any]) -> bool:
        try:
            await self._ask(call)
        except MattermostRefused as error:
            if error.status in (400, 403, 404):
                return False
            raise
        return True

    # --- inside ---------------------------------------------------------------------------------------------

    async def _ask(self, call: Callable[[], T], *, idempotent: bool = True, tries: int = TRIES) -> T:
        """Run one of the driver's calls in a thread.

        A rate limit is always waited for: what was asked has not been done. Other trouble is tried again only
        when asking twice does no harm.
        """
        wait_s = FIRST_WAIT_S
        limited = 0
        while True:
            round = self._limits_waited
            async with self._limit:
                pass  # while one waits out a rate limit, all do
            try:
                async with asyncio.timeout(self._deadline_s):
                    return await asyncio.get_running_loop().run_in_executor(self._threads, call)
            except TimeoutError:
                error = MattermostAway("The Mattermost server did not answer in time.")
            except MattermostAway as away:
                error = away
            if error.status == 429 and limited < MOST_LIMITED:
                limited += 1
                await self._wait_out(error, round)
                continue
            tries -= 1
            if not tries or not idempotent:
                raise error
            await self._sleep(error.retry_after_s if error.retry_after_s is not None else wait_s)
            wait_s *= 2

    async def _wait_out(self, limit: MattermostAway, round: int) -> None:
        """Wait as long as a rate limit asks, unless somebody has done so since `round`."""
        async with self._limit:
            if self._limits_waited == round:
                await self._sleep(limit.retry_after_s if limit.retry_after_s is not None else 1.0)
                self._limits_waited += 1


def _list(raw: Any) -> list[dict[str, Any]]:
    return [one for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []


def _posts(raw: Any, *, only_ordered: bool = False) -> list[Post]:
    """Return the posts of a list, each once, oldest first. A list holds more than its `order`: roots of replies."""
    posts = raw.get("posts") if isinstance(raw, dict) else None
    if not isinstance(posts, dict):
        raise MattermostAway("The Mattermost server answered with something that is not a list of posts.")
    wanted = dict.fromkeys(raw.get("order") or ()) if only_ordered else posts
    found = [Post.of(posts[id]) for id in wanted if isinstance(posts.get(id), dict)]
    return sorted(found, key=lambda post: (post.create_at, post.id))
