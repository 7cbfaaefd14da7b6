"""An evaluation as one HTML page: read offline in a browser and on paper, nothing loaded from elsewhere (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape

from retrieval.evaluation import Evaluation, Figures, Outcome, Rate
from retrieval.plots import score_histogram, threshold_curve
from retrieval.quotation import QuotingLoss

WORST = 12
SECTIONS_SHOWN = 3

_STYLE = """
:root { color-scheme: light; --ink: #1b2733; --soft: #5b6b7a; --line: #d5dde4; --good: #0b6e99; --bad: #b3420f; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; color: var(--ink); margin: 0 auto;
       max-width: 60rem; padding: 2rem 1.25rem 4rem; background: #fff; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.note, figcaption, td.note { color: var(--soft); } figure { margin: 0; } svg { width: 100%; height: auto; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.tile { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; }
.tile b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .85rem; display: block; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); font-size: .85rem; } td.number, th.number { text-align: right; }
article { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .9rem; margin: .6rem 0;
          break-inside: avoid; }
article p { margin: .15rem 0; } article ol { margin: .3rem 0 0; padding-left: 1.4rem; color: var(--soft); }
.score { font-variant-numeric: tabular-nums; font-weight: 600; } .bad { color: var(--bad); }
.good { color: var(--good); }
@media print { body { max-width: none; padding: 0; font-size: 11px; } h2 { break-after: avoid; }
               figure, table { break-inside: avoid; } .tiles { grid-template-columns: repeat(5, 1fr); } }
"""


def html_report(
    evaluation: Evaluation,
    *,
    title: str,
    made: datetime | None = None,
    quoting: Sequence[QuotingLoss] = (),
    embedder: str = "",
) -> str:
    """Return the page.

    Args:
        title: what was measured: the questions file's name.
        made: when; shown as given.
        quoting: the comparison of quoting limits, where there is one.
        embedder: identity of the embedder that min_score belongs to.
    """
    parts = [
        f"<h1>Evaluation: {escape(title)}</h1>",
        f'<p class="note">{_byline(evaluation, made, embedder)}</p>',
        _tiles(evaluation),
        _proposal(evaluation),
        "<h2>What a min_score would do</h2>",
        f"<figure>{threshold_curve(evaluation)}<figcaption>Share of answerable questions that are answered, and of "
        "unanswerable ones that are answered falsely, for every min_score. Both fall from left to right; a good gate "
        "leaves room between them.</figcaption></figure>",
        "<h2>Gate scores</h2>",
        f"<figure>{score_histogram(evaluation)}<figcaption>Best gate score of each question: answerable above the "
        "line, unanswerable below it.</figcaption></figure>",
        "<h2>By kind of question</h2>",
        _kinds(evaluation),
    ]
    if quoting:
        parts += ["<h2>What quoting only a few sentences loses</h2>", _quoting(quoting)]
    parts += _worst(evaluation)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Evaluation: {escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _byline(evaluation: Evaluation, made: datetime | None, embedder: str) -> str:
    parts = [f"{evaluation.figures.questions} questions", f"min_score {evaluation.min_score:.2f}"]
    if embedder:
        parts.append(f"embedder {escape(embedder)}")
    if made:
        parts.append(made.strftime("%Y-%m-%d %H:%M"))
    return " · ".join(parts)


def _tiles(evaluation: Evaluation) -> str:
    figures = evaluation.figures
    tiles = [
        ("right section first", figures.hit_at_1),
        ("right section in the first five", figures.hit_at_5),
        ("answerable: answered", figures.answered_rate),
        ("unanswerable: answered falsely", figures.false_answer_rate),
    ]
    cells = [
        f'<div class="tile"><b>{_percent(rate.value)}</b>{escape(name)}<span>{_interval(rate)}</span></div>'
        for name, rate in tiles
    ]
    auroc, mrr = _number(figures.auroc), _number(figures.mrr)
    cells.append(f'<div class="tile"><b>{auroc}</b>AUROC of the gate<span>MRR {mrr}</span></div>')
    return f'<div class="tiles">{"".join(cells)}</div>'


def _proposal(evaluation: Evaluation) -> str:
    proposal = evaluation.proposal
    if proposal is None:
        return (
            '<p class="note">No min_score is proposed: the file has no question that the guidelines do not answer.</p>'
        )
    low, high = proposal.interval
    return (
        f"<p>To answer at most {_percent(proposal.wanted_false_answer_rate)} of unanswerable questions, set min_score "
        f"to <b>{proposal.min_score:.3f}</b> (95&nbsp;% interval {low:.3f} to {high:.3f}). On these questions it "
        f"answers "
        f"{_percent(proposal.answered_rate.value)} of the answerable ones ({_interval(proposal.answered_rate)}) and "
        f"{_percent(proposal.false_answer_rate.value)} of the unanswerable ones "
        f"({_interval(proposal.false_answer_rate)}).</p>"
    )


def _kinds(evaluation: Evaluation) -> str:
    head = ("kind", "questions", "first", "first five", "MRR", "answered", "falsely", "AUROC")
    rows = [("all", evaluation.figures), *evaluation.kinds.items()]
    body = "".join(f"<tr><td>{escape(name)}</td>{_kind_cells(figures)}</tr>" for name, figures in rows)
    return f"{_head(head)}{body}</table>"


def _kind_cells(figures: Figures) -> str:
    values = (
        str(figures.questions),
        _percent(figures.hit_at_1.value),
        _percent(figures.hit_at_5.value),
        _number(figures.mrr),
        _percent(figures.answered_rate.value),
        _percent(figures.false_answer_rate.value),
        _number(figures.auroc),
    )
    return "".join(f'<td class="number">{value}</td>' for value in values)


def _quoting(quoting: Sequence[QuotingLoss]) -> str:
    body = "".join(
        f"<tr><td>{'whole sections' if not one.max_sentences else f'max_sentences {one.max_sentences}'}</td>"
        f'<td class="number">{one.lost.of}</td><td class="number">{one.lost.hits}</td>'
        f'<td class="number">{_percent(one.lost.value)}</td><td class="number">{one.mean_words:.0f}</td></tr>'
        for one in quoting
    )
    return f"{_head(('quoting', 'answers', 'fact lost', 'share', 'words'))}{body}</table>"


def _head(names: Sequence[str]) -> str:
    cells = [f"<th>{names[0]}</th>", *(f'<th class="number">{name}</th>' for name in names[1:])]
    return f"<table><tr>{''.join(cells)}</tr>"


def _worst(evaluation: Evaluation) -> list[str]:
    """Return the cases to read first, the worst of each sort first."""
    outcomes = evaluation.outcomes
    false = [one for one in outcomes if one.answered and not one.question.answerable]
    refused = [one for one in outcomes if not one.answered and one.question.answerable]
    missed = [one for one in outcomes if one.question.answerable and one.rank != 1]
    groups = (
        ("Answered, though the guidelines don't", sorted(false, key=lambda one: -one.gate_score)),
        ("Refused, though the guidelines answer", sorted(refused, key=lambda one: one.gate_score)),
        ("Right section not first", sorted(missed, key=lambda one: (one.rank > 0, -one.rank))),
    )
    parts = []
    for name, cases in groups:
        parts.append(f"<h2>{name}: {len(cases)}</h2>")
        parts += [_case(one) for one in cases[:WORST]] or ['<p class="note">None.</p>']
        if len(cases) > WORST:
            parts.append(f'<p class="note">… and {len(cases) - WORST} more, in the details file.</p>')
    return parts


def _case(outcome: Outcome) -> str:
    question = outcome.question
    wanted = "; ".join(f"{gold.doc} › {gold.section.replace(' > ', ' › ')}" for gold in question.gold[:SECTIONS_SHOWN])
    rank = f"rank {outcome.rank}" if outcome.rank else "not found"
    lines = [
        f"<p><b>{escape(question.question)}</b></p>",
        f'<p class="note"><span class="score {"good" if outcome.answered else "bad"}">{outcome.gate_score:.2f}</span> '
        f"{escape(outcome.status)} · {escape(question.id)} · {escape(question.kind or 'no kind')}"
        + (f" · {rank}; wanted {escape(wanted)}" if question.answerable else "")
        + "</p>",
        f'<p class="note">{escape(outcome.reason)}</p>' if outcome.reason else "",
    ]
    sources = "".join(
        f'<li><span class="score">{one.scores.get("gate", 0.0):.2f}</span> {escape(one.guideline)} › '
        f"{escape(' › '.join(one.path))}{' · kept' if one.kept else ''}</li>"
        for one in outcome.ranked[:SECTIONS_SHOWN]
    )
    return f"<article>{''.join(lines)}<ol>{sources}</ol></article>"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _interval(rate: Rate) -> str:
    if rate.interval is None:
        return "no such questions"
    low, high = rate.interval
    return f"{rate.hits} of {rate.of}; {100 * low:.0f} to {100 * high:.0f} %"
