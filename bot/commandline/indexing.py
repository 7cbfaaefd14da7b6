"""`index`, `rollback` and `guidelines`: the index and what is in it."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.__main__ import Place
from bot.commandline.output import print_json, printable, progress
from retrieval.guideline import Problem

if TYPE_CHECKING:
    from retrieval.entries import GuidelineEntry
    from retrieval.plan import Plan


@click.command()
@click.option(
    "--folder",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Index this folder and no other; may be given again. By default the watched folders.",
)
@click.option("--full", is_flag=True, help="Read and embed everything anew.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.option("--confirm-removals", is_flag=True, help="Go on though a folder has lost many of its files.")
@click.option("--low-priority", is_flag=True, help="Let everything else on this machine go first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def index(
    place: Place,
    folders: tuple[Path, ...],
    full: bool,
    dry_run: bool,
    confirm_removals: bool,
    low_priority: bool,
    as_json: bool,
) -> None:
    """Bring the index up to date with the guidelines."""
    from bot.app import folders_of, index_options, now_of, open_embedder, open_library
    from bot.evaluating import watch_figures
    from retrieval.indexing import build, plan_of

    settings = place.settings()
    named = folders_of(settings, folders)
    options = index_options(settings, full=full, confirm_removals=confirm_removals)
    if dry_run:
        plan = plan_of(named, place.data, options, now=now_of(settings))
        _show_plan(plan, as_json)
        return
    if low_priority:
        os.nice(10)
    with progress() as update:
        summary = build(named, place.data, open_embedder(settings, place.data), options, update, now=now_of(settings))
    regression = watch_figures(
        lambda: open_library(settings, place.data), place.data, settings.evaluation, summary.built
    )
    if as_json:
        print_json(
            {
                **asdict(summary),
                "generation": regression.kept_old or summary.generation,
                "evaluation": {
                    "fallen": list(regression.fallen),
                    "kept_old": regression.kept_old,
                    "problem": regression.problem,
                },
                "unchanged": len(summary.unchanged),
                "failed": [_problem(one) for one in summary.failed],
                "warnings": [_problem(one) for one in summary.warnings],
                "seconds": round(summary.seconds, 2),
            }
        )
        return
    for what in ("added", "changed", "renamed", "removed", "retired", "effective", "past_review"):
        names = getattr(summary, what)
        if names:
            click.echo(f"{what.replace('_', ' ')}: {len(names)}")
            for name in names[:20]:
                click.echo("  " + printable(name if isinstance(name, str) else " → ".join(name)))
            if len(names) > 20:
                click.echo(f"  and {len(names) - 20} more")
    for label, problems in (("FAILED", summary.failed), ("warning", summary.warnings)):
        for problem in problems:
            page = f", page {problem.page}" if problem.page else ""
            click.echo(printable(f"{label}: {problem.file}{page}: {problem.reason}"))
    for line in regression.fallen:
        click.echo(f"evaluation: {line}")
    if regression.kept_old:
        click.echo(f"Generation {regression.kept_old} answers on: evaluation.keep_old_on_drop is set.")
    if regression.problem:
        click.echo(f"evaluation: {regression.problem}")
    click.echo(
        f"generation {summary.generation}: {summary.passages} passages; {len(summary.unchanged)} guidelines unchanged; "
        f"{summary.seconds:.1f} s"
    )


def _show_plan(plan: Plan, as_json: bool) -> None:
    parts = {name: getattr(plan, name) for name in ("added", "changed", "renamed", "removed", "unchanged")}
    if as_json:
        print_json({**{name: list(value) for name, value in parts.items()}, "dry_run": True})
        return
    for name, value in parts.items():
        click.echo(f"{name}: {len(value)}")
        for one in () if name == "unchanged" else value:
            click.echo("  " + printable(one if isinstance(one, str) else " → ".join(one)))
    click.echo("Nothing was done.")


def _problem(problem: Problem) -> dict[str, Any]:
    return {"file": problem.file, "page": problem.page, "reason": problem.reason}


@click.command()
@click.argument("generation", default="")
@click.pass_obj
def rollback(place: Place, generation: str) -> None:
    """Let an older GENERATION answer again (by default the one before).

    What has been retired, replaced or removed since stays away all the same.
    """
    from retrieval.generations import Generations

    click.echo(f"Generation {Generations(place.data).rollback(generation)} answers now.")


@click.command()
@click.argument("word", default="")
@click.option("--generations", "show_generations", is_flag=True, help="Show the kept generations instead.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
@click.pass_obj
def guidelines(place: Place, word: str, show_generations: bool, as_json: bool) -> None:
    """List what is indexed: title, version, dates, status, passages, coverage, problems.

    WORD keeps those whose name or title holds it.
    """
    if show_generations:
        _show_generations(place.data, as_json)
        return
    from bot.app import open_library

    library = open_library(place.settings(), place.data)
    entries = [
        entry
        for entry in library.guidelines()
        if word.casefold() in entry.name.casefold() or word.casefold() in entry.title.casefold()
    ]
    library.close()
    if as_json:
        print_json([_entry(entry) for entry in entries])
        return
    for entry in entries:
        _print_entry(entry)
    click.echo(f"{len(entries)} guidelines, {sum(entry.served for entry in entries)} served.")


def _print_entry(entry: GuidelineEntry) -> None:
    metadata, coverage = entry.metadata, entry.coverage
    parts = [entry.name, metadata.status]
    if metadata.effective:
        parts.append(f"effective {metadata.effective}")
    if metadata.review_by:
        parts.append(f"review by {metadata.review_by}" + (" (past)" if entry.review == "past" else ""))
    parts.append(f"{entry.passages} passages")
    if coverage.pages:
        parts.append(f"{coverage.pages} pages")
    if coverage.empty_pages:
        pages = ", ".join(map(str, coverage.empty_pages[:10])) + (" …" if len(coverage.empty_pages) > 10 else "")
        parts.append(f"no text on page {pages}: needs OCR")
    parts += [f"{coverage.headings} headings", f"{coverage.tables} tables"]
    if coverage.raw_characters:
        parts.append(f"{100 * coverage.characters / coverage.raw_characters:.1f} % of the text kept")
    click.echo(printable(entry.title + (f", version {entry.version}" if entry.version else "")))
    click.echo(printable("  " + "; ".join(parts)))
    if not entry.served:
        click.echo(printable(f"  not served: {entry.reason}"))
    for problem in entry.problems:
        page = f"page {problem.page}: " if problem.page else ""
        click.echo(printable(f"  problem: {page}{problem.reason}"))


def _entry(entry: GuidelineEntry) -> dict[str, Any]:
    metadata = asdict(entry.metadata)
    for name in ("effective", "review_by"):
        metadata[name] = metadata[name].isoformat() if metadata[name] else None
    return {
        "guideline": entry.name,
        **metadata,
        "served": entry.served,
        "reason": entry.reason,
        "passages": entry.passages,
        "coverage": asdict(entry.coverage),
        "problems": [_problem(problem) for problem in entry.problems],
        "review": entry.review,
        "last_good": entry.last_good,
        "sha256": entry.sha256,
        "link": entry.link,
    }


def _show_generations(data: Path, as_json: bool) -> None:
    from retrieval.errors import IndexMissing
    from retrieval.generations import NOT_INDEXED, Generations

    kept = Generations(data).kept()
    if not kept:
        raise IndexMissing(NOT_INDEXED)
    if as_json:
        print_json([{**asdict(one), "built": one.built.isoformat() if one.built else None} for one in kept])
        return
    for one in kept:
        built = one.built.strftime("%Y-%m-%d %H:%M") if one.built else "unknown"
        mark = "*" if one.current else " "
        note = "" if one.readable else "  (cannot be read by this version)"
        click.echo(f"{mark} {one.id}  built {built}  {one.guidelines} guidelines  {one.passages} passages{note}")
