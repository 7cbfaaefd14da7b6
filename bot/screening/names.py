"""Names of people in a text (pure).

A name is never proved. Each rule is one way in which people write about a person: a title, a cue ("patient",
"called"), a given name beside a surname, initials beside a date of birth, a sign-off. Eponyms, drugs and units are
no names, and a name that is also a word needs a stronger cue than one that is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from bot.screening import cues, vocabulary
from bot.screening.finding import Finding
from bot.screening.words import PARTICLES, Word, is_shouted, is_titled, words_of

KIND = "name"


def find_names(text: str, allowed: Collection[str] = ()) -> Iterator[Finding]:
    """Yield each name of a person; they may overlap.

    Args:
        text: with mentions blanked.
        allowed: colleagues' names, in any case; whole or in part they are no details.
    """
    colleagues = {vocabulary.folded(part) for name in allowed for part in re.split(r"[\s._\-]+", name) if part}
    for start, end in _Reading(text).spans():
        parts = re.findall(r"[^\W\d_]+", text[start:end])
        if not all(vocabulary.folded(part) in colleagues for part in parts):
            yield Finding(start, end, KIND)


class _Reading:
    """One text being read for names."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: Sequence[Word] = words_of(text)
        self.starts = {word.start: place for place, word in enumerate(self.words)}
        # Where capitals mean nothing, a text is read as if it had none.
        self.plain = is_shouted(self.words)
        self.titled = is_titled(self.words)

    def spans(self) -> Iterator[tuple[int, int]]:
        for place, word in enumerate(self.words):
            yield from self._after_title(place, word)
            yield from self._after_person(place, word)
            yield from self._pair(place, word)
            yield from self._alone(place, word)
            yield from self._with_initial(place, word)
            yield from self._surname_first(place, word)
        yield from self._after_phrases()
        for match in cues.INITIALS.finditer(self.text):
            group = "first" if match["first"] else "second"
            if match[group].strip() not in cues.NO_INITIALS:
                yield match.span(group)
        yield from self._in_other_scripts()

    # --- what stands where

    def _joined(self, place: int) -> bool:
        """Tell whether the word after `place` follows it with nothing but a gap."""
        if place + 1 >= len(self.words) or self.words[place].possessive:
            return False
        between = self.text[self.words[place].end : self.words[place + 1].start]
        return (
            re.fullmatch(r"\.? {1,3}|\.", between) is not None
            if self.words[place].initial
            else between.strip(" ") == "" and 0 < len(between) < 5
        )

    def _written(self, word: Word) -> bool:
        """Tell whether a word is written as a name is, in so far as the text tells."""
        return word.capital or (word.upper and len(word.text) > 2 and word.only_name)

    def _clinical(self, end: int) -> bool:
        return cues.CLINICAL_NEXT.match(self.text, end) is not None

    def _extended(self, place: int, *, cased: bool) -> int:
        """Return the place of the last word of the name that begins at `place`."""
        last = place
        while self._joined(last) and last - place < 4:
            word = self.words[last + 1]
            if word.lower in PARTICLES and self._joined(last + 1) and (not cased or self.words[last + 2].capital):
                ahead = self.words[last + 2]
                if not ahead.function and (ahead.listed or not ahead.known):
                    last += 2
                    continue
                if ahead.lower in PARTICLES:
                    last += 1
                    continue
                break
            if cased:
                fits = word.initial or (
                    (word.capital or (word.upper and word.listed))
                    and not word.function
                    and (word.listed or not word.known)
                )
            else:
                fits = (
                    not word.function
                    and len(word.text) > 1
                    and (word.only_name or (word.listed and last == place) or (word.strange and word.text.islower()))
                )
            if not fits:
                break
            last += 1
        # An initial at the end belongs to it only with its dot.
        return last

    def _span(self, place: int, *, cased: bool) -> tuple[int, int]:
        return self.words[place].start, self.words[self._extended(place, cased=cased)].end

    # --- the ways of writing about a person

    def _after_title(self, place: int, title: Word) -> Iterator[tuple[int, int]]:
        if title.lower not in cues.TITLES or place + 1 >= len(self.words) or title.possessive:
            return
        name = self.words[place + 1]
        between = self.text[title.end : name.start]
        if not re.fullmatch(r"\.?\s{0,3}|\s?/\s?", between) or not between:
            return
        if title.lower == "ms" and (title.upper or re.search(r"\d\s?$", self.text[: title.start][-4:])):
            return
        if name.function or len(name.text) < 2:
            if name.initial and self._joined(place + 1) and not self.words[place + 2].function:
                yield self._span(place + 1, cased=True)
            return
        any_case = title.lower in cues.TITLES_ANY_CASE
        if name.capital or (name.upper and not self.plain and name.listed):
            if (name.listed or not name.known or (any_case and title.lower not in ("dr", "sr"))) and not (
                name.eponym and self._clinical(name.end)
            ):
                yield self._span(place + 1, cased=True)
        elif any_case and (name.listed or name.strange) and not (name.eponym and self._clinical(name.end)):
            if not (title.lower in ("ms", "sr", "dr") and name.known):
                yield self._span(place + 1, cased=False)
        elif name.only_given and title.text.islower():
            yield self._span(place + 1, cased=False)

    def _after_person(self, place: int, cue: Word) -> Iterator[tuple[int, int]]:
        if cue.lower not in cues.PEOPLE or cue.possessive or place + 1 >= len(self.words):
            return
        name = self.words[place + 1]
        between = self.text[cue.end : name.start]
        if (
            not re.fullmatch(r"\.?[\s:,#(\"'\-]{1,4}", between)
            or name.function
            or len(name.text) < 2
            or "\n\n" in between
        ):
            return
        sure = cue.lower in cues.PATIENTS
        direct = "," not in between
        if (name.capital or (name.upper and name.listed and len(name.text) > 2)) and not self.plain and not self.titled:
            last = self._extended(place + 1, cased=True)
            end = self.words[last].end
            by_itself = last == place + 1 and not cues.ABOUT.match(self.text, end)
            if name.eponym and (self._clinical(end) or not name.given) and by_itself:
                return
            if name.only_name or (name.strange and (last > place + 1 or sure or cues.ABOUT.match(self.text, end))):
                if not self._clinical(end) or name.only_given:
                    yield name.start, end
            elif name.listed and (last > place + 1 or (direct and cues.ABOUT.match(self.text, end))):
                yield name.start, end
            return
        if name.upper and not self.plain:
            return
        last = self._extended(place + 1, cased=False)
        end = self.words[last].end
        about = cues.ABOUT.match(self.text, end) is not None
        if self._clinical(end):
            return
        if (
            (name.only_given and (sure or last > place + 1 or about))
            or (name.only_name and sure and (last > place + 1 or about))
            or (name.given and not name.eponym and last > place + 1 and self.words[last].only_name)
            or (
                sure
                and name.strange
                and last > place + 1
                and (self.words[last].only_name or cues.AGE_NEXT.match(self.text, end))
            )
            or (sure and name.strange and cues.AGE_NEXT.match(self.text, end))
        ):
            yield name.start, end

    def _pair(self, place: int, first: Word) -> Iterator[tuple[int, int]]:
        """A given name and a surname side by side, in either order."""
        if not self._joined(place) or first.function or first.lower in PARTICLES:
            return
        middle = place + 1
        if self.words[middle].initial and self._joined(middle):
            middle += 1
        last = self._extended(place, cased=True) if first.capital or first.upper else place
        if first.capital and self.words[place + 1].lower in PARTICLES and last > place + 1:
            middle = last
        second = self.words[middle]
        if second.function:
            return
        cased = self._written(first) and (self._written(second) or (second.upper and second.listed)) and not self.plain
        if cased and self.titled and not (first.only_given and second.only_name):
            return
        if cased:
            yield from self._cased_pair(place, middle, max(last, middle))
        elif (not first.upper and not first.capital and not second.capital) or self.plain:
            yield from self._lower_pair(place, middle)
        elif first.only_given and second.only_name and not self._clinical(second.end):
            yield first.start, second.end

    def _cased_pair(self, place: int, middle: int, last: int) -> Iterator[tuple[int, int]]:
        first, second = self.words[place], self.words[middle]
        end = self.words[last].end
        about = cues.ABOUT.match(self.text, end) is not None
        if (first.eponym or second.eponym) and cues.CLINICAL_AFTER.match(self.text, end) and not about:
            return
        if self._clinical(end) and not (first.only_given and second.only_name):
            return
        named = (first.given and (second.listed or second.strange)) or (first.surname and second.given)
        named = named or (first.strange and second.only_name) or (first.only_name and second.strange)
        plainly = first.only_name or second.only_name
        if first.eponym and second.eponym:
            plainly = first.given
        if (named and (plainly or about or self._led(place)) and not (first.known and second.known and not about)) or (
            first.strange and second.strange and (about or self._led(place))
        ):
            yield first.start, end

    def _led(self, place: int) -> bool:
        return (
            place > 0
            and self.words[place - 1].lower in cues.LEADS
            and self.text[self.words[place - 1].end : self.words[place].start].isspace()
        )

    def _lower_pair(self, place: int, middle: int) -> Iterator[tuple[int, int]]:
        first, second = self.words[place], self.words[middle]
        end = second.end
        if self._clinical(end) or len(first.text) < 3 or len(second.text) < 2:
            return
        about = cues.ABOUT.match(self.text, end) is not None
        if first.only_given and second.surname and (second.only_name or about or second.eponym):
            yield first.start, self.words[self._extended(place, cased=False)].end
        elif (
            first.given and not first.eponym and second.only_name and second.surname and (about or self._led(place))
        ) or (first.only_given and second.surname and self._led(place)):
            yield first.start, end

    def _alone(self, place: int, word: Word) -> Iterator[tuple[int, int]]:
        """One name by itself."""
        if word.function or len(word.text) < 3 or self._clinical(word.end):
            return
        about = cues.ABOUT.match(self.text, word.end) is not None
        if word.capital and not self.plain:
            if word.only_given and not self.titled and not self._in_a_term(place):
                yield word.start, word.end
            elif self.titled or self._in_a_term(place):
                return
            elif (
                (word.given and not word.known and about)
                or (word.only_name and (about or self._led(place) or word.possessive))
                or (word.strange and cues.AGE_NEXT.match(self.text, word.end) and (place == 0 or self._led(place)))
                or (
                    word.given
                    and not word.eponym
                    and cues.AGE_NEXT.match(self.text, word.end)
                    and (place == 0 or self._led(place))
                )
            ):
                yield word.start, word.end
        elif not word.capital and word.only_given and (about or self._led(place)) and not self._in_a_term(place):
            near = place == 0 or self._led(place) or self.words[place - 1].function
            strong = cues.AGE_NEXT.match(self.text, word.end) is not None or about
            if near and strong and (not word.upper or self.plain or len(word.text) > 3):
                yield word.start, word.end

    def _in_a_term(self, place: int) -> bool:
        """Tell whether a capitalised word stands in a term: "St John's wort", "Florence Nightingale Hospital"."""
        word = self.words[place]
        if place and self.words[place - 1].lower in (
            "st",
            "saint",
            "santa",
            "san",
            "port",
            "fort",
            "mount",
            "lake",
            "new",
        ):
            return True
        return (
            re.match(
                r"(?:\s+[A-Z][\w'\-]+){0,3}\s+(?:Hospital|University|Clinic|Cent(?:re|er)|Foundation|Institute|Trust|College)\b",
                self.text[word.end :][:80],
            )
            is not None
        )

    def _with_initial(self, place: int, initial: Word) -> Iterator[tuple[int, int]]:
        """An initial and a surname: "J. Smith", "J A Smith"."""
        if not initial.initial or not self._joined(place) or self.plain or self.titled:
            return
        if place and (self.words[place - 1].lower in cues.BEFORE_LETTER or self.words[place - 1].initial):
            return
        last = place + 1
        while self.words[last].initial and self._joined(last):
            last += 1
        surname = self.words[last]
        dotted = self.text[initial.end : initial.end + 1] == "."
        if not (surname.capital and surname.surname) or self._clinical(surname.end):
            return
        if surname.only_name or (dotted and (not surname.known or cues.ABOUT.match(self.text, surname.end))):
            yield initial.start, self.words[self._extended(last, cased=True)].end

    def _surname_first(self, place: int, surname: Word) -> Iterator[tuple[int, int]]:
        """A surname, a comma and a given name: "SMITH, John", "Okafor, Chidi B."."""
        if place + 1 >= len(self.words) or surname.function or not (surname.capital or surname.upper):
            return
        given = self.words[place + 1]
        if not re.fullmatch(r",\s{0,2}", self.text[surname.end : given.start]) or not (given.capital or given.upper):
            return
        if (
            (
                given.given
                and not given.function
                and (given.only_given or surname.upper)
                and (surname.surname or surname.strange)
            )
            and not (surname.known and given.known)
            and not (surname.only_given and not surname.surname and not surname.upper)
        ):
            yield surname.start, self.words[self._extended(place + 1, cased=True)].end

    def _after_phrases(self) -> Iterator[tuple[int, int]]:
        for match in cues.STRONG.finditer(self.text):
            place = self.starts.get(match.end())
            if place is None or ((match["name"] or match["bare"]) and self._names_a_thing(match.start())):
                continue
            word = self.words[place]
            if word.function or (len(word.text) < 2 and not word.initial):
                continue
            plainly = word.only_given and word.capital
            if match["called"] and not plainly and not self._calls_a_person(match.start()):
                continue
            sure = bool(match["named"] or match["called"])
            cased = word.capital or word.initial
            if word.listed or not word.known or (cased and sure):
                if word.upper and not word.listed and not self.plain:
                    continue
                if not match["named"] and not word.listed and not word.capital and not match["called"]:
                    continue
                yield self._span(place, cased=cased)
        for match in cues.INTRODUCED.finditer(self.text):
            place = self.starts.get(match.end())
            if (
                place is not None
                and self.words[place].capital
                and self.words[place].given
                and not self.words[place].known
            ) and not self._clinical(self.words[place].end):
                yield self._span(place, cased=True)
        for match in cues.SIGN_OFF.finditer(self.text):
            place = self.starts.get(match.end())
            if place is None:
                continue
            last = self._extended(place, cased=True)
            if (
                last == len(self.words) - 1
                and all(word.listed or word.initial or word.strange for word in self.words[place : last + 1])
                and any(word.listed and not word.function for word in self.words[place : last + 1])
            ):
                yield self.words[place].start, self.words[last].end

    def _names_a_thing(self, start: int) -> bool:
        before = list(self._before(start, 2))
        return any(word.lower in cues.NO_PERSON_NAME for word in before)

    def _calls_a_person(self, start: int) -> bool:
        return any(
            word.lower in cues.PEOPLE
            or word.lower in ("he", "she", "they", "who", "old", "someone", "somebody", "year")
            for word in self._before(start, 3)
        )

    def _before(self, start: int, count: int) -> Sequence[Word]:
        before: list[Word] = []
        for word in re.finditer(r"[^\W\d_]+", self.text[max(0, start - 60) : start]):
            before.append(Word(word[0], word.start(), word.end(), False))
        return before[-count:]

    def _in_other_scripts(self) -> Iterator[tuple[int, int]]:
        """A name in its own script in a text in Latin letters."""
        latin = sum(len(word.text) for word in self.words if word.text[0] < "\u0370")
        for match in cues.FOREIGN.finditer(self.text):
            parts = re.split(r"[\s·・]", match[0])
            han = "\u3040" <= match[0][0] <= "\ud7af"
            if han:
                listed = any(vocabulary.is_surname(match[0][:size]) for size in (1, 2)) and 2 <= len(match[0]) <= 5
            else:
                listed = any(vocabulary.is_listed_name(part) for part in parts)
            if listed and (latin > len(match[0]) or han or len(parts) > 1):
                yield match.span()
