"""The library: one way in, only what may be seen, and never half a swap."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.access import OPERATOR, Viewer, may_see
from retrieval.embedding import HashEmbedder
from retrieval.errors import IndexMismatch, IndexMissing
from retrieval.found import Filters, Found
from retrieval.generations import Generations
from retrieval.glossary import Glossary
from retrieval.indexing import Folder, IndexOptions, build
from retrieval.library import Library, SearchOptions
from tests.doubles_indexing import NOW, clinic, guideline, write

CORPUS = Path(__file__).parent.parent / "corpus" / "guidelines"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the clinic's four guidelines, only read by the tests."""
    root = tmp_path_factory.mktemp("library")
    build([Folder(clinic(root / "g"))], root / "data", HashEmbedder(), now=NOW)
    return root / "data"


@pytest.fixture(scope="module")
def library(data: Path) -> Library:
    return Library.open(data, HashEmbedder(), today=NOW.date)


def test_without_an_index_there_is_no_library(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing):
        Library.open(tmp_path, HashEmbedder())


def test_an_index_made_with_another_embedder_is_refused(data: Path) -> None:
    class Other(HashEmbedder):
        identity = "other"

    with pytest.raises(IndexMismatch, match="other"):
        Library.open(data, Other())


def test_the_nearest_section_comes_first_with_its_path_and_scores(library: Library) -> None:
    found = library.search("how is salbutamol given by spacer")
    assert found.verdict.passed
    first = found.sources[0]
    assert (first.tag, first.passage.trail) == ("S1", "Asthma › Salbutamol")
    assert first.passage.lines == (5, 5)
    assert first.kept
    assert {"embed", "search", "rerank", "gate"} <= set(found.timings_ms)
    assert found.generation == library.generation


def test_every_candidate_is_ranked_and_the_limit_cuts_the_end(library: Library) -> None:
    assert len(library.search("what is given").sources) == 6
    assert len(library.search("what is given", limit=2).sources) == 2


def test_a_filter_restricts_before_anything_is_ranked(library: Library) -> None:
    by_guideline = library.search("salbutamol", filters=Filters(guideline="PAIN"))
    assert {source.passage.guideline for source in by_guideline.sources} == {"wards/pain.md"}
    by_section = library.search("salbutamol", filters=Filters(section="lactate"))
    assert [source.passage.path for source in by_section.sources] == [("Lactate",)]
    none = library.search("salbutamol", filters=Filters(guideline="nothing"))
    assert (none.sources, none.verdict.kind) == ((), "filtered_out")
    assert "nothing" in none.verdict.reason


def test_hidden_passages_make_room_for_others(library: Library) -> None:
    found = library.search("salbutamol", hides=lambda passage: passage.guideline == "asthma.md", limit=50)
    assert len(found.sources) == 4
    assert "asthma.md" not in {source.passage.guideline for source in found.sources}


@pytest.mark.parametrize(
    "question", ["", "   ", "🙂🙂", "?!…", "x" * 4_000, "salbutamol " * 2_000, "\x00\ud800", "العربية"]
)
def test_no_question_breaks_the_search(library: Library, question: str) -> None:
    found = library.search(question)
    assert len(found.sources) == 6
    assert found.reading.question == question


def test_abbreviations_of_the_site_are_read(data: Path, tmp_path: Path) -> None:
    file = write(tmp_path, "glossary.yaml", "ventolin: salbutamol\n")
    site = Library.open(data, HashEmbedder(), SearchOptions(glossary=Glossary.from_file(file)))
    found = site.search("is ventolin given by spacer")
    assert "salbutamol" in found.reading.read_as
    assert found.sources[0].passage.path == ("Salbutamol",)


def test_the_gate_takes_the_embedders_threshold_unless_the_site_has_its_own(data: Path, library: Library) -> None:
    assert library.search("salbutamol").verdict.min_score == HashEmbedder.min_score
    strict = Library.open(data, HashEmbedder(), SearchOptions(min_score=2.5))
    verdict = strict.search("salbutamol").verdict
    assert (verdict.passed, verdict.min_score) == (False, 2.5)


def test_a_passage_is_found_by_its_id(library: Library) -> None:
    passage = library.search("salbutamol").sources[0].passage
    assert library.passage(passage.id) == passage
    assert library.passage("0" * 32) is None


def test_guidelines_are_listed_with_what_is_known_of_them(tmp_path: Path) -> None:
    folder = clinic(tmp_path / "g")
    write(folder, "old.md", guideline("Old", "Old is given.", status="retired", version="1"))
    write(folder, "late.md", guideline("Late", "Late is given.", review_by="2020-01-01"))
    write(folder, "bad.md", "")
    build([Folder(folder)], tmp_path / "data", HashEmbedder(), now=NOW)
    entries = {entry.name: entry for entry in Library.open(tmp_path / "data", HashEmbedder()).guidelines()}
    assert len(entries) == 7
    old = entries["old.md"]
    assert (old.served, old.reason, old.version) == (False, "It is retired.", "1")
    assert (entries["late.md"].served, entries["late.md"].review) == (True, "past")
    assert (entries["bad.md"].served, len(entries["bad.md"].problems)) == (False, 1)
    assert (entries["asthma.md"].passages, entries["asthma.md"].coverage.headings) == (2, 2)


def test_a_new_generation_is_picked_up_by_the_next_search(tmp_path: Path) -> None:
    folder, data = clinic(tmp_path / "g"), tmp_path / "data"
    build([Folder(folder)], data, HashEmbedder(), IndexOptions(keep_generations=1), now=NOW)
    library = Library.open(data, HashEmbedder())
    assert not library.refresh()
    write(folder, "new.md", guideline("New", "Ketamine is given slowly."))
    summary = build([Folder(folder)], data, HashEmbedder(), IndexOptions(keep_generations=1), now=NOW)
    found = library.search("ketamine")
    assert (found.generation, found.sources[0].passage.guideline) == (summary.generation, "new.md")
    assert library.generation == summary.generation


def test_a_generation_that_cannot_be_opened_leaves_the_last_one_answering(tmp_path: Path) -> None:
    data = tmp_path / "data"
    good = build([Folder(clinic(tmp_path / "g"))], data, HashEmbedder(), now=NOW).generation
    library = Library.open(data, HashEmbedder())
    write(data, "generations/000009-broken/manifest.json", "{}")
    Generations(data).activate("000009-broken")
    found = library.search("salbutamol")
    assert (found.generation, len(found.sources)) == (good, 6)


def test_searches_go_on_while_generations_are_swapped_and_removed(tmp_path: Path) -> None:
    folder, data = clinic(tmp_path / "g"), tmp_path / "data"
    options = IndexOptions(keep_generations=1)
    write(folder, "a.md", guideline("Version 0", "Heparin is 0 units."))
    build([Folder(folder)], data, HashEmbedder(), options, now=NOW)
    library = Library.open(data, HashEmbedder())
    stop, faults, seen = threading.Event(), [], set()

    def ask() -> None:
        while not stop.is_set():
            try:
                found = library.search("how many units of heparin", limit=50)
                texts = [s.passage.text for s in found.sources if "Heparin" in s.passage.text]
                titles = {s.passage.title for s in found.sources if s.passage.title.startswith("Version")}
                # One generation at a time: the title and the text are of the same version.
                if len(texts) != 1 or titles != {f"Version {texts[0].split()[2]}"}:
                    faults.append((texts, titles))
                seen.add(texts[0])
            except Exception as error:
                faults.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(1, 5):
        write(folder, "a.md", guideline(f"Version {number}", f"Heparin is {number} units."))
        build([Folder(folder)], data, HashEmbedder(), options, now=NOW)
    stop.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert library.search("units of heparin").sources[0].passage.text == "Heparin is 4 units."
    assert len(seen) > 1


# --- access -----------------------------------------------------------------------------------------------------

LABELS = ("team:a", "team:b", "person:x")
audiences = st.sampled_from(((), ("everyone",), ("team:a",), ("team:B",), ("team:a", "person:x")))
subjects = ("asthma", "sepsis", "glucose", "pain")
documents = st.lists(
    st.tuples(
        st.sampled_from(subjects),
        st.sampled_from(("oxygen saturation (OS)", "salbutamol puffs", "insulin units", "overdose service (OS)")),
        audiences,
        st.sampled_from(("", "n0.md", "n1.md", "Sepsis 0")),
    ),
    min_size=1,
    max_size=4,
)
viewers = st.lists(st.lists(st.sampled_from(LABELS), max_size=2), max_size=2).map(Viewer.of)


def seen_by(folder: Path, data: Path, viewer: Viewer, deny: bool) -> object:
    """Return all that a viewer can learn, without what differs from build to build."""
    library = Library.open(data, HashEmbedder(), SearchOptions(deny_by_default=deny), today=NOW.date)
    try:
        told: list[object] = [
            [(e.name, e.metadata, e.served, e.reason, e.passages, e.problems) for e in library.guidelines(viewer)]
        ]
        for question in ("what of OS in sepsis", "salbutamol", "insulin units for glucose", ""):
            found: Found = library.search(question, viewer=viewer, limit=50)
            told.append((found.reading, found.sources, found.verdict))
            told += [library.passage(source.passage.id, viewer) for source in found.sources]
        found = library.search("sepsis", viewer=viewer, filters=Filters(guideline="sepsis"))
        told.append((found.sources, found.verdict))
        return told
    finally:
        library.close()


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents, viewers, st.booleans())
def test_nothing_of_a_hidden_guideline_changes_anything_for_its_viewer(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[str, str, tuple[str, ...], str]],
    viewer: Viewer,
    deny: bool,
) -> None:
    root = tmp_path_factory.mktemp("access")
    for number, (subject, words, audience, supersedes) in enumerate(texts):
        front = {"audience": ", ".join(audience), "supersedes": supersedes}
        said = {key: value for key, value in front.items() if value}
        text = guideline(
            f"{subject.title()} {number}", f"Give {words} in {subject}.", "More is said of it here.", **said
        )
        write(root / "all", f"n{number}.md", text)
        if may_see(audience, viewer, deny_by_default=deny):
            write(root / "visible", f"n{number}.md", text)
    write(root / "visible", "z.md", guideline("Other", "Other.", status="draft"))  # so that it is never empty
    write(root / "all", "z.md", guideline("Other", "Other.", status="draft"))
    build([Folder(root / "all")], root / "data", HashEmbedder(), now=NOW)
    build([Folder(root / "visible")], root / "less", HashEmbedder(), now=NOW)
    assert seen_by(root / "all", root / "data", viewer, deny) == seen_by(root / "visible", root / "less", viewer, deny)


def test_a_version_for_some_hides_the_old_one_from_them_alone(tmp_path: Path) -> None:
    folder, data = clinic(tmp_path / "g"), tmp_path / "data"
    new = guideline("Sepsis for the ICU", "Antibiotics are given at once.", supersedes="sepsis.md", audience="team:icu")
    write(folder, "icu.md", new)
    build([Folder(folder)], data, HashEmbedder(), now=NOW)
    library = Library.open(data, HashEmbedder())

    def found(viewer: Viewer) -> set[str]:
        sources = library.search("antibiotics in sepsis", viewer=viewer, limit=50).sources
        return {source.passage.guideline for source in sources} & {"sepsis.md", "icu.md"}

    assert found(Viewer.of([["team:icu"]])) == {"icu.md"}
    assert found(Viewer.of([["team:ward"]])) == {"sepsis.md"}
    assert found(OPERATOR) == {"icu.md"}


def test_who_only_answers_does_not_load_the_loaders() -> None:
    program = (
        "import sys, retrieval.library\n"
        "print([name for name in sys.modules if name == 'chromadb' or name.startswith('retrieval.documents')])"
    )
    answer = subprocess.run([sys.executable, "-c", program], cwd=CORPUS.parent.parent, capture_output=True, check=True)
    assert answer.stdout == b"[]\n"


# --- the sample corpus ------------------------------------------------------------------------------------------


def test_the_sample_triage_manual_has_13_passages_and_the_panic_question_finds_its_section(tmp_path: Path) -> None:
    folder = tmp_path / "g"
    write(folder, "triage.md", (CORPUS / "behavioural-health-triage.md").read_text(encoding="utf-8"))
    assert build([Folder(folder)], tmp_path / "data", HashEmbedder(), now=NOW).passages == 13
    found = Library.open(tmp_path / "data", HashEmbedder()).search("How do I assess a panic episode?")
    assert found.sources[0].passage.path[:2] == ("Anxiety", "Panic Episodes")
