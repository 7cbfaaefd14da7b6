"""What the service logs: one line an event, plain or JSON, never a question, an answer or a secret."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from bot.settings import OperationsSettings

# Libraries that log addresses, requests or texts at info level.
_QUIET = (
    "httpx",
    "httpcore",
    "chromadb",
    "urllib3",
    "apscheduler",
    "mattermostdriver",
    "sentence_transformers",
    "aiohttp.access",
    "aiohttp.server",
    "onnxruntime",
    "markdown_it",
    "asyncio",
    "pypdfium2",
    "transformers",
)


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            entry["error"] = record.exc_info[0].__name__
        return json.dumps(entry, ensure_ascii=False)


class _Plain(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", "%Y-%m-%d %H:%M:%S")

    def formatException(self, ei: object) -> str:
        # A traceback's last line can carry what somebody wrote; its kind is enough here.
        kind = ei[0] if isinstance(ei, tuple) else None
        return f"({getattr(kind, '__name__', 'error')})"


def configure(settings: OperationsSettings) -> None:
    """Send the log to standard error in the form that the settings want."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if settings.log_json else _Plain())
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
