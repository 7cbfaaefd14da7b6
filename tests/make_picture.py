"""Take the picture of a thread that the README shows: `python -m tests.make_picture`.

Starts the sandbox with the bot as `make run` does, asks three questions on its page in Chromium, waits for the
replies and writes docs/thread.png. `--url` takes a sandbox that runs already.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page

from bot.sandbox.server import SAMPLE_QUESTIONS
from tests.doubles_page import launched

PICTURE = Path(__file__).parent.parent / "docs" / "thread.png"
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
FIRST_REPLY_S = 120
WIDTH = 1200


@contextmanager
def sandbox() -> Iterator[str]:
    """Run the sandbox with its bot on a fresh data directory; yield its address."""
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "bot", "--data", data, "sandbox", "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            assert process.stdout is not None
            for line in process.stdout:
                found = ADDRESS.search(line)
                if found:
                    yield found[0]
                    return
            raise SystemExit("The sandbox ended before it said where it is.")
        finally:
            process.terminate()
            process.wait(30)


def ask(page: Page, questions: tuple[str, ...]) -> None:
    """Ask the first question in the channel and the others in its thread, each after the reply to the last."""
    answered = "#replies .post:has(.tag) >> nth="
    page.click(".hint button >> nth=0")
    page.wait_for_selector(f"{answered}0", timeout=FIRST_REPLY_S * 1000)
    for number, question in enumerate(questions[1:], start=1):
        page.fill("#reply textarea", f"@guidebot {question}")
        page.press("#reply textarea", "Enter")
        page.wait_for_selector(f"{answered}{number}", timeout=FIRST_REPLY_S * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--url", help="of a sandbox that runs already and whose triage channel is empty")
    parser.add_argument("--out", type=Path, default=PICTURE)
    chosen = parser.parse_args()
    with launched() as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": 800}, color_scheme="light", reduced_motion="reduce")
        if chosen.url:
            page.goto(chosen.url)
            ask(page, SAMPLE_QUESTIONS)
            shoot(page, chosen.out)
        else:
            with sandbox() as url:
                page.goto(url)
                ask(page, SAMPLE_QUESTIONS)
                shoot(page, chosen.out)
    print(f"wrote {chosen.out}")


def shoot(page: Page, file: Path) -> None:
    """Make the window as high as the thread and take its picture."""
    inner = page.evaluate("document.querySelector('#replies').scrollHeight")
    frame = page.evaluate("innerHeight - document.querySelector('#replies').clientHeight")
    page.set_viewport_size({"width": WIDTH, "height": inner + frame})
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    file.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=file)


if __name__ == "__main__":
    main()
