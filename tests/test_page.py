"""The chat page, driven in Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from bot.sandbox.server import SandboxServer
from tests.doubles_page import launched, visiting

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


ANSWER = (
    "**[S1]** Diabetes › Metformin · score 0.81\n\n> Metformin **should not** be started if eGFR is below 45.\n>\n"
    "> - one\n>     - nested\n>\n> | eGFR | dose |\n> |------|-----:|\n> | 60 | 2 g |\n\nA source needs 0.55."
)

NASTY = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked=1'>",
    "![x](http://127.0.0.1:9/p.png)",
    "![x](javascript:window.hacked=1)",
    "[click](javascript:window.hacked=1)",
    "[click](JaVaScRiPt:window.hacked=1) <javascript:window.hacked=1>",
    "[click](data:text/html,<script>window.hacked=1</script>)",
    '[a](http://x.test/"onmouseover="window.hacked=1)',
    "<svg/onload=window.hacked=1><iframe src='javascript:window.hacked=1'></iframe>",
    "| a |\n|---|\n| <b onclick=window.hacked=1>x</b> |",
    "```html\n<script>window.hacked=1</script>\n```",
    "&lt;script&gt;window.hacked=1&lt;/script&gt; &#60;img src=x onerror=window.hacked=1&#62;",
    "@<img src=x onerror=window.hacked=1>",
    "<style>body{display:none}</style><form action=http://127.0.0.1:9><input></form>",
    "`<img src=x onerror=window.hacked=1>` \u202e\u0000",
]


def test_a_sample_question_starts_a_thread_and_the_answer_opens_it(browser: Browser) -> None:
    with visiting(browser) as visit:
        expect(visit.page.locator(".hint button")).to_have_count(3)
        visit.page.click(".hint button >> nth=0")
        expect(visit.page.locator("#posts .mention")).to_have_text("@guidebot")
        expect(visit.page.locator(".hint")).to_have_count(0)
        root = visit.sandbox.root()
        assert root["message"].startswith("@guidebot Can I start metformin")
        visit.sandbox.do(lambda server: server.hub.type(server.bot, root["channel_id"], ""))
        expect(visit.page.locator("#typing")).to_have_text("guidebot is typing…")
        visit.sandbox.post("guidebot", ANSWER, root_id=root["id"])
        expect(visit.page.locator("#replies blockquote strong")).to_have_text("should not")
        expect(visit.page.locator("#replies blockquote li li")).to_have_text("nested")
        expect(visit.page.locator("#replies th")).to_have_count(2)
        expect(visit.page.locator("#replies td.right")).to_have_text("2 g")
        expect(visit.page.locator("#typing")).to_have_text("")
        expect(visit.page.locator(".answers")).to_have_text("1 reply · last by guidebot")
        assert (visit.errors, visit.elsewhere) == ([], [])


def test_nothing_that_somebody_posts_runs_loads_or_leaves_its_place(browser: Browser) -> None:
    with visiting(browser) as visit:
        for number, text in enumerate(NASTY):
            attachment = {
                **{"text": text, "pretext": text, "title": text, "footer": text, "color": "red;background:url(x)"},
                **{"image_url": "http://127.0.0.1:9/x.png", "title_link": "javascript:window.hacked=1"},
                "fields": [{"title": text, "value": text}],
            }
            safe = text.replace("\0", "")
            props = {"attachments": [attachment], "override_username": text, "from_webhook": "true"}
            visit.sandbox.post("ben" if number % 2 else "guidebot", safe, props=props)
        visit.sandbox.do(lambda server: server.channel("triage").update(display_name=NASTY[1]))
        expect(visit.page.locator("#posts .post")).to_have_count(len(NASTY))
        visit.page.reload()
        expect(visit.page.locator("#posts .post")).to_have_count(len(NASTY))
        assert visit.page.evaluate("window.hacked") is None
        drawn = "#posts :is(script, style, iframe, form, input, svg, object, link, meta, base)"
        expect(visit.page.locator(drawn)).to_have_count(0)
        expect(visit.page.locator("#posts .body img")).to_have_count(0)
        links = visit.page.eval_on_selector_all("#posts a", "all => all.map(a => a.href)")
        assert all(re.match("https?://", link) for link in links)
        attributes = visit.page.eval_on_selector_all("#posts .body *", "all => all.flatMap(e => e.getAttributeNames())")
        assert set(attributes) <= {"class", "href", "target", "rel", "start"}
        assert visit.elsewhere == []
        assert visit.errors == []


def test_the_page_forbids_what_it_does_not_need(browser: Browser) -> None:
    with visiting(browser) as visit:
        answer = visit.page.request.get(visit.sandbox.server.url)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        ran = visit.page.evaluate(
            "() => { const s = document.createElement('script'); s.textContent = 'window.inline = 1';"
            " document.body.append(s); return window.inline }"
        )
        assert ran is None


def test_writing_editing_deleting_and_answering_by_keyboard(browser: Browser) -> None:
    with visiting(browser) as visit:
        page = visit.page
        field = page.locator("#write textarea")
        field.focus()
        page.keyboard.type("first line")
        page.keyboard.press("Shift+Enter")
        page.keyboard.type("second")
        page.keyboard.press("Enter")
        expect(page.locator("#posts .body")).to_have_text("first line second")
        assert visit.sandbox.root()["message"] == "first line\nsecond"
        page.keyboard.press("ArrowUp")
        page.keyboard.press("End")
        page.keyboard.type(" thought")
        page.keyboard.press("Enter")
        expect(page.locator("#posts .meta")).to_contain_text("(edited)")
        assert visit.sandbox.root()["message"] == "first line\nsecond thought"
        page.locator("#posts .deeds button", has_text="Reply").click()
        page.keyboard.type("an answer")
        page.keyboard.press("Enter")
        expect(page.locator("#replies .post")).to_have_count(2)
        page.keyboard.press("Escape")
        expect(page.locator("#thread")).to_be_hidden()
        page.locator("#posts .deeds button", has_text="Delete").click()
        expect(page.locator("#posts .body")).to_have_text("(message deleted)")
        assert visit.errors == []


def test_names_are_suggested_while_a_mention_is_typed(browser: Browser) -> None:
    with visiting(browser) as visit:
        visit.page.locator("#write textarea").focus()
        visit.page.keyboard.type("hello @")
        expect(visit.page.locator("#suggestions li >> nth=0")).to_have_text("@guidebot")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("#write textarea")).to_have_value("hello @guidebot ")
        expect(visit.page.locator("#suggestions")).to_be_hidden()


def test_thumbs_are_offered_on_the_bots_posts_and_are_given_and_taken_back(browser: Browser) -> None:
    with visiting(browser) as visit:
        post = visit.sandbox.post("guidebot", "hello")
        up = visit.page.locator("#posts .marks button >> nth=0")
        up.click()
        expect(up).to_have_attribute("aria-pressed", "true")
        (reaction,) = visit.sandbox.server.world.reactions[post["id"]]
        assert (reaction["emoji_name"], reaction["user_id"]) == ("+1", visit.sandbox.server.user("ann").id)
        up.click()
        expect(up).to_have_attribute("aria-pressed", "false")
        assert visit.sandbox.server.world.reactions[post["id"]] == []


def test_one_can_write_as_another_and_to_the_bot_alone(browser: Browser) -> None:
    with visiting(browser) as visit:
        visit.page.get_by_text("zoe", exact=True).click()
        visit.page.click("#directs button")
        expect(visit.page.locator("#title")).to_have_text("guidebot")
        visit.page.locator("#write textarea").fill("a question")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("#posts .meta strong")).to_have_text("zoe")
        (post,) = visit.sandbox.do(lambda server: server.posts_in(server.direct("zoe")["id"]))
        assert post["user_id"] == visit.sandbox.server.user("zoe").id
        visit.sandbox.post("ben", "elsewhere")
        expect(visit.page.locator("#channels b")).to_have_text("1")


def test_after_a_lost_connection_the_page_comes_back_with_what_it_missed(browser: Browser) -> None:
    with visiting(browser) as visit:
        port = visit.sandbox.server.port
        visit.sandbox.stop()
        expect(visit.page.locator("#state")).to_have_text("Reconnecting…")
        visit.sandbox.post("ben", "meanwhile")
        visit.sandbox.start(port)
        expect(visit.page.locator("#posts .body")).to_have_text("meanwhile")
        expect(visit.page.locator("#state")).to_have_text("")


def test_it_fits_a_phone(browser: Browser) -> None:
    with visiting(browser, width=360, height=640) as visit:
        page = visit.page
        page.click(".hint button >> nth=1")
        expect(page.locator("#posts .post")).to_have_count(1)
        root = visit.sandbox.root()
        wide = "> | a | b | c |\n> |---|---|---|\n> " + "| a very long cell indeed, which will not fit " * 3 + "|"
        visit.sandbox.post("guidebot", ANSWER + "\n\n" + wide, root_id=root["id"])
        expect(page.locator("#replies table")).to_have_count(2)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        expect(page.locator("#reply textarea")).to_be_in_viewport()
        page.click("#close")
        page.click("#menu")
        page.get_by_text("# Ward 3").click()
        expect(page.locator("#title")).to_have_text("Ward 3")
        expect(page.locator("#write textarea")).to_be_in_viewport()


def test_a_chart_is_shown(browser: Browser) -> None:
    with visiting(browser) as visit:

        def upload(server: SandboxServer) -> None:
            info = {"id": "f" * 26, "user_id": server.bot.id, "name": "chart.png", "mime_type": "image/png", "size": 4}
            server.world.files[str(info["id"])] = (info, b"\x89PNG")

        visit.sandbox.do(upload)
        visit.sandbox.post("guidebot", "chart", file_ids=["f" * 26])
        picture = visit.page.locator("#posts img.picture")
        expect(picture).to_have_attribute("alt", "chart.png")
        expect(picture).to_have_attribute("src", re.compile("^blob:"))
        assert visit.elsewhere == []
