"""The words of a text, each with what it looks like and what it may be (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.screening import vocabulary

_WORD = re.compile(r"[^\W\d_]+(?:['\-][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"'s?$", re.I)
PARTICLES = vocabulary.words(
    "van von de del della der den di da das dos du la le bin ibn bint al el ten ter st abu abd ul ur y mac ap af av zu "
    "san santa"
)
# Words that are in no name as people write it, though a list of names may hold them.
FUNCTION_WORDS = vocabulary.words(
    "a an and any are as at be been being best but by can could did do does done each else even ever every few "
    "for from get gets give given gave go goes going gone got had has have having he her here hers him his how "
    "i if in into is isn it its just keep keeps kept know last less let like made make many may me men might "
    "mine more most much must my need needs new next no nor not now of off old on once one only or other our "
    "out over own per please post pre put said same saw say says see seen she should since so some soon still "
    "such take taken takes than that the their them then there these they this those thus till to told too "
    "took two under until up upon us use used uses very via want wants was we well were what when where which "
    "while who whom whose why will with within without would yes yet you your yours am im also again ago about "
    "above after all along among around because before below both during either enough ask asks asked tell "
    "tells refuses refuse denies deny feels feel felt looks look came come comes called call calls lives live "
    "left right day days week weeks month months year years today tomorrow yesterday tonight time times age "
    "aged yo y/o male female old man woman boy girl child children baby infant adult adults elderly people "
    "person patient patients pt pts client clients caller mum mom mother dad father son daughter wife husband "
    "sister brother partner friend doctor nurse gp staff team hi hello hey dear thanks thank regards cheers ok "
    "okay sorry kind good morning afternoon evening mr mrs ms miss mx dr prof sir madam pain ache fever dose "
    "doses drug drugs treatment test tests result results care risk review history allergy allergic allergies "
    "admitted discharged seen started stopped presenting presents presented complaining complains reports "
    "reported diagnosed known unknown unable able safe first second third name names named number address "
    "phone email date birth dob mrn nhs ssn id id's bed ward room bay clinic hospital unit"
)


@dataclass(frozen=True)
class Word:
    """One word of a text: letters, perhaps with apostrophes and hyphens, without a possessive ending.

    Attributes:
        text: as it is written.
        start, end: where it stands (characters from 0, the end excluded).
        possessive: an 's follows.
    """

    text: str
    start: int
    end: int
    possessive: bool

    @cached_property
    def lower(self) -> str:
        """In lower case without accents."""
        return vocabulary.folded(self.text)

    @cached_property
    def capital(self) -> bool:
        """Written like a name: a capital first and not capitals only (a single capital is an initial)."""
        return len(self.text) > 1 and self.text[0].isupper() and not self.text.isupper()

    @cached_property
    def upper(self) -> bool:
        """In capitals only, two or more."""
        return len(self.text) > 1 and self.text.isupper()

    @cached_property
    def initial(self) -> bool:
        """A single capital."""
        return len(self.text) == 1 and self.text.isupper()

    @cached_property
    def function(self) -> bool:
        """A word that is in no name."""
        return self.lower in FUNCTION_WORDS

    @cached_property
    def given(self) -> bool:
        """Somebody's given name."""
        return not self.function and len(self.text) > 1 and vocabulary.is_given_name(self.text)

    @cached_property
    def surname(self) -> bool:
        """Somebody's surname."""
        return not self.function and len(self.text) > 1 and vocabulary.is_surname(self.text)

    @cached_property
    def listed(self) -> bool:
        """Somebody's name."""
        return self.given or self.surname

    @cached_property
    def known(self) -> bool:
        """A word of English or medicine, or a place, whether or not it is a name as well."""
        return self.function or vocabulary.is_word(self.text)

    @cached_property
    def eponym(self) -> bool:
        """A name by which diseases, scores or devices are called."""
        return vocabulary.is_eponym(self.text)

    @cached_property
    def only_given(self) -> bool:
        """A given name and nothing else."""
        return self.given and not self.known and not self.eponym

    @cached_property
    def only_name(self) -> bool:
        """A given name or surname and nothing else."""
        return self.listed and not self.known and not self.eponym

    @cached_property
    def strange(self) -> bool:
        """In no list: a rare name, a misspelling, a brand."""
        return not (self.known or self.listed or self.eponym) and len(self.text) > 2


def words_of(text: str) -> tuple[Word, ...]:
    """Return the words of a text in order."""
    return tuple(_word(match) for match in _WORD.finditer(text))


def _word(match: re.Match[str]) -> Word:
    ending = _POSSESSIVE.search(match[0])
    if ending and ending.start() > 0:
        return Word(match[0][: ending.start()], match.start(), match.start() + ending.start(), True)
    return Word(match[0], match.start(), match.end(), False)


def is_shouted(words: Sequence[Word]) -> bool:
    """Tell whether a text is written in capitals, so that they mean nothing."""
    long = [word for word in words if len(word.text) > 3]
    return len(long) > 2 and sum(word.upper for word in long) > 0.7 * len(long)


def is_titled(words: Sequence[Word]) -> bool:
    """Tell whether nearly every longer word has a capital, as in a heading, so that they mean nothing."""
    long = [word for word in words if len(word.text) > 3]
    return len(long) > 3 and sum(word.capital or word.upper for word in long) > 0.8 * len(long)
