"""The HTTP side of mattermostdriver: its `Driver` asks this class instead of its own client.

One session for all requests, time-outs, no proxies and no .netrc from the environment, no redirects (they could
carry the token elsewhere), and errors that keep what the server said of itself.
"""

from __future__ import annotations

import http.cookiejar
from collections.abc import Mapping
from typing import Any

import requests
import urllib3
from pydantic import SecretStr
from requests.adapters import HTTPAdapter

from bot.mattermost.errors import MattermostAway, MattermostError, MattermostRefused, TokenRefused

MAX_RETRY_AFTER_S = 300.0
"""A server that asks for more is asked again after this long."""


class Session:
    """Answers the driver's endpoints.

    Args:
        options: the driver's, with two of our own: `secret` (the token as a `SecretStr`) and `timeouts`
            (connect and read, in seconds).
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._base = f"{options['scheme']}://{options['url']}:{options['port']}{options['basepath']}"
        self._where = f"{options['url']}:{options['port']}"
        self._secret: SecretStr = options["secret"]
        self._timeouts: tuple[float, float] = options["timeouts"]
        self.userid = ""
        self.username = ""
        self._http = requests.Session()
        self._http.trust_env = False
        self._http.verify = options["verify"]
        if options["verify"] is False:
            # Said once, at the start, in our own words; not again with every request.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._http.cookies.set_policy(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        adapter = HTTPAdapter(pool_connections=1, pool_maxsize=int(options.get("connections", 8)), max_retries=0)
        self._http.mount("http://", adapter)
        self._http.mount("https://", adapter)

    @property
    def url(self) -> str:
        return self._base

    def close(self) -> None:
        self._http.close()

    def get(self, endpoint: str, options: Any = None, params: Any = None) -> Any:
        return self.make_request("get", endpoint, options, params)

    def post(self, endpoint: str, options: Any = None, params: Any = None, data: Any = None, files: Any = None) -> Any:
        return self.make_request("post", endpoint, options, params, data, files)

    def put(self, endpoint: str, options: Any = None, params: Any = None, data: Any = None) -> Any:
        return self.make_request("put", endpoint, options, params)

    def delete(self, endpoint: str, options: Any = None, params: Any = None, data: Any = None) -> Any:
        return self.make_request("delete", endpoint, options, params)

    def make_request(
        self,
        method: str,
        endpoint: str,
        options: Any = None,
        params: Any = None,
        data: Any = None,
        files: Any = None,
    ) -> Any:
        """Ask the server and return its JSON.

        Raises:
            MattermostError: of the kind that fits.
        """
        try:
            response = self._http.request(
                method,
                self._base + endpoint,
                params=params,
                json=options,
                data=data,
                files=files,
                headers={"Authorization": f"Bearer {self._secret.get_secret_value()}"},
                timeout=self._timeouts,
                allow_redirects=False,
            )
        except requests.exceptions.SSLError as error:
            if not _is_about_trust(error):
                raise MattermostAway(
                    "The Mattermost server does not speak TLS where mattermost.url says https. "
                    "Check its port, or write http."
                ) from None
            raise MattermostAway(
                "The Mattermost server's certificate is not trusted. Set mattermost.ca_file to the CA that signed "
                "it, or check that mattermost.url names the right host."
            ) from None
        except requests.exceptions.Timeout:
            raise MattermostAway(f"The Mattermost server at {self._where} did not answer in time.") from None
        except (requests.exceptions.RequestException, OSError) as error:
            # Its text may hold the address with its query; the kind says enough.
            raise MattermostAway(
                f"The Mattermost server at {self._where} cannot be reached ({type(error).__name__}). Check "
                "mattermost.url, and that the server runs."
            ) from None
        return _read(response)


def _is_about_trust(error: BaseException) -> bool:
    """Tell whether a TLS error is about the certificate, and not about there being no TLS."""
    return "CERTIFICATE" in str(error) or "certificate" in str(error)


def _read(response: requests.Response) -> Any:
    status = response.status_code
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    if 200 <= status < 300:
        if body is None:
            raise MattermostAway(
                "The Mattermost server answered with something that is not JSON (a proxy's page, or cut short).",
                status=status,
                request_id=response.headers.get("X-Request-Id", ""),
            )
        return body
    raise error_of(status, response.headers, body)


def error_of(status: int, headers: Mapping[str, str], body: Any) -> MattermostError:
    """Return the error that an answer stands for.

    Args:
        body: the JSON, or None when there was none.
    """
    said = body if isinstance(body, dict) else {}
    id = str(said.get("id", ""))
    request_id = str(said.get("request_id", "") or headers.get("X-Request-Id", ""))
    about = f"{status}, {id}" if id else str(status)
    if status == 401:
        return TokenRefused(
            f"The Mattermost server does not take the bot's token ({about}): it is wrong or revoked, or the bot is "
            "disabled. Make a new one and set mattermost.token_file.",
            id=id,
            status=status,
            request_id=request_id,
        )
    if 300 <= status < 400:
        return MattermostRefused(
            f"The Mattermost server sends the bot elsewhere ({about}). Set mattermost.url to the address that it "
            "really has.",
            id=id,
            status=status,
            request_id=request_id,
        )
    if status in (408, 429) or (status >= 500 and status != 501):
        wait_s = _seconds(headers.get("Retry-After", ""))
        reason = "is asked too often" if status == 429 else "is in trouble"
        return MattermostAway(
            f"The Mattermost server {reason} ({about}).",
            id=id,
            status=status,
            request_id=request_id,
            retry_after_s=wait_s,
        )
    return MattermostRefused(f"The Mattermost server refused ({about}).", id=id, status=status, request_id=request_id)


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_S) if seconds == seconds else None
