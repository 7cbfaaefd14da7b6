"""A generation is written once, verified and then only read; what may not be seen is as if it were not there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.abbreviations import defined_in
from retrieval.embedding import HashEmbedder, Matrix, Vector
from retrieval.errors import IndexMismatch
from retrieval.found import Filters
from retrieval.guideline import Block, Coverage, Guideline, Metadata, Passage, Problem, Section
from retrieval.records import dump_guideline, dump_passage, load_guideline, load_passage
from retrieval.store import Embedded, Generation, GenerationWriter, audience_of, read_manifest
from retrieval.vectors import VectorFile, VectorWriter
from retrieval.window_search import WindowSearch

EMBEDDER = HashEmbedder()


def guideline(name: str, title: str = "", audience: Sequence[str] = ()) -> Guideline:
    metadata = Metadata(title=title or name, audience=tuple(audience))
    return Guideline(name, "0" * 64, "markdown", metadata, Section(metadata.title))


def passage(of: Guideline, ordinal: int, path: Sequence[str], text: str) -> Passage:
    block = Block("paragraph", text, lines=(ordinal * 10 + 1, ordinal * 10 + 3))
    return Passage(
        f"{of.name}#{ordinal}",
        of.name,
        of.metadata,
        tuple(path),
        ordinal,
        (block,),
        text,
        block.lines,
        sha256=of.sha256,
    )


def embedded(item: Passage) -> Embedded:
    sentences = [part for part in item.text.split(". ") if part]
    return Embedded(item, EMBEDDER.encode_passages([item.text]), EMBEDDER.encode_passages(sentences))


def write(directory: Path, guidelines: Iterable[tuple[Guideline, Sequence[Passage]]], **notes: object) -> Path:
    writer = GenerationWriter(
        directory, EMBEDDER.identity, EMBEDDER.dimension, definitions_of=lambda item: defined_in(item.text)
    )
    for item, passages in guidelines:
        writer.add_guideline(item)
        writer.add([embedded(each) for each in passages])
    writer.finish(notes)
    return directory


DIABETES = guideline("protocols/diabetes.md", "Diabetes Protocol")
TRIAGE = guideline("triage.md", "Behavioural Health Triage", ("team:Nurses",))
PASSAGES = {
    DIABETES.name: [
        passage(DIABETES, 0, ("Kidney function",), "Metformin should not be started if eGFR is below 45."),
        passage(DIABETES, 1, ("Low blood glucose",), "Treat a low glucose with 15 g of carbohydrate. Recheck it."),
    ],
    TRIAGE.name: [
        passage(TRIAGE, 0, ("Anxiety", "Panic Episodes"), "Slow the breathing. A panic attack (PA) passes by itself."),
        passage(TRIAGE, 1, ("Anxiety", "Panic Episodes", "Assessment"), "Ask about chest pain and palpitations."),
        passage(TRIAGE, 2, ("Low mood",), "Ask about sleep and appetite."),
    ],
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("index") / "generation-1"
    return write(target, [(DIABETES, PASSAGES[DIABETES.name]), (TRIAGE, PASSAGES[TRIAGE.name])], made_by="a test")


@pytest.fixture
def generation(directory: Path) -> Iterable[Generation]:
    with Generation.open(directory, EMBEDDER.identity) as opened:
        yield opened


def copied(directory: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(directory, tmp_path / "copy"))


def nurses(audience: tuple[str, ...]) -> bool:
    return not audience or "team:nurses" in audience


def public(audience: tuple[str, ...]) -> bool:
    return not audience


class TestReading:
    def test_the_nearest_passage_comes_first_and_is_what_was_written(self, generation: Generation) -> None:
        hits = generation.nearest(EMBEDDER.encode_question("carbohydrate for a low glucose"), 3)
        assert generation.passages([hits[0].number]) == [PASSAGES[DIABETES.name][1]]
        assert [hit.cosine for hit in hits] == sorted((hit.cosine for hit in hits), reverse=True)

    def test_a_passage_is_found_by_its_id(self, generation: Generation) -> None:
        assert generation.passage("triage.md#2") == PASSAGES[TRIAGE.name][2]
        assert generation.passage("no such id") is None

    def test_unit_vectors_are_those_that_were_added(self, generation: Generation) -> None:
        expected = EMBEDDER.encode_passages(["Treat a low glucose with 15 g of carbohydrate", "Recheck it."])
        assert np.array_equal(generation.unit_vectors(1), expected)

    def test_embedded_passages_can_be_carried_over_unchanged(self, generation: Generation, tmp_path: Path) -> None:
        carried = generation.embedded(TRIAGE.name)
        assert [item.passage for item in carried] == PASSAGES[TRIAGE.name]
        writer = GenerationWriter(tmp_path / "next", EMBEDDER.identity, EMBEDDER.dimension)
        writer.add_guideline(generation.guidelines()[1].guideline)
        writer.add(carried)
        writer.finish()
        with Generation.open(tmp_path / "next", EMBEDDER.identity) as following:
            assert following.passages(range(3)) == PASSAGES[TRIAGE.name]
            assert np.array_equal(following.window_vectors(2), generation.window_vectors(4))

    def test_the_notes_of_the_index_run_come_back(self, directory: Path) -> None:
        manifest = read_manifest(directory)
        assert (manifest.notes, manifest.passages, manifest.name) == ({"made_by": "a test"}, 5, "generation-1")

    def test_a_closed_generation_says_so(self, directory: Path) -> None:
        opened = Generation.open(directory, EMBEDDER.identity)
        opened.close()
        opened.close()
        with pytest.raises(ValueError, match="closed"):
            opened.passages([0])


class TestVisibility:
    question = EMBEDDER.encode_question("panic attack breathing")

    def test_what_may_not_be_seen_is_never_found(self, generation: Generation) -> None:
        found = generation.passages(hit.number for hit in generation.nearest(self.question, 10, public))
        assert {item.guideline for item in found} == {DIABETES.name}
        assert len(generation.nearest(self.question, 10, nurses)) == 5
        assert generation.nearest(self.question, 10, lambda audience: False) == []

    def test_nor_by_a_filter_an_id_or_a_list(self, generation: Generation) -> None:
        assert generation.nearest(self.question, 10, public, Filters(guideline="triage")) == []
        assert generation.passage("triage.md#0", public) is None
        assert generation.passage("triage.md#0", nurses) is not None
        assert [listed.guideline.name for listed in generation.guidelines(public)] == [DIABETES.name]

    def test_statistics_count_only_what_may_be_seen(self, generation: Generation) -> None:
        assert generation.statistics(public).documents == 2
        assert "panic" not in generation.statistics(public).frequency
        assert generation.statistics(nurses).frequency["panic"] == 2
        assert generation.statistics(nurses).documents == 5

    def test_abbreviations_and_mentions_come_from_what_may_be_seen(self, generation: Generation) -> None:
        assert generation.definitions(public) == {}
        assert generation.definitions(nurses) == {("PA", "panic attack"): 1}
        assert generation.mentions("Chest  Pain", nurses)
        assert not generation.mentions("chest pain", public)
        assert not generation.mentions("chest pai", nurses)
        assert not generation.mentions("pain chest", nurses)
        for odd in ("", '"', "zzz*", "-", "NEAR(chest pain)", "a AND b"):
            assert not generation.mentions(odd, nurses)

    def test_labels_are_compared_in_any_order_and_case(self) -> None:
        assert audience_of(("team:B", "Team:a", "team:b")) == ("team:a", "team:b")


class TestFilters:
    question = EMBEDDER.encode_question("glucose")

    def names(self, generation: Generation, filters: Filters) -> list[str]:
        return sorted(
            item.id
            for item in generation.passages(h.number for h in generation.nearest(self.question, 10, filters=filters))
        )

    def test_a_guideline_is_named_by_part_of_its_name_or_title_in_any_case(self, generation: Generation) -> None:
        both = ["protocols/diabetes.md#0", "protocols/diabetes.md#1"]
        assert self.names(generation, Filters(guideline="DIABETES PROT")) == both
        assert self.names(generation, Filters(guideline="protocols/")) == both

    @pytest.mark.parametrize("section", ["panic", "Anxiety › Panic", "anxiety>panic", "ANXIETY  »  panic episodes"])
    def test_a_section_is_named_by_part_of_its_path(self, generation: Generation, section: str) -> None:
        assert self.names(generation, Filters(section=section)) == ["triage.md#0", "triage.md#1"]

    def test_both_together(self, generation: Generation) -> None:
        assert self.names(generation, Filters("triage", "low")) == ["triage.md#2"]
        assert self.names(generation, Filters("nowhere", "low")) == []

    def test_a_wildcard_is_a_plain_character(self, generation: Generation) -> None:
        assert self.names(generation, Filters(section="%")) == []


class TestDamage:
    """Every kind of damage is one error that says what to do."""

    def refuse(self, directory: Path, identity: str = EMBEDDER.identity) -> str:
        with pytest.raises(IndexMismatch, match="guideline-bot index --full") as refusal:
            Generation.open(directory, identity)
        return str(refusal.value)

    def test_another_embedder_is_refused_and_named(self, directory: Path) -> None:
        message = self.refuse(directory, "bert:0123:mean:256")
        assert EMBEDDER.identity in message
        assert "bert:0123:mean:256" in message

    def test_an_unfinished_generation_is_none(self, tmp_path: Path) -> None:
        writer = GenerationWriter(tmp_path / "half", EMBEDDER.identity, EMBEDDER.dimension)
        writer.add_guideline(DIABETES)
        writer.add([embedded(item) for item in PASSAGES[DIABETES.name]])
        writer.abandon()
        self.refuse(tmp_path / "half")
        shutil.rmtree(tmp_path / "half")

    @pytest.mark.parametrize("file", ["manifest.json", "tables.sqlite", "windows.f32", "units.f32"])
    @pytest.mark.parametrize("damage", ["removed", "cut", "emptied"])
    def test_a_file_that_is_not_whole(self, directory: Path, tmp_path: Path, file: str, damage: str) -> None:
        path = copied(directory, tmp_path) / file
        size = path.stat().st_size
        path.unlink() if damage == "removed" else os.truncate(path, size // 2 if damage == "cut" else 0)
        self.refuse(path.parent)

    def test_tables_overwritten_with_noise_of_the_same_size(self, directory: Path, tmp_path: Path) -> None:
        path = copied(directory, tmp_path) / "tables.sqlite"
        path.write_bytes(b"\xa5" * path.stat().st_size)
        self.refuse(path.parent)

    @pytest.mark.parametrize("how", ["removed", "noise"])
    def test_a_chroma_store_that_is_gone_or_noise(self, directory: Path, tmp_path: Path, how: str) -> None:
        path = copied(directory, tmp_path) / "chroma"
        if how == "removed":
            shutil.rmtree(path)
        else:
            (path / "chroma.sqlite3").write_bytes(b"\xa5" * 4096)
        self.refuse(path.parent)

    def test_a_manifest_of_another_version(self, directory: Path, tmp_path: Path) -> None:
        path = copied(directory, tmp_path) / "manifest.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
        assert "another version" in self.refuse(path.parent)

    def test_vectors_that_chroma_does_not_have_are_found_by_verifying(self, directory: Path, tmp_path: Path) -> None:
        path = copied(directory, tmp_path) / "windows.f32"
        vectors = np.fromfile(path, dtype="<f4").reshape(-1, EMBEDDER.dimension)
        (-vectors[::-1]).astype("<f4").tofile(path)
        with (
            Generation.open(path.parent, EMBEDDER.identity) as opened,
            pytest.raises(IndexMismatch, match="does not find window"),
        ):
            opened.verify()


class TestWriting:
    def test_a_directory_is_never_written_twice(self, directory: Path) -> None:
        with pytest.raises(FileExistsError):
            GenerationWriter(directory, EMBEDDER.identity, EMBEDDER.dimension)

    def test_passages_without_their_guideline_or_without_a_window_are_refused(self, tmp_path: Path) -> None:
        writer = GenerationWriter(tmp_path / "index", EMBEDDER.identity, EMBEDDER.dimension)
        item = embedded(PASSAGES[DIABETES.name][0])
        with pytest.raises(ValueError, match="add_guideline"):
            writer.add([item])
        writer.add_guideline(DIABETES)
        with pytest.raises(ValueError, match="no window"):
            writer.add([Embedded(item.passage, item.windows[:0], item.units)])
        writer.abandon()

    @pytest.mark.parametrize("vectors", [np.zeros((1, 512)), np.full((1, 512), np.nan), np.ones((1, 3)) / 3**0.5])
    def test_what_is_no_unit_vector_of_the_embedder_is_refused(self, tmp_path: Path, vectors: Matrix) -> None:
        writer = GenerationWriter(tmp_path / "index", EMBEDDER.identity, EMBEDDER.dimension)
        writer.add_guideline(DIABETES)
        with pytest.raises(ValueError, match="vector"):
            writer.add([Embedded(PASSAGES[DIABETES.name][0], vectors.astype(np.float32), vectors[:0])])
        writer.abandon()

    def test_an_index_without_passages_finds_nothing(self, tmp_path: Path) -> None:
        write(tmp_path / "empty", [(DIABETES, [])])
        with Generation.open(tmp_path / "empty", EMBEDDER.identity) as opened:
            assert opened.nearest(EMBEDDER.encode_question("glucose"), 5) == []
            assert opened.statistics().documents == 0
            assert [listed.passages for listed in opened.guidelines()] == [0]

    def test_many_swaps_leak_no_file_handles(self, directory: Path, tmp_path: Path) -> None:
        def swap(number: int) -> None:
            copy = shutil.copytree(directory, tmp_path / f"generation-{number}")
            with Generation.open(copy, EMBEDDER.identity) as opened:
                assert opened.nearest(EMBEDDER.encode_question("glucose"), 1)
            shutil.rmtree(copy)

        def handles() -> int:
            return sum(1 for _ in Path("/proc/self/fd").iterdir())

        for number in range(3):
            swap(number)
        before = handles()
        for number in range(3, 23):
            swap(number)
        assert handles() <= before + 5


def clustered(windows: int, dimension: int, seed: int) -> Matrix:
    random = np.random.default_rng(seed)
    centres = random.normal(size=(max(2, windows // 20), dimension))
    vectors = centres[random.integers(len(centres), size=windows)] + 0.5 * random.normal(size=(windows, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def exact(vectors: Matrix, owners: np.ndarray, vector: Vector, n: int) -> list[tuple[int, float]]:
    """Search by comparing with everything."""
    scores = (vectors.astype(np.float64) * vector.astype(np.float64)).sum(axis=1)
    best: dict[int, float] = {}
    for owner, score in zip(owners.tolist(), scores.tolist(), strict=True):
        best[owner] = max(best.get(owner, -2.0), score)
    return sorted(best.items(), key=lambda item: (-item[1], item[0]))[:n]


def same(found: list[tuple[int, float]], expected: list[tuple[int, float]]) -> bool:
    scores = pytest.approx([score for _, score in expected])
    return [owner for owner, _ in found] == [owner for owner, _ in expected] and [s for _, s in found] == scores


class TestSearch:
    @settings(deadline=None, max_examples=60)
    @given(st.data())
    def test_exact_search_finds_what_comparing_with_everything_finds(self, data: st.DataObject) -> None:
        sizes = np.array(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=60)))
        owners = np.repeat(np.arange(len(sizes)), sizes)
        vectors = clustered(len(owners), 8, data.draw(st.integers(0, 99)))
        if data.draw(st.booleans()):
            vectors[:] = vectors[
                np.random.default_rng(0).integers(min(3, len(vectors)), size=len(vectors))
            ]  # many ties
        chosen = np.array(sorted(data.draw(st.sets(st.sampled_from(range(len(sizes)))))), dtype=np.int64)
        n = data.draw(st.integers(1, 12))
        search = WindowSearch(vectors.__getitem__, np.append(0, np.cumsum(sizes)[:-1]), len(vectors))
        vector = clustered(1, 8, data.draw(st.integers(0, 99)))[0]
        allowed = np.isin(owners, chosen)
        found = search.best(search.exactly(chosen, vector, n), vector, n)
        assert same(found, exact(vectors[allowed], owners[allowed], vector, n))

    def test_a_graph_that_is_not_whole_is_refused_before_chroma_crashes_on_it(self, tmp_path: Path) -> None:
        item = guideline("a.md", "A")
        writer = GenerationWriter(tmp_path / "index", "test", 16)
        writer.add_guideline(item)
        vectors = clustered(1200, 16, 1)
        writer.add([Embedded(passage(item, 0, ("Section",), "Text."), vectors, vectors[:0])])
        writer.finish()
        (graph,) = (tmp_path / "index" / "chroma").glob("*/data_level0.bin")
        os.truncate(graph, 100)
        with pytest.raises(IndexMismatch, match="guideline-bot index --full"):
            Generation.open(tmp_path / "index", "test")

    def test_chroma_and_exact_search_give_the_same_passages_and_scores(self, tmp_path: Path) -> None:
        """One long passage holds the nearest windows of all: the others must be found behind it all the same."""
        sizes = np.array([400] + [3] * 400)
        vectors = clustered(int(sizes.sum()), 16, 7)
        vectors[:400] = vectors[0] + 0.01 * clustered(400, 16, 8)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        item = guideline("a.md", "A")
        writer = GenerationWriter(tmp_path / "index", "test", 16)
        writer.add_guideline(item)
        for number in range(len(sizes)):
            own = vectors[owners == number]
            writer.add([Embedded(passage(item, number, ("Section",), f"Text {number}."), own, own[:0])])
        writer.finish()
        with Generation.open(tmp_path / "index", "test") as opened:
            for vector in (vectors[0], *clustered(5, 16, 9)):
                expected = exact(vectors, owners, vector, 10)
                found = [(hit.number, hit.cosine) for hit in opened.nearest(vector, 10)]
                assert same(found, expected)
                filtered = opened.nearest(vector, 10, filters=Filters(section="section"))
                assert [(hit.number, hit.cosine) for hit in filtered] == found


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)  # a file has no lone surrogates


class TestVectorFile:
    @given(st.lists(st.integers(0, 19), max_size=30))
    def test_rows_come_back_in_the_order_asked_for(self, rows: list[int]) -> None:
        vectors = clustered(20, 4, 3)
        with tempfile.TemporaryDirectory() as folder:
            writer = VectorWriter(Path(folder) / "rows.f32", 4)
            writer.append(vectors)
            writer.close()
            file = VectorFile(Path(folder) / "rows.f32", 20, 4)
            assert np.array_equal(file.read(np.array(rows, dtype=np.int64)), vectors[rows])
            for outside in (-1, 20):
                with pytest.raises(IndexError):
                    file.read(np.array([outside]))
            file.close()
            with pytest.raises(ValueError, match="does not hold 21 vectors"):
                VectorFile(Path(folder) / "rows.f32", 21, 4)


class TestRecords:
    def test_a_guideline_comes_back_without_its_tree(self) -> None:
        metadata = Metadata("Tïtle", version="2", supersedes=("old.md",), audience=("team:a",), language="en")
        problem = Problem("a.pdf", "page 3 has no text", 3)
        item = Guideline(
            "a.pdf",
            "ab" * 32,
            "pdf",
            metadata,
            Section("Tïtle"),
            Coverage(3, (3,), 1, 2, 30, 40),
            (problem,),
            "https://x/",
        )
        assert load_guideline(dump_guideline(item)) == item

    @given(
        WORDS,
        st.lists(WORDS, max_size=4),
        st.none() | st.tuples(st.integers(1), st.integers(1)),
        st.none() | st.integers(1, 99),
    )
    def test_a_passage_comes_back_character_for_character(
        self, text: str, path: list[str], lines: tuple[int, int] | None, page: int | None
    ) -> None:
        text, path = (
            text.encode("utf-8", "replace").decode(),
            [part.encode("utf-8", "replace").decode() for part in path],
        )
        block = Block("item", text, lines, page, "3.6", lead="Steps:", group=2, ocr=True)
        item = Passage("id", DIABETES.name, DIABETES.metadata, tuple(path), 7, (block, block), text, lines, page, "3.6")
        assert load_passage(dump_passage(item), DIABETES) == item
