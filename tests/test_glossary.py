"""Abbreviations are read as the site and the visible guidelines say, and never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.abbreviations import defined_in
from retrieval.errors import SettingError
from retrieval.found import Reading
from retrieval.glossary import Entry, Glossary, key

SITE_LIST = """\
# what staff write: what the guidelines say
hypo: hypoglycaemia, low blood glucose
NO: nitric oxide
IT: intrathecal
T2DM: type 2 diabetes
MS:
  - multiple sclerosis
  - mitral stenosis
  - morphine sulfate
low sats: low oxygen saturation
"""


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "glossary.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def glossary(tmp_path: Path) -> Glossary:
    return Glossary.from_file(written(tmp_path, SITE_LIST))


class TestReading:
    def test_a_short_form_is_expanded_in_place(self, glossary: Glossary) -> None:
        question = "What should I do about a hypo?"
        assert glossary.read(question) == Reading(
            question,
            "What should I do about a hypo (hypoglycaemia, low blood glucose)?",
            (("hypo", "hypoglycaemia, low blood glucose"),),
        )

    @pytest.mark.parametrize("word", ["hypo", "Hypo", "HYPO", "hypos"])
    def test_in_any_case_and_in_the_plural(self, glossary: Glossary, word: str) -> None:
        assert glossary.read(f"{word} at night").read_as == f"{word} (hypoglycaemia, low blood glucose) at night"

    @pytest.mark.parametrize("word", ["hypothermia", "hyponatraemia", "xhypo", "hypo2"])
    def test_but_only_as_a_whole_word(self, glossary: Glossary, word: str) -> None:
        assert glossary.read(word).expansions == ()

    def test_once_at_its_first_place(self, glossary: Glossary) -> None:
        assert glossary.read("hypo after hypo").read_as == "hypo (hypoglycaemia, low blood glucose) after hypo"

    def test_not_where_the_question_says_it_already(self, glossary: Glossary) -> None:
        for question in ("Low blood  glucose: a hypo?", "hypoglycaemia (hypo)", "Type 2 diabetes (T2DM)"):
            assert glossary.read(question) == Reading(question, question)

    @pytest.mark.parametrize("question", ["What is it?", "no, is it low?", "IS IT SAFE, YES OR NO, TODAY", "Is It?"])
    def test_an_english_word_is_not_taken_for_capitals_of_the_same_spelling(
        self, glossary: Glossary, question: str
    ) -> None:
        assert glossary.read(question) == Reading(question, question)

    def test_capitals_of_the_same_spelling_are_the_short_form(self, glossary: Glossary) -> None:
        assert glossary.read("Can vincristine go IT?").read_as == "Can vincristine go IT (intrathecal)?"

    @pytest.mark.parametrize(
        ("question", "read_as"),
        [
            ("500 mg b.d. for how long?", "500 mg b.d. (twice daily) for how long?"),
            ("Give it t.d.s.", "Give it t.d.s. (three times daily)"),
            ("BP/HR?", "BP (blood pressure)/HR (heart rate)?"),
            ("post-MI care", "post-MI (myocardial infarction, heart attack) care"),
            ("the GP's letter", "the GP (general practitioner)'s letter"),
            ("NSAIDs or nsaids", "NSAIDs (non-steroidal anti-inflammatory drug) or nsaids"),
            ("low sats in sats", "low sats (low oxygen saturation) in sats (oxygen saturation)"),
            ("U&E?", "U&E (urea and electrolytes)?"),
        ],
    )
    def test_as_people_write(self, glossary: Glossary, question: str, read_as: str) -> None:
        assert glossary.read(question).read_as == read_as

    def test_a_name_in_the_middle_of_a_sentence_is_not_a_short_form(self) -> None:
        assert Glossary().read("Shall I ask Cf or Bp?").expansions == ()
        assert Glossary().read("Bp 80/40. Gcs 9?").read_as == "Bp (blood pressure) 80/40. Gcs (Glasgow Coma Scale) 9?"

    def test_the_site_comes_before_guidelines_and_they_before_the_general_list(self, tmp_path: Path) -> None:
        path = written(tmp_path, "PE: physical education")
        definitions = {("PE", "pulmonary embolism"): 9, ("CAP", "capsule"): 2}
        read = Glossary.from_file(path).read("PE, CAP and BP", definitions)
        assert [long for _, long in read.expansions] == ["physical education", "capsule", "blood pressure"]


class TestSeveralMeanings:
    def test_are_never_guessed(self, glossary: Glossary) -> None:
        meanings = ("multiple sclerosis", "mitral stenosis", "morphine sulfate")
        assert glossary.read("Dose in MS?") == Reading("Dose in MS?", "Dose in MS?", (), (("MS", meanings),))

    def test_the_one_that_the_visible_guidelines_define_decides(self, glossary: Glossary) -> None:
        read = glossary.read("Dose in MS?", {("MS", "Mitral  stenosis"): 1})
        assert (read.read_as, read.ambiguous) == ("Dose in MS (mitral stenosis)?", ())

    def test_or_the_one_that_they_mention(self, glossary: Glossary) -> None:
        read = glossary.read("Dose in MS?", mentioned=lambda phrase: phrase == "morphine sulfate")
        assert (read.read_as, read.ambiguous) == ("Dose in MS (morphine sulfate)?", ())

    def test_two_of_them_there_decide_nothing(self, glossary: Glossary) -> None:
        read = glossary.read("MS?", mentioned=lambda phrase: phrase.startswith("m"))
        assert read.read_as == "MS?"
        assert read.ambiguous[0][0] == "MS"

    def test_a_meaning_that_only_the_guidelines_know_counts_too(self, glossary: Glossary) -> None:
        read = glossary.read("MS?", {("MS", "mental state"): 3}, lambda phrase: phrase == "mitral stenosis")
        assert read.expansions == ()
        assert read.ambiguous[0][1][-1] == "mental state"

    def test_a_definition_in_one_guideline_settles_nothing_while_others_speak_of_another_meaning(self) -> None:
        read = Glossary().read("Do an LP?", {("LP", "lichen planus"): 1}, lambda phrase: phrase == "lumbar puncture")
        assert read == Reading("Do an LP?", "Do an LP?", (), (("LP", ("lumbar puncture", "lichen planus")),))
        read = Glossary().read("TB?", {("TB", "total bilirubin"): 1}, lambda phrase: phrase == "tuberculosis")
        assert read.ambiguous == (("TB", ("tuberculosis", "total bilirubin")),)
        read = Glossary().read("Do an LP?", {("LP", "lichen planus"): 1})
        assert read.read_as == "Do an LP (lichen planus)?"

    def test_the_question_itself_decides(self, glossary: Glossary) -> None:
        for question in ("mitral stenosis (MS)", "MS in multiple sclerosis"):
            assert glossary.read(question) == Reading(question, question)

    def test_guidelines_that_disagree_decide_nothing(self) -> None:
        read = Glossary().read("AA?", {("AA", "alopecia areata"): 5, ("AA", "Alcoholics Anonymous"): 1})
        assert read == Reading("AA?", "AA?", (), (("AA", ("alopecia areata", "Alcoholics Anonymous")),))

    def test_spellings_and_plurals_of_one_meaning_are_one(self) -> None:
        definitions = {
            ("NSAIDs", "nonsteroidal anti-inflammatory drugs"): 3,
            ("NSAID", "Non-steroidal anti-inflammatory drug"): 1,
            ("DM", "diabetes mellitus"): 2,
            ("DM", "Type 2 diabetes mellitus"): 1,
        }
        read = Glossary().read("NSAID in DM", definitions)
        assert read.read_as == "NSAID (nonsteroidal anti-inflammatory drugs) in DM (diabetes mellitus)"


class TestSiteList:
    def test_yaml_does_not_turn_a_short_form_into_a_truth_value(self, glossary: Glossary) -> None:
        assert glossary.site["no"] == Entry("NO", ("nitric oxide",))

    def test_an_empty_file_is_an_empty_list(self, tmp_path: Path) -> None:
        assert Glossary.from_file(written(tmp_path, "# nothing yet\n")).site == {}

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("a: b\nhypo:\n", "line 2: hypo needs a meaning"),
            ("a: b\nhypo: []\n", "line 2: hypo needs a meaning"),
            ("hypo: [low, [x]]\n", "line 1: hypo needs a meaning"),
            ("hypo: {long: low}\n", "line 1: hypo needs a meaning"),
            ('hypo: ","\n', "line 1: hypo needs a meaning"),
            ("- hypo\n", "line 1"),
            ("hypo\n", "line 1"),
            ("hypo: low\nx: y\nHypo: lower\n", "line 3: Hypo is there already, in line 1"),
            ("a: b\nhypo: 'low\n", "line"),
            ("a: b\n\t- c\n", "line 2"),
            ("one two three four: x\n", "line 1: the short form"),
            (b"hypo: hypoglyc\xe4mie\n", "UTF-8"),
        ],
    )
    def test_a_fault_is_named_with_its_line(self, tmp_path: Path, text: str | bytes, says: str) -> None:
        path = written(tmp_path, text)
        with pytest.raises(SettingError) as refusal:
            Glossary.from_file(path)
        assert says in str(refusal.value)
        assert str(path) in str(refusal.value)
        assert str(refusal.value).startswith("guidelines.glossary: ")

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(SettingError, match="cannot be read"):
            Glossary.from_file(tmp_path / "none.yaml")


class TestDefinitions:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Chronic kidney disease (CKD) is common.", ("CKD", "Chronic kidney disease")),
            ("Offer CBT (cognitive behavioural therapy).", ("CBT", "cognitive behavioural therapy")),
            ("A hypo (hypoglycaemia) is an emergency", ("hypo", "hypoglycaemia")),
            ("Give a proton pump inhibitor (PPI)", ("PPI", "proton pump inhibitor")),
            ("**Low molecular weight heparin** (*LMWH*)", ("LMWH", "Low molecular weight heparin")),
            ("ACE inhibitors: angiotensin-converting enzyme (ACE)", ("ACE", "angiotensin-converting enzyme")),
            ("tricyclic\nantidepressants (TCAs)", ("TCAs", "tricyclic antidepressants")),
            ("Syndrome of inappropriate antidiuretic hormone (SIADH; see 4)",
             ("SIADH", "Syndrome of inappropriate antidiuretic hormone")),
            ("the Asthma and Sleep Outpatient Clinic (ASOC)", ("ASOC", "Asthma and Sleep Outpatient Clinic")),
            ("Ribonuclease P (RNase P)", ("RNase P", "Ribonuclease P")),
            ("Glomerular filtration rate (eGFR)? No: estimated glomerular filtration rate (eGFR)",
             ("eGFR", "estimated glomerular filtration rate")),
        ],
    )  # fmt: skip
    def test_are_found(self, text: str, expected: tuple[str, str]) -> None:
        assert expected in defined_in(text)

    @pytest.mark.parametrize(
        "text",
        [
            "a new helper (assistant) on the ward",
            "in good hands (and gloves)",
            "a plot of the response as log(RT)",
            "swelling, edema (e-DE-mah), of the legs",
            "Grade two (II) injuries",
            "Take one tablet (see below)",
            "e.g. (enough) i.e. (involvement)",
            "Give 5 mg (0.5 mL)",
            "the forehead (face)",
            "",
            "()",
            "(((((",
        ],
    )
    def test_are_not_invented(self, text: str) -> None:
        assert defined_in(text) == []

    def test_more_than_one_in_a_text(self) -> None:
        text = "Total bilirubin (TB) and alkaline phosphatase (ALP); acute kidney injury (AKI)."
        assert [short for short, _ in defined_in(text)] == ["TB", "ALP", "AKI"]

    @given(st.text(alphabet="abcAB ()[].,;-\n'1é", max_size=200))
    def test_letters_of_the_short_form_stand_in_the_long_form_in_order(self, text: str) -> None:
        for short, long in defined_in(text):
            rest = iter(long.casefold())
            assert all(letter in rest for letter in short.casefold() if letter.isalnum() and short[-1:] != "s")


@given(st.text(max_size=80))
def test_reading_only_ever_adds_brackets(question: str) -> None:
    read = Glossary().read(question, {("AB", "alpha beta"): 1})
    shortened = read.read_as
    for _, long in read.expansions:
        shortened = shortened.replace(f" ({long})", "", 1)
    assert shortened == question


def test_keys_ignore_case_dots_and_a_plural() -> None:
    assert key("B.D.") == key("bd") == "bd"
    assert key("SSRIs") == key("SSRI") == "ssri"
    assert key("AIDS") == "aids"
    assert key("bds") == "bds"
