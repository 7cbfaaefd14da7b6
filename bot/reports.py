"""What the team's channel is told after an index run (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_SHOWN = 8


def index_report(summary: Mapping[str, Any], scheduled: bool) -> str:
    """Return one short message on an index run.

    Args:
        summary: what `index --json` prints, or {"error": sentence}.
        scheduled: the nightly run, which is reported even when nothing changed.

    Returns:
        Markdown; "" when there is nothing to tell.
    """
    if "error" in summary:
        return f"Guideline index: the run failed and the last good index stays in use. {summary['error']}"
    parts = [
        _part("added", summary.get("added", ())),
        _part("changed", summary.get("changed", ())),
        _part("renamed", summary.get("renamed", ())),
        _part("removed", summary.get("removed", ())),
        _part("retired or replaced", [name for name, _reason in summary.get("retired", ())]),
        _part("now in effect", summary.get("effective", ())),
        _part("past its review date", summary.get("past_review", ())),
    ]
    parts.append(_part("**could not be read**", [_failure(problem) for problem in summary.get("failed", ())]))
    parts.append(_figures(summary.get("evaluation", {})))
    told = [part for part in parts if part]
    if not told and not scheduled:
        return ""
    count = summary.get("passages", 0)
    lead = f"Guideline index: {count} passages in {summary.get('seconds', 0):.0f} s"
    return f"{lead}; nothing changed." if not told else lead + ".\n" + "\n".join(f"- {part}" for part in told)


def _figures(evaluation: Mapping[str, Any]) -> str:
    lines = [str(line) for line in evaluation.get("fallen", ())]
    if evaluation.get("problem"):
        return f"the evaluation could not be run: {_name(evaluation['problem'])}"
    if not lines:
        return ""
    kept = "; **the index before answers on**" if evaluation.get("kept_old") else ""
    return f"**the site's own questions are answered worse than before**: {', '.join(lines)}{kept}"


def _part(what: str, names: Sequence[Any]) -> str:
    if not names:
        return ""
    shown = [_name(name) for name in list(names)[:_SHOWN]]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{what} ({len(names)}): {', '.join(shown)}{more}"


def _name(name: Any) -> str:
    """Return a file's name as code: it is anyone's text, and must neither ping people nor break the line."""
    if isinstance(name, (list, tuple)):
        return " → ".join(_name(part) for part in name)
    return "`" + " ".join(str(name).replace("`", "'").split()) + "`"


def _failure(problem: Mapping[str, Any]) -> str:
    page = f", page {problem['page']}" if problem.get("page") else ""
    return f"{problem.get('file', '')}{page}: {problem.get('reason', '')}"
