"""What the commands answer, in Mattermost's Markdown (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from bot.display import display_line, quote
from bot.exchange import Result
from bot.replies import source_line
from retrieval.entries import GuidelineEntry
from retrieval.guideline import Passage

_MOST_GUIDELINES = 50


def help_text(username: str, *, is_admin: bool, in_direct: bool) -> str:
    """Say how to ask, and what else there is."""
    at = "" if in_direct else f"@{username} "
    lines = [
        "**Ask me what the guidelines say.** I answer from the guidelines that are indexed here, with the section "
        "and its score, or say that they don't cover it. I am no medical device: check the section that I cite.",
        "",
        f"- `{at}what should I do about a hypo?` — a question; ask on in the thread: `{at}and in children?`",
        f'- `{at}--guideline diabetes --section "low blood glucose" what …` — look only there',
        f"- `{at}quote …` / `write …` — in the guideline's own words, or written from it",
        f"- `{at}search …` — only the sections found, with their scores",
        f"- `{at}show S2` — the whole section behind an answer in this thread",
        f"- `{at}why` — all scores behind it, of what was rejected too",
        f"- `{at}guidelines [word]` — what is indexed, with versions and dates",
        f"- `{at}status` — how I am",
    ]
    if is_admin:
        lines.append(f"- `{at}reindex`, `reload` — read the folders again; take up the settings again")
    lines += ["", "Please leave out names and numbers of patients. 👍 and 👎 under an answer tell my keepers about it."]
    return "\n".join(lines)


def guidelines_text(entries: Sequence[GuidelineEntry], word: str, today: date) -> str:
    """List what is indexed.

    Args:
        entries: those that every reader may see.
        word: part of a title or name; "" for all.
    """
    wanted = [one for one in entries if word.casefold() in f"{one.title}\n{one.name}".casefold()]
    if not entries:
        return "No guideline is indexed that everyone here may see."
    if not wanted:
        # The word is not repeated: it was not screened, and replies are kept.
        return f"None of the {len(entries)} guidelines has that word in its title."
    lead = f"**{len(wanted)} of {len(entries)} guidelines**" if word else f"**{_counted(len(wanted), 'guideline')}**"
    rows = [lead, "", "| guideline | version | effective | review by | sections |", "|:--|:--|:--|:--|--:|"]
    for one in sorted(wanted, key=lambda one: (one.title.casefold(), one.name))[:_MOST_GUIDELINES]:
        known = one.metadata
        review = _day(known.review_by)
        if known.review_by is not None and known.review_by < today:
            review += " (past)"
        title = one.title if one.served else f"{one.title} (not served: {one.reason.rstrip('.')})"
        cells = [title, known.version or "–", _day(known.effective), review]
        rows.append("| " + " | ".join(_cell(cell) for cell in cells) + f" | {one.passages} |")
    if len(wanted) > _MOST_GUIDELINES:
        rows.append("")
        rows.append(f"and {len(wanted) - _MOST_GUIDELINES} more: `guidelines WORD` shows those with it in the title.")
    return "\n".join(rows)


def unread_text() -> str:
    """Say how filters are written, to somebody who meant one."""
    return (
        "I could not read where to look, so I have not looked. Write `--guideline WORD` or "
        '`--section "SEVERAL WORDS"`, with both quotation marks, before or after the question.'
    )


def passage_text(tag: str, passage: Passage, *, rejected: str = "") -> str:
    """Show a whole section.

    Args:
        rejected: why it did not count as an answer; "" when it did.
    """
    facts = [f"**[{tag}]** {display_line(passage.trail)}"]
    if passage.page is not None:
        facts.append(f"page {display_line(passage.page_label or str(passage.page))}")
    if passage.metadata.version:
        facts.append(f"version {display_line(passage.metadata.version)}")
    shown = f"{' · '.join(facts)}\n\n{quote(passage.text)}"
    return f"**No answer to the question.** {display_line(rejected)}\n\n{shown}" if rejected else shown


def why_text(body: Mapping[str, Any], may_see: Iterable[str], read_as: str = "") -> str:
    """Show the scores behind an answer.

    Args:
        read_as: the question as it was read; "" when it was not kept.
        body: of the `result` event.
        may_see: ids of the passages that everyone here may see now; no other is shown.
    """
    visible = set(may_see)
    sources = [one for one in body.get("sources") or () if one.get("passage_id") in visible]
    gate = body.get("gate") or {}
    lines = [f"On: {display_line(read_as)}", ""] if read_as else []
    if gate:
        verdict = "answer" if gate.get("verdict") == "answer" else "refuse"
        needed = f"a source needs {gate.get('min_score', 0):.2f}, the best has {gate.get('best', 0):.2f}"
        lines += [f"**{verdict}**: {needed}. {display_line(str(gate.get('reason', '')))}".rstrip(), ""]
    if not sources:
        return "\n".join([*lines, "No candidate is indexed that everyone here may see."]).strip()
    lines += ["| source | kept | score | cosine | words | heading | rank by | section |"]
    lines += ["|:--|:--|--:|--:|--:|--:|--:|:--|"]
    for one in sources:
        scores = one.get("scores") or {}
        numbers = [f"{scores.get(name, 0.0):.2f}" for name in ("gate", "cosine", "lexical", "heading", "blended")]
        trail = " › ".join([str(one.get("title", "")), *map(str, one.get("path") or ())])
        kept = "yes" if one.get("kept") else "no"
        lines.append(f"| {_cell(str(one.get('tag', '')))} | {kept} | {' | '.join(numbers)} | {_cell(trail)} |")
    reasons = [
        f"- {display_line(str(one.get('tag', '')))}: {display_line(str(one['reason']))}"
        for one in sources
        if one.get("reason") and not _is_told_by_its_score(one, float(gate.get("min_score", 0.0)))
    ]
    lines += ["", *reasons] if reasons else []
    lines += ["", "“score” is what the gate judges by; “rank by” only orders."]
    return "\n".join(lines)


def _is_told_by_its_score(source: Mapping[str, Any], min_score: float) -> bool:
    enough = (source.get("scores") or {}).get("gate", 0.0) >= min_score
    return not source.get("kept") and not enough


def search_text(result: Result, shown: int = 10) -> str:
    """Show only what was found."""
    if not result.sources:
        return "Nothing is found that everyone here may see."
    needed = f" A source needs {result.verdict.min_score:.2f}." if result.verdict is not None else ""
    lines = [f"**{_counted(len(result.sources[:shown]), 'section')} found.**{needed}", ""]
    if result.reading.read_as.split() != result.question.split():
        lines = [lines[0], f"Read as: {display_line(result.reading.read_as)}", ""]
    lines += [f"- {source_line(one)}{'' if one.kept else ' · not enough'}" for one in result.sources[:shown]]
    return "\n".join(lines)


def pages(text: str, max_chars: int) -> list[str]:
    """Cut a text between lines into messages of at most `max_chars`; a table's header is not repeated."""
    messages: list[str] = []
    current = ""
    for line in text.split("\n"):
        prefix = "> " if line.startswith("> ") else ""
        while len(line) > max_chars:
            end = line.rfind(" ", max_chars // 2, max_chars)
            end = end if end > 0 else max_chars
            messages += [current] if current.strip() else []
            current = ""
            messages.append(line[:end])
            line = prefix + line[end:].lstrip()
        if current and len(current) + 1 + len(line) > max_chars:
            messages.append(current)
            current = line
        else:
            current = f"{current}\n{line}" if current else line
    messages += [current] if current.strip() or not messages else []
    return messages


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _cell(text: str) -> str:
    return display_line(text).replace("|", "\\|")


def _day(day: date | None) -> str:
    return day.isoformat() if day is not None else "–"
