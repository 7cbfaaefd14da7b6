"""The plots of an evaluation as SVG text (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from retrieval.evaluation import Evaluation

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 18, 40
BINS = 40
GOOD, BAD, SOFT, LINE = "#0b6e99", "#b3420f", "#5b6b7a", "#d5dde4"


def threshold_curve(evaluation: Evaluation) -> str:
    """Draw answered and false answers over min_score; the one in use is a dashed line."""
    answered = [(one.min_score, one.answered_rate) for one in evaluation.thresholds if one.answered_rate is not None]
    false = [
        (one.min_score, one.false_answer_rate) for one in evaluation.thresholds if one.false_answer_rate is not None
    ]
    parts = [_axes([0, 0.25, 0.5, 0.75, 1], "min_score")]
    parts += _line(answered, GOOD, "answered") + _line(false, BAD, "answered falsely", dash="6 3")
    parts.append(_marker(evaluation.min_score, f"in use: {evaluation.min_score:.2f}", TOP + 10))
    if evaluation.proposal:
        low, high = (_x(edge) for edge in evaluation.proposal.interval)
        parts.append(
            f'<rect x="{low:.1f}" y="{TOP}" width="{max(high - low, 1):.1f}" height="{HEIGHT - TOP - BOTTOM}" '
            f'fill="{SOFT}" opacity="0.12"/>'
        )
        parts.append(_marker(evaluation.proposal.min_score, f"proposed: {evaluation.proposal.min_score:.3f}", TOP + 26))
    return _svg(parts, "Share answered and share falsely answered over min_score")


def score_histogram(evaluation: Evaluation) -> str:
    """Draw how often each gate score occurs: answerable questions upwards, unanswerable ones downwards."""
    above = _counts([one.gate_score for one in evaluation.outcomes if one.question.answerable])
    below = _counts([one.gate_score for one in evaluation.outcomes if not one.question.answerable])
    tallest = max([*above, *below, 1])
    middle = (TOP + HEIGHT - BOTTOM) / 2
    scale = (middle - TOP) / tallest
    width = (_x(1) - _x(0)) / BINS
    parts = [_ticks("gate score")]
    for counts, colour, direction in ((above, GOOD, -1), (below, BAD, 1)):
        for place, count in enumerate(counts):
            if count:
                top = middle - count * scale if direction < 0 else middle
                parts.append(
                    f'<rect x="{_x(place / BINS) + 0.5:.1f}" y="{top:.1f}" width="{width - 1:.1f}" '
                    f'height="{count * scale:.1f}" fill="{colour}"><title>{count}</title></rect>'
                )
    parts.append(f'<line x1="{_x(0)}" y1="{middle:.1f}" x2="{_x(1)}" y2="{middle:.1f}" stroke="{SOFT}"/>')
    parts.append(_text(_x(0) + 4, TOP + 10, f"answerable (tallest: {max(above, default=0)})", GOOD))
    parts.append(_text(_x(0) + 4, HEIGHT - BOTTOM - 6, f"unanswerable (tallest: {max(below, default=0)})", BAD))
    parts.append(_marker(evaluation.min_score, f"min_score {evaluation.min_score:.2f}", TOP + 10))
    return _svg(parts, "How often each gate score occurs")


def _counts(scores: Sequence[float]) -> list[int]:
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, max(0, int(score * BINS)))] += 1
    return counts


def _x(value: float) -> float:
    return LEFT + min(max(value, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)


def _y(value: float) -> float:
    return HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM)


def _axes(levels: Sequence[float], name: str) -> str:
    rows = "".join(
        f'<line x1="{LEFT}" y1="{_y(level):.1f}" x2="{WIDTH - RIGHT}" y2="{_y(level):.1f}" stroke="{LINE}"/>'
        + _text(LEFT - 6, _y(level) + 4, f"{100 * level:.0f} %", SOFT, anchor="end")
        for level in levels
    )
    return rows + _ticks(name)


def _ticks(name: str) -> str:
    ticks = "".join(
        _text(_x(step / 10), HEIGHT - BOTTOM + 16, f"{step / 10:.1f}", SOFT, anchor="middle") for step in range(11)
    )
    return ticks + _text((_x(0) + _x(1)) / 2, HEIGHT - 6, name, SOFT, anchor="middle")


def _line(points: Sequence[tuple[float, float]], colour: str, name: str, dash: str = "") -> list[str]:
    if not points:
        return []
    path = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    half = next((point for point in points if point[1] <= 0.5), points[-1])
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"{dashes}/>',
        _text(_x(half[0]) + 6, _y(half[1]) - 4, name, colour),
    ]


def _marker(value: float, label: str, y: float) -> str:
    x = _x(value)
    anchor, shift = ("start", 4) if x < WIDTH * 0.7 else ("end", -4)
    return (
        f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="{SOFT}" stroke-dasharray="3 3"/>'
        + _text(x + shift, y, label, SOFT, anchor=anchor)
    )


def _text(x: float, y: float, text: str, colour: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="12">{escape(text)}</text>'


def _svg(parts: Sequence[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}" '
        f'font-family="system-ui, sans-serif">{"".join(parts)}</svg>'
    )
