"""The errors of a Mattermost server as its REST API words them."""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    """An error that goes to the client as JSON: `{id, message, detailed_error, request_id, status_code}`."""

    def __init__(self, status: int, error_id: str, message: str, detail: str = "") -> None:
        super().__init__(error_id)
        self.status = status
        self.error_id = error_id
        self.message = message
        self.detail = detail

    def body(self, request_id: str) -> dict[str, Any]:
        return {
            "id": self.error_id,
            "message": self.message,
            "detailed_error": self.detail,
            "request_id": request_id,
            "status_code": self.status,
        }


def session_expired() -> ApiError:
    return ApiError(401, "api.context.session_expired.app_error", "Invalid or expired session, please login again.")


def forbidden() -> ApiError:
    return ApiError(403, "api.context.permissions.app_error", "You do not have the appropriate permissions.")


def bad_url(name: str) -> ApiError:
    return ApiError(
        400,
        "api.context.invalid_url_param.app_error",
        f"Invalid or missing {name} parameter in request URL.",
    )


def bad_body(name: str) -> ApiError:
    return ApiError(400, "api.context.invalid_body_param.app_error", f"Invalid or missing {name} in request body.")


def bad_param(name: str) -> ApiError:
    return ApiError(400, "api.context.invalid_param.app_error", f"Invalid {name} parameter.")


def post_missing() -> ApiError:
    return ApiError(404, "app.post.get.app_error", "Unable to get the post.")


def bad_root() -> ApiError:
    return ApiError(400, "api.post.create_post.root_id.app_error", "Invalid RootId parameter.")


def root_elsewhere() -> ApiError:
    return ApiError(400, "api.post.create_post.channel_root_id.app_error", "Invalid ChannelId for RootId parameter.")


def channel_archived() -> ApiError:
    return ApiError(400, "api.post.create_post.can_not_post_to_deleted.error", "Can not post to deleted channel.")


def unable_to_save() -> ApiError:
    return ApiError(500, "app.post.save.app_error", "Unable to save the Post.")


def repeated_meanwhile() -> ApiError:
    return ApiError(
        500,
        "api.post.deduplicate_create_post.pending",
        "Rejected post since another client is making the same request.",
    )


def repeated_but_gone() -> ApiError:
    return ApiError(
        500,
        "api.post.deduplicate_create_post.failed_to_get",
        "Failed to fetch original post after deduplicating a client repeating the same request.",
    )
