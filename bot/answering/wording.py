"""Bring words to concepts: one spelling, one stem, one name for what means the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import snowballstemmer

from bot.answering import vocabulary
from bot.answering.units import normalised

WORD = re.compile(r"[^\W_]+(?:[-'/][^\W_]+)*")

# What may stand in a text for the pattern to be tried (lower case), the pattern, and what it becomes.
_PHRASES: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = tuple(
    (tuple(hints.split("|")), re.compile(pattern, re.IGNORECASE), concept)
    for hints, pattern, concept in (
        ("i.|intra-", r"\bi\.\s?v\b\.?|\bintra-venous", "intravenous"),
        ("i.|intra-", r"\bi\.\s?m\b\.?|\bintra-muscular", "intramuscular"),
        ("s.|skin", r"\bs\.\s?c\b\.?|\bunder the skin\b", "subcutaneous"),
        ("p.|mouth|per o", r"\bp\.\s?o\b\.?|\bby mouth\b|\bper os\b|\bper oral\b", "oral"),
        ("p.|rectum", r"\bp\.\s?r\b\.?(?!\s?n)|\bper rectum\b", "rectal"),
        ("p.|vagina", r"\bp\.\s?v\b\.?|\bper vaginam?\b", "vaginal"),
        ("tongue", r"\bunder the tongue\b", "sublingual"),
        (
            "p.|require|need|necessary",
            r"\bp\.\s?r\.\s?n\b\.?|\b(?:when|as|if) (?:required|needed|necessary)\b|\bas-needed\b",
            "asneeded",
        ),
        (
            "away|at once|soon|delay",
            r"\b(?:straight|right) away\b|\bat once\b|\bas soon as possible\b|\bwithout delay\b",
            "immediately",
        ),
        ("blood pressure", r"\b(?:high|raised|elevated) blood pressure\b", "hypertension"),
        ("low blood|glycemia", r"\blow blood (?:glucose|sugar)\b|\bhypoglycemia\b", "hypoglycaemia"),
        ("high blood|glycemia", r"\bhigh blood (?:glucose|sugar)\b|\bhyperglycemia\b", "hyperglycaemia"),
        ("-", r"\b(anti|pre|post|co|re|sub|inter|multi|peri|auto|hyper|hypo|extra|ultra)-(?=[a-z]{3})", r"\1"),
        ("anti ", r"\banti (?=[a-z]{4})", "anti"),
        (
            "all |every ",
            r"\b(?:all|every) (?=(?:\w+ )?"
            r"(?:patients?|child(?:ren)?|adults?|(?:wo)?men|cases|people|infants?|babies|neonates?)\b)",
            "everyone ",
        ),
        ("who ", r"\bwho (?:is|are) not (?=[a-z])", "non "),
        ("benzyl", r"\bbenzyl[- ]penicillin\b", "benzylpenicillin"),
        ("co t", r"\bco trimoxazole\b", "cotrimoxazole"),
        ("type-|stage-|grade-|class-", r"\b(type|stage|grade|class)-(?=\d)", r"\1 "),
        ("st |nd |rd |th ", r"\b(\d+)(?:st|nd|rd|th)(?= (?:week|day|month|year))", r"\1"),
        (
            "ace|angiotensin",
            r"\bACEIs?\b|\bACE[- ]?Is?\b|\bACE[- ]inhibitors?\b|\bangiotensin[- ]converting[- ]enzyme inhibitors?\b",
            "aceinhibitor",
        ),
        ("arb|angiotensin", r"\bARBs?\b|\bangiotensin(?: II)? receptor blockers?\b", "angiotensinblocker"),
        ("ppi|pump", r"\bPPIs?\b|\bproton[- ]pump inhibitors?\b", "protonpumpinhibitor"),
        ("nsaid|steroid", r"\bNSAIDs?\b|\bnon-?steroidal anti-?inflammatory (?:drugs?|agents?)\b", "nsaid"),
        (
            "because of|due to|owing|account",
            r"\bbecause of\b|\bdue to\b|\bowing to\b|\bon account of\b",
            "because",
        ),
        (
            "post|after",
            r"\bpost-?operative(?:ly)?\b|\bafter surgery\b|\bafter (?:the )?operation\b",
            "postoperative",
        ),
        ("first", r"\bfirst[- ](?:line|choice)\b", "first-line"),
        ("second", r"\bsecond[- ]line\b", "second-line"),
        (
            "start|begin|begun|initiated|commence",
            r"\bstarting (?:dose|dosage)\b|"
            r"\b(?:start(?:ed|ing)?|begin|begun|initiated|commenced?) (?:with|at|on)(?: a dose of)?(?= \d)",
            "initial",
        ),
        (
            "well as|along|together|addition|combin",
            r"\bas well as\b|\balong with\b|\btogether with\b|\bin addition to\b|\bcombined with\b|"
            r"\bin combination with\b",
            "and",
        ),
        (
            "apart|other than|exception|except",
            r"\bapart from\b|\bother than\b|\bwith the exception of\b|\bexcept(?:ing)?(?: for| in| when| if)?\b",
            "except",
        ),
        ("rather than|instead of", r"\brather than\b|\binstead of\b", "not"),
        ("can", r"\bcan't\b|\bcannot\b", "can not"),
        ("n't", r"(?<=\w)n't\b", " not"),
        (
            "above",
            r"\bthe above\b|\babove[- ]mentioned\b|\b(?:stated|mentioned|described) above\b|\bas above\b",
            "this",
        ),
        ("not only", r"\bnot only\b", "both"),
        ("no longer", r"\bno longer\b(?! than)", "stop"),
        ("contra-", r"\bcontra-indicat", "contraindicat"),
    )
)


@lru_cache(maxsize=8192)
def prepared(text: str) -> str:
    """Return the text in one way of writing, set phrases ("by mouth", "as needed") brought to one word."""
    text = normalised(text)
    lower = text.lower()
    for hints, pattern, concept in _PHRASES:
        for hint in hints:
            if hint in lower:
                changed = pattern.sub(concept, text)
                if changed is not text:
                    text, lower = changed, changed.lower()
                break
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
def _read(text: str) -> tuple[frozenset[str], frozenset[str]]:
    found: set[str] = set()
    medicines: set[str] = set()
    for word in WORD.findall(prepared(text)):
        for part in parts_of(word.lower()):
            if concept := concept_of(part):
                found.add(concept)
                if is_medicine(concept, part):
                    medicines.add(concept)
    return frozenset(found), frozenset(medicines)


def concepts_of(text: str) -> frozenset[str]:
    """Return the content concepts of a text, among them names with figures but no quantities."""
    return _read(text)[0] if text else frozenset()


def medicines_of(text: str) -> frozenset[str]:
    """Return the concepts of a text that name medicines."""
    return _read(text)[1] if text else frozenset()
