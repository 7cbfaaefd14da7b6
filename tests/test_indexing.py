"""An index run: what changed is brought in, nothing else is touched, and nothing is lost in silence."""

from __future__ import annotations

import errno
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from retrieval.embedding import HashEmbedder
from retrieval.errors import IndexBusy, IndexMismatch, RemovalsUnconfirmed, ServiceAway, SettingError, WrongUse
from retrieval.generations import Generations
from retrieval.indexing import Folder, IndexOptions, Summary, build, plan_of
from retrieval.library import Library
from tests.doubles_indexing import NOW, CountingEmbedder, clinic, contents, guideline, write


class Site:
    """A watched folder, a data directory and an embedder; a run a day."""

    def __init__(self, tmp_path: Path, **options: object) -> None:
        self.folder = clinic(tmp_path / "guidelines")
        self.data = tmp_path / "data"
        self.embedder = CountingEmbedder()
        self.options = IndexOptions(**options)  # type: ignore[arg-type]
        self.now = NOW

    def index(self, **options: object) -> Summary:
        self.embedder.encoded.clear()
        self.now += timedelta(days=1)
        chosen = IndexOptions(**{**_fields(self.options), **options})  # type: ignore[arg-type]
        return build([Folder(self.folder)], self.data, self.embedder, chosen, now=self.now)

    def library(self) -> Library:
        return Library.open(self.data, self.embedder, today=self.now.date)

    def found(self, question: str) -> set[str]:
        library = self.library()
        try:
            return {source.passage.guideline for source in library.search(question, limit=50).sources}
        finally:
            library.close()


def _fields(options: IndexOptions) -> dict[str, object]:
    return {name: getattr(options, name) for name in IndexOptions.__dataclass_fields__}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


BROKEN = b"caf\xe9 \xff: no UTF-8"
NAMES = ("asthma.md", "sepsis.md", "wards/hypo.md", "wards/pain.md")


def test_a_first_run_indexes_every_document_by_its_path_in_the_folder(site: Site) -> None:
    summary = site.index()
    assert (summary.added, summary.failed, summary.built) == (NAMES, (), True)
    assert summary.passages == 6
    assert site.found("salbutamol spacer") == set(NAMES)


def test_a_second_run_builds_nothing_and_embeds_nothing(site: Site) -> None:
    first = site.index()
    second = site.index()
    assert (second.built, second.generation, second.unchanged) == (False, first.generation, NAMES)
    assert second.passages == 6
    assert site.embedder.encoded == []


def test_only_the_text_that_changed_is_embedded_again(site: Site) -> None:
    site.index()
    write(
        site.folder, "asthma.md", guideline("Asthma", "Salbutamol is given by spacer, ten puffs.", "Oxygen keeps 92 %.")
    )
    summary = site.index()
    assert summary.changed == ("asthma.md",)
    assert set(site.embedder.encoded) == {"Asthma. Oxygen. Oxygen keeps 92 %."}


def test_a_renamed_file_is_renamed_and_embeds_nothing(site: Site) -> None:
    site.index()
    (site.folder / "asthma.md").rename(site.folder / "lungs.md")
    summary = site.index()
    assert (summary.renamed, summary.added, summary.removed) == ((("asthma.md", "lungs.md"),), (), ())
    assert site.embedder.encoded == []
    assert "lungs.md" in site.found("salbutamol")
    assert "asthma.md" not in site.found("salbutamol")


def test_removed_text_is_gone_from_the_data_directory_with_its_generation(tmp_path: Path) -> None:
    site = Site(tmp_path, keep_generations=1)
    site.index()
    assert b"Paracetamol" in contents(site.data)
    (site.folder / "wards/pain.md").unlink()
    assert site.index().removed == ("wards/pain.md",)
    assert b"Paracetamol" not in contents(site.data)
    assert b"paracetamol" not in contents(site.data)


def test_a_changed_sentence_is_gone_from_the_data_directory_too(tmp_path: Path) -> None:
    site = Site(tmp_path, keep_generations=1)
    site.index()
    write(site.folder, "sepsis.md", guideline("Sepsis", "Antibiotics are given within three hours."))
    site.index()
    assert b"within one hour" not in contents(site.data)


def test_old_generations_are_pruned_and_never_the_current_one(tmp_path: Path) -> None:
    site = Site(tmp_path, keep_generations=2)
    for number in range(4):
        write(site.folder, "asthma.md", guideline("Asthma", f"Puffs are {number}."))
        site.index()
    generations = Generations(site.data)
    assert len(generations.ids()) == 2
    assert generations.current() == generations.ids()[-1]


def test_a_retired_or_draft_guideline_is_not_in_the_index_and_is_named(site: Site) -> None:
    site.index()
    write(site.folder, "sepsis.md", guideline("Sepsis", "Antibiotics are given within one hour.", status="retired"))
    summary = site.index()
    assert summary.retired == (("sepsis.md", "It is retired."),)
    assert "sepsis.md" not in site.found("antibiotics")


def test_a_guideline_that_waits_for_its_day_comes_in_by_itself(site: Site) -> None:
    day = (site.now + timedelta(days=3)).date().isoformat()
    write(site.folder, "new.md", guideline("New", "Ketamine is given slowly.", effective=day))
    first, second, third = site.index(), site.index(), site.index()
    assert (first.built, second.built, third.built) == (True, False, True)
    assert third.effective == ("new.md",)
    assert "new.md" in site.found("ketamine")


def test_a_text_that_waits_or_is_retired_is_not_in_the_data_directory(site: Site) -> None:
    write(site.folder, "new.md", guideline("New", "Ketamine is given slowly.", effective="2030-01-01"))
    write(site.folder, "old.md", guideline("Old", "Pethidine is given.", status="retired"))
    site.index()
    assert b"Ketamine" not in contents(site.data)
    assert b"Pethidine" not in contents(site.data)


def test_of_two_versions_the_old_one_comes_back_when_the_new_one_is_removed(site: Site) -> None:
    write(site.folder, "v1.md", guideline("Stroke", "Aspirin 300 mg is given.", version="1"))
    write(site.folder, "v2.md", guideline("Stroke", "Aspirin 75 mg is given.", version="2"))
    site.index()
    assert "v1.md" not in site.found("aspirin")
    (site.folder / "v2.md").unlink()
    site.index()
    assert "v1.md" in site.found("aspirin")


def test_a_failed_file_keeps_its_last_good_passages_and_is_named(site: Site) -> None:
    site.index()
    (site.folder / "sepsis.md").write_bytes(BROKEN)
    summary = site.index()
    assert [problem.file for problem in summary.failed] == ["sepsis.md"]
    assert not summary.built
    assert "sepsis.md" in site.found("antibiotics")
    (entry,) = (entry for entry in site.library().guidelines() if entry.name == "sepsis.md")
    assert entry.last_good
    assert entry.problems[-1].reason == summary.failed[0].reason


def test_a_source_from_the_last_good_text_says_so(site: Site) -> None:
    site.index()
    (site.folder / "sepsis.md").write_bytes(BROKEN)
    site.index()
    sources = site.library().search("antibiotics within one hour").sources
    notes = {source.passage.guideline: source.notes for source in sources}
    assert any("last good text" in note for note in notes["sepsis.md"])
    assert notes["asthma.md"] == ()


def test_a_failed_file_is_dropped_where_its_last_good_text_is_not_to_be_kept(tmp_path: Path) -> None:
    site = Site(tmp_path, keep_last_good=False)
    site.index()
    (site.folder / "sepsis.md").write_bytes(BROKEN)
    site.index()
    assert "sepsis.md" not in site.found("antibiotics")


def test_a_failed_file_is_not_read_every_run_but_named_every_run(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    import retrieval.document_reading as reading

    read: list[str] = []
    load = reading.load
    monkeypatch.setattr(reading, "load", lambda path, name, **more: (read.append(name), load(path, name, **more))[1])
    write(site.folder, "bad.md", "")
    site.index()
    for _ in range(9):
        assert [problem.file for problem in site.index().failed] == ["bad.md"]
    assert 3 <= read.count("bad.md") <= 9
    later = read.count("bad.md")
    write(site.folder, "bad.md", guideline("Mended", "Now it is read."))
    assert site.index().added == ("bad.md",)
    assert read.count("bad.md") == later + 1


def test_a_mended_file_that_was_put_back_needs_no_new_generation(site: Site) -> None:
    site.index()
    good = (site.folder / "sepsis.md").read_bytes()
    (site.folder / "sepsis.md").write_bytes(BROKEN)
    site.index()
    (site.folder / "sepsis.md").write_bytes(good)
    summary = site.index()
    assert (summary.failed, summary.built) == ((), False)


def test_a_folder_that_lost_over_a_third_stops_the_run_until_confirmed(site: Site) -> None:
    first = site.index()
    (site.folder / "asthma.md").unlink()
    (site.folder / "sepsis.md").unlink()
    with pytest.raises(RemovalsUnconfirmed, match=r"lost 2 of its 4 files.*--confirm-removals"):
        site.index()
    assert Generations(site.data).current() == first.generation
    assert site.index(confirm_removals=True).removed == ("asthma.md", "sepsis.md")


def test_a_folder_that_is_empty_or_gone_deletes_nothing(site: Site) -> None:
    site.index()
    away = site.folder.with_name("away")
    site.folder.rename(away)
    with pytest.raises(SettingError, match="is not there"):
        site.index()
    site.folder.mkdir()
    with pytest.raises(RemovalsUnconfirmed, match="lost 4 of its 4"):
        site.index()
    assert site.found("salbutamol") == set(NAMES)


def test_a_folder_that_was_emptied_with_consent_is_an_empty_index(site: Site) -> None:
    site.index()
    for name in NAMES:
        (site.folder / name).unlink()
    summary = site.index(confirm_removals=True)
    assert (summary.passages, len(summary.removed)) == (0, 4)
    assert site.found("salbutamol") == set()
    assert not site.index().built


def test_bad_folders_are_one_clear_sentence(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    file = write(tmp_path, "file.md", "# A")
    cases = ((tmp_path / "none", "is not there"), (empty, "holds no document"), (file, "is a file"))
    for folder, words in cases:
        with pytest.raises(SettingError, match=words) as caught:
            build([Folder(folder)], tmp_path / "data", HashEmbedder(), now=NOW)
        assert str(folder) in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(SettingError, match=r"guidelines\.folder is not set"):
        build([], tmp_path / "data", HashEmbedder(), now=NOW)


def test_a_folder_without_permission_is_one_clear_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = clinic(tmp_path / "closed")
    monkeypatch.setattr("retrieval.scanning.os.access", lambda path, mode: False)  # root may read everything
    with pytest.raises(SettingError, match="may not be read"):
        build([Folder(closed)], tmp_path / "data", HashEmbedder(), now=NOW)


def test_one_unreadable_file_alone_is_told_as_it_stands(tmp_path: Path) -> None:
    folder = tmp_path / "g"
    write(folder, "a.md", "x")
    (folder / "a.md").write_bytes(b"caf\xe9 \xff")
    with pytest.raises(WrongUse, match=r"a\.md: .*UTF-8"):
        build([Folder(folder)], tmp_path / "data", HashEmbedder(), now=NOW)
    assert Generations(tmp_path / "data").current() is None


def test_the_dry_run_shows_the_plan_and_changes_nothing(site: Site) -> None:
    site.index()
    write(site.folder, "new.md", guideline("New", "New is here."))
    (site.folder / "asthma.md").unlink()
    before = contents(site.data)
    plan = plan_of([Folder(site.folder)], site.data, now=NOW)
    assert (plan.added, plan.removed) == (("new.md",), ("asthma.md",))
    assert contents(site.data) == before


def test_only_one_run_at_a_time(site: Site) -> None:
    with Generations(site.data).lock(), pytest.raises(IndexBusy):
        site.index()
    assert site.index().built


def test_other_windows_make_everything_anew_with_the_same_files(site: Site) -> None:
    site.index()
    summary = site.index(window_tokens=64)
    assert (summary.built, summary.unchanged, summary.changed) == (True, NAMES, ())


def test_another_embedder_makes_everything_anew(site: Site) -> None:
    site.index()
    (site.folder / "sepsis.md").write_bytes(BROKEN)

    class Other(CountingEmbedder):
        identity = "other"  # type: ignore[misc]

    site.embedder = Other()
    assert site.index().built
    # The file that fails now keeps its last good text under the new embedder too.
    assert site.found("antibiotics") == set(NAMES)


def test_full_embeds_everything_again(site: Site) -> None:
    site.index()
    summary = site.index(full=True)
    assert summary.built
    assert len(site.embedder.encoded) >= 6


def test_links_temporary_and_hidden_files_are_passed_over(site: Site, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", "secret.md", guideline("Secret", "Secret text."))
    (site.folder / "out.md").symlink_to(outside)
    (site.folder / "outdir").symlink_to(outside.parent)
    (site.folder / "again.md").symlink_to(site.folder / "asthma.md")
    (site.folder / "loop").symlink_to(site.folder)
    for name in (".hidden.md", "~$asthma.md", "asthma.md~", "asthma.md.tmp", ".git/x.md", "a.md.crdownload", "x.css"):
        write(site.folder, name, guideline("No", "No text."))
    summary = site.index()
    assert summary.added == NAMES
    assert [problem.file for problem in summary.warnings] == ["out.md", "outdir"]


def test_files_behind_links_to_a_hidden_version_folder_are_found_once(tmp_path: Path) -> None:
    folder = tmp_path / "mounted"
    write(folder, "..2026_05_01/asthma.md", guideline("Asthma", "Salbutamol is given."))
    (folder / "..data").symlink_to("..2026_05_01")
    (folder / "asthma.md").symlink_to("..data/asthma.md")
    summary = build([Folder(folder)], tmp_path / "data", HashEmbedder(), now=NOW)
    assert summary.added == ("asthma.md",)


def test_a_huge_file_is_named_and_not_read(site: Site) -> None:
    with (site.folder / "huge.md").open("wb") as file:
        file.truncate(5_000_000)
    summary = site.index(max_file_bytes=1_000_000)
    assert [(p.file, "larger (5 MB)" in p.reason) for p in summary.failed] == [("huge.md", True)]


def test_a_name_that_two_folders_hold_is_taken_from_the_first_and_named(site: Site, tmp_path: Path) -> None:
    second = tmp_path / "second"
    write(second, "asthma.md", guideline("Other", "Other text."))
    write(second, "more.md", guideline("More", "More text."))
    summary = build([Folder(site.folder), Folder(second)], site.data, site.embedder, now=NOW)
    assert set(summary.added) == {*NAMES, "more.md"}
    (problem,) = summary.warnings
    assert problem.file == "asthma.md"
    assert str(second) in problem.reason


def test_an_edited_folder_list_changes_only_the_guideline_that_it_speaks_of(site: Site) -> None:
    write(site.folder, "guidelines.yaml", "asthma.md:\n  owner: Ann\n")
    site.index()
    write(site.folder, "guidelines.yaml", "asthma.md:\n  owner: Ben\n")
    summary = site.index()
    assert summary.changed == ("asthma.md",)
    assert len(summary.unchanged) == 3
    assert site.embedder.encoded == []
    assert not site.index().built


def test_a_new_base_address_gives_new_links(site: Site) -> None:
    site.index()
    site.embedder.encoded.clear()
    folder = Folder(site.folder, "https://intranet.example.org/g/")
    build([folder], site.data, site.embedder, now=site.now)
    (entry,) = (entry for entry in site.library().guidelines() if entry.name == "asthma.md")
    assert entry.link == "https://intranet.example.org/g/asthma.md"
    assert site.embedder.encoded == []


def test_a_passed_review_date_is_told_once(site: Site) -> None:
    day = (site.now + timedelta(days=1)).date().isoformat()
    write(site.folder, "sepsis.md", guideline("Sepsis", "Antibiotics are given.", review_by=day))
    told = [site.index().past_review for _ in range(4)]
    assert told == [(), ("sepsis.md",), (), ()]


def test_progress_tells_every_stage_to_its_end(site: Site) -> None:
    told: list[tuple[str, int, int]] = []
    build([Folder(site.folder)], site.data, site.embedder, progress=lambda *step: told.append(step), now=NOW)
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == ["scan", "read", "embed", "verify"]
    for stage in ("scan", "read", "embed", "verify"):
        done = [(done, total) for name, done, total in told if name == stage]
        assert done == sorted(done)
        assert done[-1][0] == done[-1][1]


def test_a_loader_that_crashes_costs_only_its_own_file(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    import retrieval.document_reading as reading

    load = reading.load

    def crashing(path: Path, name: str, **more: object) -> object:
        if name == "sepsis.md":
            raise RuntimeError("boom")
        return load(path, name, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "load", crashing)
    summary = site.index()
    assert [problem.file for problem in summary.failed] == ["sepsis.md"]
    assert len(summary.added) == 3


def test_a_damaged_generation_is_mended_by_a_full_run(site: Site) -> None:
    broken = Generations(site.data).directory(site.index().generation)
    next(broken.glob("*.f32")).write_bytes(b"")
    write(site.folder, "new.md", guideline("New", "Ketamine is given."))
    with pytest.raises(IndexMismatch, match="index --full"):
        site.index()
    assert site.index(full=True).built
    assert "new.md" in site.found("ketamine")


def test_a_program_that_makes_passages_in_another_way_makes_them_anew(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.index()
    monkeypatch.setattr("retrieval.indexing._program", lambda: "another")
    summary = site.index()
    assert (summary.built, summary.unchanged) == (True, NAMES)
    assert site.embedder.encoded == []


def test_everything_that_happened_at_once_is_in_the_summary(site: Site) -> None:
    site.index()
    (site.folder / "wards/pain.md").unlink()
    write(site.folder, "asthma.md", guideline("Asthma", "Salbutamol is given by nebuliser."))
    write(site.folder, "new.md", guideline("New", "Ketamine is given."))
    (site.folder / "sepsis.md").rename(site.folder / "septic.md")
    summary = site.index()
    assert (summary.added, summary.changed, summary.removed) == (("new.md",), ("asthma.md",), ("wards/pain.md",))
    assert (summary.renamed, summary.unchanged) == ((("sepsis.md", "septic.md"),), ("wards/hypo.md",))


@pytest.mark.parametrize(
    "fault", [OSError(errno.ENOSPC, "No space left on device"), sqlite3.OperationalError("database or disk is full")]
)
def test_a_full_disk_is_said_so_and_the_last_generation_answers(
    site: Site, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    first = site.index()
    write(site.folder, "new.md", guideline("New", "Ketamine is given."))

    def full(*_: object) -> None:
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr("retrieval.indexing.write_generation", full)
        with pytest.raises(ServiceAway, match="make room on the disk"):
            site.index()
    assert Generations(site.data).current() == first.generation
    assert site.found("salbutamol") == set(NAMES)
    assert site.index().added == ("new.md",)
