"""What the service logs: one line an event, plain or JSON, never a question, an answer or a secret.

Our own messages are written for people and hold neither. What other libraries say may hold anything: of their
records only the template is shown, of an exception only its kind and where it was raised. As a second net every
line is looked through for the configured secrets and for whatever looks like credentials.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import PurePath
from types import TracebackType
from typing import Any

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
_OURS = ("bot", "retrieval", "corpus", "__main__")
_FRAMES = 3
_MASK = "***"
_CREDENTIALS = re.compile(
    r"""(?ix)
    ( \b authorization ["']? \s* [:=] \s* ["']? (?:(?:bearer|basic|token)\s+)?
    | \b (?:bearer|basic) \s+ (?= [\w.~+/-]{12} )
    | \b (?:access[_-]?token|api[_-]?key|password|passwd|secret|mmauthtoken|token) ["']? \s* [:=] \s* ["']?
    ) [^\s"',;&}]+
    """
)
_IN_ADDRESS = re.compile(r"(?<=://)[^\s/@]+@")
_SHORTEST_SECRET = 6

_secrets: set[str] = set()


def conceal(secret: str) -> None:
    """Mask a secret in every line from now on."""
    if len(secret) >= _SHORTEST_SECRET:
        _secrets.add(secret)


def masked(text: str, secrets: Collection[str] = ()) -> str:
    """Return a text without the concealed secrets, credentials in headers and addresses, and line breaks."""
    for secret in sorted({*_secrets, *secrets}, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    text = _CREDENTIALS.sub(lambda match: match[1] + _MASK, text)
    text = _IN_ADDRESS.sub(f"{_MASK}@", text)
    # A line break in a name or an error would be read as another event.
    return " ".join(text.splitlines())


def message_of(record: logging.LogRecord) -> str:
    """Return what a record says: all of ours, of other libraries' only what was written in their code."""
    if record.name.partition(".")[0] in _OURS:
        return record.getMessage()
    if record.args:
        return str(record.msg)
    return f"(its words are not shown; {PurePath(record.pathname).name}:{record.lineno})"


def raised(error: BaseException) -> str:
    """Return an exception's kind and where it was raised, innermost last; its text may be anybody's."""
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append(f"{'/'.join(PurePath(code.co_filename).parts[-2:])}:{traceback.tb_lineno}")
        traceback = traceback.tb_next
    where = f" at {' > '.join(frames[-_FRAMES:])}" if frames else ""
    return f"{type(error).__name__}{where}"


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": masked(message_of(record)),
        }
        if (error := _error_of(record)) is not None:
            entry["error"] = masked(raised(error))
        return json.dumps(entry, ensure_ascii=False)


class PlainFormatter(logging.Formatter):
    """One line of text."""

    def format(self, record: logging.LogRecord) -> str:
        at = self.formatTime(record, "%Y-%m-%d %H:%M:%S")
        error = _error_of(record)
        cause = f" ({raised(error)})" if error is not None else ""
        return masked(f"{at} {record.levelname} {record.name}: {message_of(record)}{cause}")


def configure(settings: OperationsSettings) -> None:
    """Send the log to standard error in the form that the settings want; also what nobody has caught."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if settings.log_json else PlainFormatter())
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread


def _error_of(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if isinstance(record.exc_info, tuple) else None


def _uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    logging.getLogger("bot").critical("stopped by an error that nobody expected", exc_info=(kind, error, traceback))


def _uncaught_in_thread(args: Any) -> None:
    if args.exc_value is not None and not issubclass(args.exc_type, SystemExit):
        _uncaught(args.exc_type, args.exc_value, args.exc_traceback)
