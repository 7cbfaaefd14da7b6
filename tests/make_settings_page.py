"""Write docs/settings.md from the settings themselves: `python -m tests.make_settings_page`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from bot.settings import Settings

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"


def page() -> str:
    """Return the page: a table for each group, in the order of the settings."""
    lines = [
        "# Settings",
        "",
        "Made from the code by `python -m tests.make_settings_page`; a test holds it to that.",
        "",
        "A TOML file named with `--config`, or the environment: `GUIDELINE_BOT_GROUP_NAME`, as",
        "`GUIDELINE_BOT_MATTERMOST_URL`; the environment wins. Lists there are JSON or separated by commas.",
        "",
    ]
    for group, field in Settings.model_fields.items():
        model: Any = field.annotation
        lines += [
            f"## [{group}]",
            "",
            (model.__doc__ or "").strip(),
            "",
            "| setting | default | example |",
            "|---|---|---|",
        ]
        for name, setting in model.model_fields.items():
            lines.append(f"| `{name}` | {_default(setting)} | {_code(setting.description or '')} |")
            inner = get_args(setting.annotation)[0] if get_origin(setting.annotation) is tuple else None
            for part, one in getattr(inner, "model_fields", {}).items():
                lines.append(f"| `{name}.{part}` | {_default(one)} | {_code(one.description or '')} |")
        lines.append("")
    return "\n".join(lines)


def _default(setting: Any) -> str:
    value = setting.default
    if value is PydanticUndefined:
        return "must be set"
    if isinstance(value, SecretStr) or value in ("", None, ()):
        return "–"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return _code(", ".join(value))
    return _code(f"{value:g}" if isinstance(value, float) else str(value))


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`" if text else "–"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(0)
