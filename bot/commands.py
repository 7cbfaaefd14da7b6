"""What a mention asks for: a question, or one of the few commands (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from bot.exchange import Mode
from retrieval.found import Filters

_EVERYWHERE = Filters()

CommandKind = Literal["ask", "help", "guidelines", "show", "why", "search", "status", "reindex", "reload", "unread"]


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be done.

    Attributes:
        kind: "unread" for a filter that is not written as one: the question must not be answered without it.
        text: the question, or what the command is about: a word of a title, a tag ("S2").
        mode: quote or write; None as set.
    """

    kind: CommandKind
    text: str = ""
    mode: Mode | None = None
    filters: Filters = _EVERYWHERE

    @property
    def is_search(self) -> bool:
        """Whether it goes through the answerer, screen and gate included."""
        return self.kind in ("ask", "search")


_GREETING = re.compile(
    r"(?:hi|hello|hey|hiya|hallo|howdy|greetings|good (?:morning|afternoon|evening|day)|morning|thanks|thank you|"
    r"thx|cheers|ok|okay|ping|test)(?: (?:there|all|everyone|team|bot|again|so much|very much|a lot))*",
    re.IGNORECASE,
)
# Phones make one dash of two, and straight quotes curly.
_FILTER = re.compile(
    r"""(?:(?<=\s)|^)(?:--|—|–)(guideline|section)(?:\s*=\s*|\s+)("[^"]*"|“[^”]*”|'[^']*'|‘[^’]*’|[^\s"“'‘]\S*)""",
    re.IGNORECASE,
)
_FILTER_NAMES = ("guideline", "section")
_LEFT_OVER = re.compile(r"(?:(?<=\s)|^)(?:--|—|–)([a-z]+)(?![a-z])", re.IGNORECASE)
_MOST_TITLE_WORDS = 3
_ADDRESSED = r"there|team|everyone|everybody|folks|bot"
# Words that only address somebody dilute a short question. 'HI' is what a glucose meter shows, and 'morning' a
# time to take something: what might belong to the question stays.
_SALUTATION = re.compile(
    rf"""(?:@[a-z][\w.\-]*[\s,:;]+
       |(?:hey|hello|hiya|hallo)(?:\s+(?:{_ADDRESSED}))?[\s,:;.!–—-]+
       |(?:(?!(?-i:HI)\b)hi|good\s+(?:morning|afternoon|evening|day))
        (?:\s+(?:{_ADDRESSED})[\s,:;.!–—-]+|(?:\s+all)?\s*[,:;.!–—]+\s*)
       )+""",
    re.IGNORECASE | re.VERBOSE,
)


def parse(text: str) -> Command:
    """Read what a mention asks for.

    A command is only what cannot well be a question: `why` alone is the command, `why is metformin stopped?` is
    not; `status epilepticus` is a question.

    Args:
        text: the post without the bot's name.
    """
    text, filters = _without_filters(text.strip())
    if any(_meant_as_filter(word) for word in _LEFT_OVER.findall(text)):
        return Command("unread")
    bare = re.sub(r"[\s.!,;:?*_`]+$", "", text).strip(" *_`/-").casefold()
    if not re.search(r"\w", text):
        return Command("help")
    if bare in ("help", "h", "commands", "what can you do", "how do you work", "how does this work", "help me"):
        return Command("help")
    if _GREETING.fullmatch(re.sub(r"[^\w\s]", "", bare)):
        return Command("help")
    if bare in ("why", "scores", "why this answer", "why that answer", "sources"):
        return Command("why")
    if bare in ("status", "reindex", "reload"):
        return Command(bare)  # type: ignore[arg-type]
    if shown := re.fullmatch(r"show(?: me)?(?: source)? \[?(s?\d{1,3})\]?", bare):
        return Command("show", "S" + shown[1].removeprefix("s"))
    text = _without_salutation(text)
    first, _, rest = text.partition(" ")
    verb = first.casefold().rstrip(":,")
    rest = rest.strip()
    if verb in ("guidelines", "guideline", "list") and not text.rstrip().endswith("?"):
        words = re.sub(r"^guidelines?\b", "", rest, flags=re.IGNORECASE) if verb == "list" else rest
        wanted = verb != "list" or rest.casefold().startswith("guideline")
        if wanted and len(words.split()) <= _MOST_TITLE_WORDS:
            return Command("guidelines", words.strip(" .!\"'"))
    if rest and verb in ("quote", "quoted"):
        return Command("ask", rest, "quoted", filters)
    if rest and verb in ("write", "written") and not rest.casefold().startswith(("up ", "a ", "an ", "the ")):
        return Command("ask", rest, "written", filters)
    if rest and verb in ("search", "find"):
        return Command("search", rest, "quoted", filters)
    return Command("ask", text, None, filters)


def _without_salutation(text: str) -> str:
    met = _SALUTATION.match(text)
    rest = text[met.end() :] if met is not None else text
    return rest if re.search(r"\w", rest) else text


def _meant_as_filter(word: str) -> bool:
    return bool(get_close_matches(word.casefold(), _FILTER_NAMES, n=1, cutoff=0.75))


def _without_filters(text: str) -> tuple[str, Filters]:
    values = {"guideline": "", "section": ""}

    def take(match: re.Match[str]) -> str:
        values[match[1].casefold()] = match[2].strip("\"“”'‘’ ")
        return " "

    rest = _FILTER.sub(take, text)
    if rest == text:
        return text, Filters()
    return re.sub(r"[ \t]{2,}", " ", rest).strip(), Filters(values["guideline"], values["section"])
