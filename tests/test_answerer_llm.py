"""A real small model through the whole path: what it writes is shown only where the section carries it."""

from __future__ import annotations

import asyncio

import pytest

from bot.answering.answerer import Answerer
from bot.answering.checker import SourceText, check
from bot.answering.ollama_writer import OllamaWriter
from bot.exchange import Result
from bot.settings import AnswerSettings, OllamaSettings, Settings
from tests.doubles_answering import HYPO, METFORMIN, FakeLibrary, a_source, found, lets_through
from tests.doubles_ollama import Model, OllamaServer
from tests.doubles_small_model import smollm2

pytestmark = pytest.mark.llm

SETTINGS = Settings(
    answer=AnswerSettings(written_within_s=120),
    ollama=OllamaSettings(url="http://127.0.0.1:1", model="smollm2:135m", num_ctx=2048, max_tokens=60),
)
QUESTIONS = {
    "What should I do when blood glucose is 62 mg/dL?": HYPO,
    "When should metformin be stopped?": METFORMIN,
}


def test_a_real_models_text_is_shown_checked_or_replaced_by_the_section():
    async def main() -> tuple[dict[str, Result], OllamaServer]:
        async with OllamaServer(Model("smollm2:135m", trained_context=2048), backend=smollm2) as server:
            settings = SETTINGS.model_copy(update={"ollama": SETTINGS.ollama.model_copy(update={"url": server.url})})
            writer = OllamaWriter(settings.ollama)
            state = await writer.warm_up()
            assert state.ready, state.reason
            results = {}
            for question, section in QUESTIONS.items():
                library = FakeLibrary(otherwise=found(question, a_source("S1", section)))
                results[question] = await Answerer(library, settings, writer, lets_through).answer(question)
            await writer.close()
            return results, server

    results, server = asyncio.run(main())
    assert len(server.chats()) >= len(QUESTIONS), "the model was asked for every question"
    for question, result in results.items():
        section = QUESTIONS[question]
        if result.status == "refused":
            assert result.nearest[0].passage.text == section
            continue
        assert result.status == "answered"
        assert result.quotes[0].text == section
        if result.mode == "written":
            assert check(result.answer, {"S1": SourceText(section)}, question=question).supported
        else:
            assert result.answer == ""
            assert result.fallback in {"check_failed", "length", "empty", "incomplete"}
