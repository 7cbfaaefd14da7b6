"""What can go wrong with the Mattermost server.

MattermostError
├── MattermostAway      (ServiceAway)  no connection, a time-out, 5xx, 429, an answer that is no JSON
└── MattermostRefused   (WrongUse)     4xx: the server says no, and will again
    └── TokenRefused                   401: the token is wrong, revoked, or the bot is disabled
"""

from __future__ import annotations

from retrieval.errors import ProductError, ServiceAway, WrongUse


class MattermostError(ProductError):
    """The server did not do what was asked.

    Args:
        sentence: for people; never holds a token or what somebody wrote.
        id: the server's name for the error ("api.context.session_expired.app_error"); "" when it gave none.
        status: of the HTTP answer; 0 when there was none.
        request_id: names the request in the server's log.
        retry_after_s: how long the server asks to wait; None when it does not.
    """

    def __init__(
        self,
        sentence: str,
        *,
        id: str = "",
        status: int = 0,
        request_id: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(sentence)
        self.id = id
        self.status = status
        self.request_id = request_id
        self.retry_after_s = retry_after_s


class MattermostAway(MattermostError, ServiceAway):
    """The server may do it later. What was asked may even have been done."""


class MattermostRefused(MattermostError, WrongUse):
    """The server will not do it."""


class TokenRefused(MattermostRefused):
    """The server does not take the token."""
