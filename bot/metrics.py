"""What is counted, for Prometheus: outcomes, times, queue, connection, ledger, index and model; never a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.exchange import Mode, Result
from retrieval.access import OPERATOR, Viewer
from retrieval.found import Filters

if TYPE_CHECKING:
    from bot.desk import Answers

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
STAGES = ("screen", "read", "embed", "search", "rerank", "gate", "write", "check", "total")
_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 60.0)
_CODE = re.compile(r"[a-z_]{1,40}")
_EVERYWHERE = Filters()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How the service is at one moment.

    Attributes:
        waiting, in_hand: questions that wait for their turn, and all that are not finished.
        connected: events are coming in and the probe came round.
        connects, resumes, gaps: of the event stream, since the start.
        ledger_usable: the last try to write it succeeded.
        index_age_s: since the last index run that ended well, whether or not it found changes; None: never.
        model_up, model_loaded: of the language model; None when none is set.
    """

    waiting: int = 0
    in_hand: int = 0
    connected: bool = False
    connects: int = 0
    resumes: int = 0
    gaps: int = 0
    ledger_usable: bool = True
    index_passages: int = 0
    index_guidelines: int = 0
    index_bytes: int = 0
    index_age_s: float | None = None
    model_up: bool | None = None
    model_loaded: bool | None = None


class Metrics:
    """Counters and histograms of one running bot, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._state = _State()
        self._registry.register(self._state)
        self._questions = Counter(
            "guideline_bot_questions", "Questions by what came of them.", ["status", "mode"], registry=self._registry
        )
        self._fallbacks = Counter(
            "guideline_bot_quoted_instead",
            "Answers that were quoted, by why they were not written.",
            ["reason"],
            registry=self._registry,
        )
        self._check_failures = Counter(
            "guideline_bot_check_failures", "Drafts that the checker did not let through.", registry=self._registry
        )
        self._stages = Histogram(
            "guideline_bot_stage_seconds",
            "Time an answer took, by stage.",
            ["stage"],
            buckets=_BUCKETS_S,
            registry=self._registry,
        )
        for status in ("answered", "refused", "blocked", "failed"):
            for mode in ("written", "quoted") if status == "answered" else ("",):
                self._questions.labels(status, mode)

    def count(self, result: Result, spent_s: float) -> None:
        """Count one result.

        Args:
            spent_s: from question to result.
        """
        self._questions.labels(result.status, result.mode if result.status == "answered" else "").inc()
        if result.fallback and _CODE.fullmatch(result.fallback):
            self._fallbacks.labels(result.fallback).inc()
        if result.fallback == "check_failed":
            self._check_failures.inc()
        for stage, spent_ms in result.timings_ms.items():
            if stage in STAGES and stage != "total":
                self._stages.labels(stage).observe(spent_ms / 1000)
        self._stages.labels("total").observe(spent_s)

    def page(self, snapshot: Snapshot) -> bytes:
        """Return everything in Prometheus's text format."""
        self._state.snapshot = snapshot
        return generate_latest(self._registry)


class MeasuredAnswers:
    """Counts what an answerer answers.

    Args:
        clock: seconds that only go forward.
    """

    def __init__(self, answers: Answers, metrics: Metrics, clock: Callable[[], float]) -> None:
        self._answers = answers
        self._metrics = metrics
        self._clock = clock

    async def answer(
        self,
        question: str,
        *,
        viewer: Viewer = OPERATOR,
        mode: Mode | None = None,
        filters: Filters = _EVERYWHERE,
        earlier: Sequence[str] = (),
    ) -> Result:
        began = self._clock()
        result = await self._answers.answer(question, viewer=viewer, mode=mode, filters=filters, earlier=earlier)
        self._metrics.count(result, self._clock() - began)
        return result


class _State(Collector):
    """The figures that are read off when they are asked for."""

    def __init__(self) -> None:
        self.snapshot = Snapshot()

    def collect(self) -> Iterator[Metric]:
        now = self.snapshot
        gauges: list[tuple[str, str, float | None]] = [
            ("queue_waiting", "Questions that wait for their turn.", now.waiting),
            ("questions_in_hand", "Questions that are not finished.", now.in_hand),
            ("connected", "1 while events are coming in.", now.connected),
            ("ledger_usable", "1 while the ledger can be written.", now.ledger_usable),
            ("index_passages", "Passages in the generation that answers.", now.index_passages),
            ("index_guidelines", "Guidelines in the generation that answers.", now.index_guidelines),
            ("index_bytes", "Size of the generation that answers.", now.index_bytes),
            ("index_age_seconds", "Time since the last index run that ended well.", now.index_age_s),
            ("model_up", "1 while the language model's server answers.", now.model_up),
            ("model_loaded", "1 while the language model is in memory.", now.model_loaded),
        ]
        for name, help_text, value in gauges:
            if value is not None:
                yield GaugeMetricFamily(f"guideline_bot_{name}", help_text, value=float(value))
        connections = CounterMetricFamily(
            "guideline_bot_connections", "How often the event stream came up, by how.", labels=["how"]
        )
        connections.add_metric(["afresh"], now.connects)
        connections.add_metric(["resumed"], now.resumes)
        yield connections
        yield CounterMetricFamily("guideline_bot_event_gaps", "How often events were missed.", value=now.gaps)
