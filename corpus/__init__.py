"""The sample corpus: invented guidelines for trying the bot, never for treating anyone."""

from pathlib import Path

HERE = Path(__file__).resolve().parent
GUIDELINES = HERE / "guidelines"
TRIAGE_MANUAL = GUIDELINES / "behavioural-health-triage.md"
GLOSSARY = HERE / "glossary.yaml"
QUESTIONS = HERE / "questions.jsonl"
