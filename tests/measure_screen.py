"""Measure the screen for patient details: python -m tests.measure_screen DATA_DIR [--misses SET].

DATA_DIR holds phi/, nstg/, nih/ and obliqa/. Recall is counted by items: an item is found when details cover at
least half of its letters and digits. A question without details that has any is a false stop.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import corpus
from bot.privacy import find_details
from tests.screen_texts import DATA, READ_LOCALES, UNREAD_LOCALES, Text, Values, filled, templates_of


def hand_written(path: Path) -> list[Text]:
    """Return texts whose details are marked as [[kind|detail]]."""
    texts = []
    for line in path.read_text(encoding="utf-8").splitlines():
        marked = json.loads(line)["text"]
        parts, items, length = [], [], 0
        for number, piece in enumerate(marked.replace("]]", "[[").split("[[")):
            kind, _, detail = piece.partition("|")
            if number % 2:
                items.append((length, length + len(detail), kind))
            shown = detail if number % 2 else piece
            parts.append(shown)
            length += len(shown)
        texts.append(Text("".join(parts), tuple(items)))
    return texts


def presidio_dataset(path: Path) -> list[Text]:
    """Return Presidio's own synthetic sentences with the entities that can identify a person."""
    kinds = {
        "PERSON": "name",
        "STREET_ADDRESS": "address",
        "PHONE_NUMBER": "phone",
        "EMAIL_ADDRESS": "email",
        "CREDIT_CARD": "card",
        "IBAN_CODE": "iban",
        "US_SSN": "ssn",
        "US_DRIVER_LICENSE": "insurance",
        "ZIP_CODE": "postcode",
        "IP_ADDRESS": "ip_address",
    }
    texts = []
    for one in json.loads(path.read_text(encoding="utf-8")):
        items = [
            (span["start_position"], span["end_position"], kinds[span["entity_type"]])
            for span in one["spans"]
            if span["entity_type"] in kinds
        ]
        texts.append(Text(one["full_text"], tuple(items)))
    return texts


def recall(name: str, texts: Iterable[Text], misses: list[str] | None) -> None:
    """Print the share of items found, by kind."""
    found: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for text in texts:
        covered = {place for one in find_details(text.text) for place in range(one.start, one.end)}
        for start, end, kind in text.items:
            letters = [place for place in range(start, end) if text.text[place].isalnum()]
            every[kind] += 1
            if letters and sum(place in covered for place in letters) * 2 >= len(letters):
                found[kind] += 1
            elif misses is not None:
                before, after = text.text[max(0, start - 50) : start], text.text[end : end + 40]
                misses.append(f"{kind}: {before}<<{text.text[start:end]}>>{after}")
    total, hits = sum(every.values()), sum(found.values())
    print(f"{name}: {hits}/{total} items found, {hits / max(total, 1):.1%}")
    print("   " + ", ".join(f"{kind} {found[kind]}/{every[kind]}" for kind in sorted(every)))


def false_stops(name: str, questions: list[str]) -> None:
    """Print the share of questions without details that are stopped."""
    began = time.perf_counter()
    stopped = [question for question in questions if find_details(question)]
    each_ms = (time.perf_counter() - began) / max(len(questions), 1) * 1000
    share = len(stopped) / max(len(questions), 1)
    print(f"{name}: {len(stopped)} of {len(questions)} stopped, {share:.1%}, {each_ms:.2f} ms each")


def questions_of(path: Path, field: str = "question") -> list[str]:
    """Return the questions in a file of JSON lines."""
    return [json.loads(line)[field] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def main(data: Path, shown: str) -> None:
    """Print recall by kind and false stops for every set."""
    presidio = templates_of(data / "phi" / "presidio_templates.txt")
    sets = {
        "read": list(filled(templates_of(DATA / "screen_templates_read.txt"), Values(READ_LOCALES, 1), 8)),
        "hand": hand_written(DATA / "screen_read.jsonl"),
        "unread": list(filled(templates_of(DATA / "screen_templates_unread.txt"), Values(UNREAD_LOCALES, 2), 8)),
        "hand_unread": hand_written(DATA / "screen_unread.jsonl"),
        "presidio": list(filled(presidio, Values(READ_LOCALES, 3), 2)),
        "presidio_unread": list(filled(presidio, Values(UNREAD_LOCALES, 4), 2)),
        "presidio_dataset": presidio_dataset(data / "phi" / "presidio_synth_dataset_v2.json"),
    }
    for name, texts in sets.items():
        misses: list[str] | None = [] if name == shown else None
        recall(name, texts, misses)
        for miss in misses or ():
            print("      " + repr(miss))
    false_stops("nstg", questions_of(data / "nstg" / "questions_dev.jsonl"))
    false_stops("nih", questions_of(data / "nih" / "questions_dev.jsonl"))
    false_stops("nih, short", questions_of(data / "nih" / "questions_dev.jsonl", "question_short"))
    false_stops("obliqa", questions_of(data / "obliqa" / "questions.jsonl"))
    false_stops("sample corpus", questions_of(corpus.HERE / "questions.jsonl"))
    for path in sorted(DATA.glob("*_extra_*.jsonl")):
        false_stops(path.stem, questions_of(path))
    false_stops("written for this", questions_of(DATA / "screen_clinical.jsonl", "text"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[3] if len(sys.argv) > 3 else "")
