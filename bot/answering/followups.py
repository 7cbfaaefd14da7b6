"""Questions that only make sense after another one (pure).

'And in children?' is read together with what came before it in the thread. A full question is not, even in a
thread: its subject is its own. In between ('what about hypertension?', 'can it be given with food?') both
readings are tried, and the caller takes the one that the guidelines carry.

What a follow-up adds must stand in what is found for it: an adult dose is no answer to 'and in children?'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.answering.prompts import readable
from retrieval.terms import stem

MAX_EARLIER_CHARS = 600
"""How much is read along of the question before, and of what was added to it, each."""

LEANING_WORDS = 9
"""A longer question with a subject is whole, however it begins."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPENING = re.compile(
    r"^(?:(?:ok(?:ay)?|thanks|thank you|right|so|yes|no|hmm)[,.!]?\s+)*"
    r"(?:and|or|but|also|plus|then|what about|how about|what if|what else|anything else|any other|same for|"
    r"the same for|is that|is this|why|if)\b(?!\s*$)",
    re.IGNORECASE,
)
_POINTING = _words(
    "it its that this these those they them their he him his she her one ones same such both either "
    "instead otherwise else"
)

_NEWBORNS = "neonate neonates neonatal newborn newborns"
_INFANTS = f"infant infants infancy baby babies {_NEWBORNS}"
_TEENAGERS = "adolescent adolescents adolescence teenager teenagers teen teens"
_CHILDREN = "child children childhood kid kids paediatric pediatric paediatrics pediatrics toddler toddlers"

# What a population is called when it is asked for → what a passage may call it. A child's dose may be an infant's,
# but a newborn's is not a child's.
_POPULATIONS: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (_words(asked), _words(f"{asked} {also}"))
    for asked, also in (
        (_CHILDREN, f"{_INFANTS} {_TEENAGERS}"),
        (_INFANTS.removesuffix(_NEWBORNS), _NEWBORNS),
        (_NEWBORNS, ""),
        (_TEENAGERS, ""),
        ("adult adults", ""),
        ("elderly older geriatric frail", "aged"),
        ("pregnant pregnancy gestation gestational antenatal trimester", "obstetric"),
        ("breastfeeding lactation lactating breastfed", "breast"),
        ("renal kidney kidneys", "egfr dialysis nephropathy creatinine ckd"),
        ("hepatic liver", "cirrhosis"),
        ("allergic allergy allergies", "hypersensitivity hypersensitive anaphylaxis"),
        ("diabetic diabetics diabetes", ""),
        ("men man male males", ""),
        ("women woman female females", ""),
    )
)

# Words that ask something *of* a subject but are none.
_ASKING = _words(
    """a about above after again age aged ages all allowed also alternative alternatives am an and another any anything
    are as at avoid be been before being below best between but by can cannot cause causes change changed
    changes check checked choice common complication complications continue continued continues contraindicated
    contraindication contraindications could course criteria daily day days definition diagnose diagnosed
    diagnosis did different do does dosage dosages dose doses dosing drug drugs duration each effect effects
    enough ever every exactly examination fail fails features first follow following for frequency frequently
    from further get give given giving good had happen happens has have having help helped helps hour hours how
    i if im improve improved improves in interval into intramuscular intravenous investigate investigation
    investigations is iv just kind know last less level levels line long longer look many max maximum may me
    mean means measure medication medicine medicines mg mild min minimum minute minutes moderate monitor
    monitored monitoring month months more most mouth much must my need needed needs next no non normal not now
    of often ok okay on once only options or oral orally other our out over page patient patients per persist
    persistent persists person please po prescribe prescribed prevent prevention quick quickly range rate rather
    reaction reactions recommend recommended recover recovers refer referral referred repeat repeated resolve
    resolves respond responding right risk risks route safe second settle settled settles severe shall should
    side sign signs so soon start started starting still stop stopped stopping subcutaneous symptom symptoms
    take taken target tell test testing tests than thanks the then therapy third threshold through time times to
    too treat treated treating treatment treatments twice unit units until up us use used using vein wait was we
    week weeks were what when where whether which while who why will with within without work works worse would
    year years yes you your"""
)


# Populations that may as well be what a question is about: 'What is diabetes?' stands by itself.
_SUBJECTS = _words("renal kidney kidneys hepatic liver allergic allergy allergies diabetic diabetics diabetes")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question read together with what came before.

    Attributes:
        text: the joined reading, what came before in front.
        stands_alone: it may also be a question of its own: both readings must be tried.
        adds: words of its own that an answer must speak of (see `speaks_of`).
    """

    text: str
    stands_alone: bool
    adds: tuple[str, ...] = ()


def follow_up(question: str, earlier: Sequence[str]) -> FollowUp | None:
    """Read a question together with what came before it, when it needs that.

    Args:
        question: as asked.
        earlier: readings of the thread's questions so far, oldest first.

    Returns:
        The joined reading, or None for a question with a subject of its own (or with nothing before it).
    """
    text = " ".join(readable(question).split())
    before = _before(earlier)
    words = re.findall(r"[^\W_]+(?:['’\-][^\W_]+)*", text.casefold())
    if not before or not words:
        return None
    own = tuple(dict.fromkeys(word for word in words if not _asks_only(word)))
    opens = bool(_OPENING.match(text))
    points = any(word in _POINTING for word in words)
    leans = opens or points
    if own and (not leans or (len(words) > LEANING_WORDS and len(own) > 1)):
        return None
    people = tuple(dict.fromkeys(word for word in words if _kinds_of(word)))
    joined = f"{_ended(before)} {text[:1].upper()}{text[1:]}"
    return FollowUp(joined, stands_alone=bool(own), adds=tuple(dict.fromkeys((*own, *people))))


def speaks_of(added: Iterable[str], text: str) -> bool:
    """Tell whether `text` holds a word of the same kind as one of those added, or nothing was added.

    Populations go by kind (children: infant, paediatric …) and each added one is needed; of other words one is
    enough, compared by their stems.
    """
    present = set(re.findall(r"[^\W_]+", readable(text).casefold()))
    people = [word for word in added if _kinds_of(word)]
    others = [word for word in added if not _kinds_of(word)]
    if any(not any(kind & present for kind in _kinds_of(word)) for word in people):
        return False
    stems = {stem(one) for one in present}
    return not others or any(stem(part) in stems for word in others for part in re.split(r"['’\-]", word))


def _kinds_of(word: str) -> list[frozenset[str]]:
    return [accepted for asked, accepted in _POPULATIONS if word in asked]


def _asks_only(word: str) -> bool:
    plain = word.replace("’", "'").split("'")[0]
    if plain in _SUBJECTS:
        return False
    return plain in _ASKING or plain in _POINTING or bool(_kinds_of(plain)) or plain.isdigit() or len(plain) < 2


def _before(earlier: Sequence[str]) -> str:
    """Return the thread's last full question, with the last thing that was added to it.

    A reading that begins with an older one was joined to it; of what such a chain has gathered, the subject and the
    last step decide what the next one means, and the rest would only dilute it.
    """
    readings = [text for one in earlier if (text := " ".join(readable(one).split()))]
    if not readings:
        return ""
    last = readings[-1]
    base = min((one for one in readings if last.startswith(_ended(one))), key=len, default=last)
    added = re.split(r"(?<=[?.!…])\s+", last.removeprefix(_ended(base)).strip())[-1]
    return " ".join(filter(None, (_ended(_shortened(base)), _shortened(added))))


def _shortened(before: str) -> str:
    """Keep the beginning, which names the subject, of a reading that has grown long."""
    if len(before) <= MAX_EARLIER_CHARS:
        return before
    return before[:MAX_EARLIER_CHARS].rsplit(" ", 1)[0] + " …"


def _ended(text: str) -> str:
    return text if text.endswith(("?", ".", "!", "…")) else f"{text}."
