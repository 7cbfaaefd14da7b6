"""Lists of words and names, and what they say about a word (pure over files that ship with the bot).

`words.txt` holds words of English and of medicine, drugs and places included; the lists of names hold names of
many cultures, in Latin letters without accents and in their own script. SOURCES.md says where they come from.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path

_FOLDER = Path(__file__).parent
_UNDECOMPOSED = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ß": "ss", "ə": "a", "ŋ": "n"}
)
# Endings of drugs, diseases, procedures and organisms that no list is complete for.
_CLINICAL_ENDING = re.compile(
    r"(?:m[iy]cin|cillin|cycline|floxacin|olol|pril|sartan|statin|azole|idine|amine|azine|mab|nib|vir|caine|[ae]pam|olam|"
    r"oxin|ipine|afil|gliptin|gliflozin|glutide|platin|rubicin|taxel|parin|xaban|setron|triptan|prazole|tidine|lukast|"
    r"terol|asone|isone|olone|onide|thiazide|semide|barbital|phylline|osis|[ai]tis|a?emia|ectomy|otomy|ostomy|ology|"
    r"opathy|plasty|scopy|graphy|uria|algia|penia|coccus|bacter(?:ium)?|monas|iasis|oma|aemic|emic|otic|itic|philia|"
    r"lysis|plegia|paresis|trophy|megaly|rrh(?:o)?ea|rrhagia|cele|phagia|phasia|pnoea|pnea|tomy|gram|ate|ide|ium|phen)s?$"
)


def words(text: str) -> frozenset[str]:
    """Return the words of a text with a gap between each two."""
    return frozenset(text.split())


@cache
def _list(name: str) -> frozenset[str]:
    return words((_FOLDER / name).read_text(encoding="utf-8"))


@lru_cache(maxsize=20_000)
def folded(word: str) -> str:
    """Return a word in lower case without accents."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word.casefold().translate(_UNDECOMPOSED))
    return "".join(one for one in plain if not unicodedata.combining(one) or ord(one) > 0x400)


def _forms(word: str) -> tuple[str, ...]:
    whole = folded(word)
    return (whole, whole.replace("'", "")) if "'" in whole else (whole,)


@lru_cache(maxsize=20_000)
def is_given_name(word: str) -> bool:
    """Tell whether a word, or the first part of a hyphenated one, is somebody's given name."""
    names = _list("given_names.txt")
    return any(form in names for form in _forms(word)) or ("-" in word and folded(word).split("-")[0] in names)


@lru_cache(maxsize=20_000)
def is_surname(word: str) -> bool:
    """Tell whether a word, or the last part of a hyphenated one, is somebody's surname."""
    names = _list("surnames.txt")
    if any(form in names for form in _forms(word)) or ("-" in word and folded(word).split("-")[-1] in names):
        return True
    return re.match(r"(?:Mc|Mac|O')[A-Z][a-z]+", word) is not None


@lru_cache(maxsize=20_000)
def is_word(word: str) -> bool:
    """Tell whether a word is one of English or medicine (it may be a name as well)."""
    known = _list("words.txt")
    whole = folded(word)
    if whole in known:
        return True
    parts = whole.split("-")
    if len(parts) > 1 and (
        all(len(p) < 2 or p in known for p in parts) or any(_CLINICAL_ENDING.search(p) for p in parts)
    ):
        return True
    if is_listed_name(word):
        return False
    stems = (whole.removesuffix("s"), whole.removesuffix("es"), whole.removesuffix("ing"), whole.removesuffix("ed"))
    return any(len(stem) > 3 and stem in known for stem in stems) or _CLINICAL_ENDING.search(whole) is not None


def is_listed_name(word: str) -> bool:
    """Tell whether a word is a given name or a surname."""
    return is_given_name(word) or is_surname(word)


@lru_cache(maxsize=20_000)
def is_eponym(word: str) -> bool:
    """Tell whether diseases, signs, scores, devices or makers are called by this name."""
    eponyms = _list("eponyms.txt")
    whole = folded(word)
    return whole in eponyms or ("-" in whole and any(part in eponyms for part in whole.split("-")))
