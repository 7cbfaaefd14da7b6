"""Bring words to concepts: one spelling, one stem, one name for what means the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import snowballstemmer

from bot.answering import vocabulary
from bot.answering.units import normalised

WORD = re.compile(r"[^\W_]+(?:[-'/][^\W_]+)*")

_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), concept)
    for pattern, concept in (
        (r"\bi\.\s?v\b\.?|\bintra-venous", "intravenous"),
        (r"\bi\.\s?m\b\.?|\bintra-muscular", "intramuscular"),
        (r"\bs\.\s?c\b\.?|\bunder the skin\b", "subcutaneous"),
        (r"\bp\.\s?o\b\.?|\bby mouth\b|\bper os\b|\bper oral\b", "oral"),
        (r"\bp\.\s?r\b\.?|\bper rectum\b", "rectal"),
        (r"\bp\.\s?v\b\.?|\bper vagina[m]?\b", "vaginal"),
        (r"\bunder the tongue\b", "sublingual"),
        (r"\bp\.\s?r\.\s?n\b\.?|\b(?:when|as|if) (?:required|needed|necessary)\b|\bas[- ]needed\b", "asneeded"),
        (r"\b(?:straight|right) away\b|\bat once\b|\bas soon as possible\b|\bwithout delay\b", "immediately"),
        (r"\b(?:high|raised|elevated) blood pressure\b", "hypertension"),
        (r"\blow blood (?:glucose|sugar)\b|\bhypoglycemia\b", "hypoglycaemia"),
        (r"\bhigh blood (?:glucose|sugar)\b|\bhyperglycemia\b", "hyperglycaemia"),
        (r"\b(anti|pre|post|co|re|sub|inter|multi|peri|auto|hyper|hypo|extra|ultra)-(?=[a-z]{3})", r"\1"),
        (r"\banti (?=[a-z]{4})", "anti"),
        (r"\b(?:all|every) (?=(?:\w+ )?(?:patients?|child(?:ren)?|adults?|(?:wo)?men|cases|people|infants?|babies|neonates?)\b)", "everyone "),
        (r"\bwho (?:is|are) not (?=[a-z])", "non "),
        (r"\bbenzyl[- ]penicillin\b", "benzylpenicillin"),
        (r"\bco trimoxazole\b", "cotrimoxazole"),
        (r"\b(type|stage|grade|class)-(?=\d)", r"\1 "),
        (r"\b(\d+)(?:st|nd|rd|th)(?= (?:week|day|month|year))", r"\1"),
        (r"\bACEIs?\b|\bACE[- ]?Is?\b|\bACE[- ]inhibitors?\b|\bangiotensin[- ]converting[- ]enzyme inhibitors?\b", "aceinhibitor"),
        (r"\bARBs?\b|\bangiotensin(?: II)? receptor blockers?\b", "angiotensinblocker"),
        (r"\bPPIs?\b|\bproton[- ]pump inhibitors?\b", "protonpumpinhibitor"),
        (r"\bNSAIDs?\b|\bnonsteroidal anti-?inflammatory (?:drugs?|agents?)\b|\bnon-steroidal anti-?inflammatory (?:drugs?|agents?)\b", "nsaid"),
        (r"\bbecause of\b|\bdue to\b|\bowing to\b|\bon account of\b", "because"),
        (r"\bcontra-indicat", "contraindicat"),
        (r"\bpost-?operative(?:ly)?\b|\bafter surgery\b|\bafter (?:the )?operation\b", "postoperative"),
        (r"\bfirst[- ](?:line|choice)\b", "first-line"),
        (r"\bsecond[- ]line\b", "second-line"),
        (r"\bstarting (?:dose|dosage)\b|\b(?:start(?:ed|ing)?|begin|begun|initiated|commenced?) (?:with|at|on)(?: a dose of)?(?= \d)", "initial"),
        (r"\bas well as\b|\balong with\b|\btogether with\b|\bin addition to\b|\bcombined with\b|\bin combination with\b", "and"),
        (r"\bapart from\b|\bother than\b|\bwith the exception of\b|\bexcept(?:ing)?(?: for| in| when| if)?\b", "except"),
        (r"\brather than\b|\binstead of\b", "not"),
        (r"\b(?:is|are) to be\b", "should be"),
        (r"\bcan't\b|\bcannot\b|\bcan not\b", "can not"),
        (r"(?<=\w)n't\b", " not"),
        (r"\bthe above\b|\babove[- ]mentioned\b|\b(?:stated|mentioned|described) above\b|\bas above\b", "this"),
        (r"\bnot only\b", "both"),
        (r"\bno longer\b(?! than)", "stop"),
        (r"\bat the same time as\b", "with"),
    )
)  # fmt: skip
_PHRASE_HINT = re.compile(
    r"\.|mouth|per |tongue|require|need|necessary|away|once|soon|delay|pressure|blood|co[- ]t|contra-|post|after|first|second|"
    r"start|well as|along|together|addition|combin|apart|other than|exception|except|rather|instead|to be|can|n't|only|no longer|"
    r"glycemia|intra-|skin|same time|-|\banti |ACE|ARB|PPI|NSAID|above|who |benzyl|all |every |pump|angiot|due to|because|owing|begin|begun|initiated|commence|\d(?:st|nd|rd|th)",
    re.IGNORECASE,
)


def with_phrases(text: str) -> str:
    """Return the text with set phrases ("by mouth", "as needed") brought to one word."""
    if not _PHRASE_HINT.search(text):
        return text
    for pattern, concept in _PHRASES:
        text = pattern.sub(concept, text)
    return text


_SPELLING = (
    (re.compile(r"(?<=\w)isation"), "ization"),
    (re.compile(r"(?<=[a-z]{2})ise(?=$|d$|s$|r$)"), "ize"),
    (re.compile(r"(?<=[a-z]{2})ising$"), "izing"),
    (re.compile(r"ae(?=[a-z])|oe(?=[a-z])"), "e"),
    (re.compile(r"our(?=$|s$|al|ed$)"), "or"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"(?<=[a-z])tre(?=s?$)"), "ter"),
    (re.compile(r"ogue(?=s?$)"), "og"),
    (re.compile(r"(?<=[^l])ll(?=ed$|ing$)"), "l"),
)
_STEMMER = snowballstemmer.stemmer("english")


def _plain_spelling(word: str) -> str:
    word = word.lower().strip("'")
    if not word.isascii():
        word = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    if word.endswith("'s"):
        word = word[:-2]
    for pattern, plain in _SPELLING:
        word = pattern.sub(plain, word)
    return word


def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word)) if len(word) > 3 and word.isascii() else word


def _synonym_table() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in vocabulary.SYNONYMS.splitlines():
        words = line.split()
        for word in words:
            plain = _plain_spelling(word)
            table.setdefault(word, words[0])
            table.setdefault(plain, words[0])
            if len(plain) > 4:
                table.setdefault(_stem(plain), words[0])
    return table


_SYNONYMS = _synonym_table()
_GLUE = vocabulary.GLUE


@lru_cache(maxsize=65536)
def concept_of(word: str) -> str:
    """Return the concept of a word: its group's name, else its stem; "" for a word that carries no fact."""
    lower = word.lower()
    if lower in _GLUE:
        return ""
    if lower in _SYNONYMS:
        return _SYNONYMS[lower]
    plain = _plain_spelling(lower)
    if plain in _GLUE:
        return ""
    if plain in _SYNONYMS:
        return _SYNONYMS[plain]
    stem = _stem(plain)
    return _SYNONYMS.get(stem, stem)


def parts_of(word: str) -> tuple[str, ...]:
    """Return a hyphenated or slashed word in parts, a plain word alone; a name with figures stays whole."""
    if "-" not in word and "/" not in word:
        return (word,)
    if word.lower() in _SYNONYMS or any(c.isdigit() for c in word):
        return (word,)
    return tuple(part for part in re.split(r"[-/]", word) if part)


def words_of(text: str) -> Iterator[re.Match[str]]:
    return WORD.finditer(text)


@lru_cache(maxsize=65536)
def is_medicine(concept: str, word: str) -> bool:
    """Tell whether a word names a medicine, by a list and by the endings of generic names."""
    lower = word.lower()
    if lower in vocabulary.MEDICINES or concept in vocabulary.MEDICINES:
        return True
    return len(lower) > 5 and (
        lower.endswith(vocabulary.MEDICINE_ENDINGS) or lower.startswith(vocabulary.MEDICINE_STARTS)
    )


@lru_cache(maxsize=8192)
def concepts_of(text: str) -> frozenset[str]:
    """Return the content concepts of a text, figures left out."""
    found = set()
    for match in WORD.finditer(with_phrases(normalised(text))):
        for part in parts_of(match.group()):
            if concept := concept_of(part):
                found.add(concept)
    return frozenset(found)
