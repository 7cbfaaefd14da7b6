"""Withdrawn guidelines: heard without an index run, and not undone by a rollback."""

from __future__ import annotations

import os
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from retrieval.access import OPERATOR, Viewer
from retrieval.embedding import HashEmbedder
from retrieval.errors import IndexMismatch
from retrieval.generations import Generations
from retrieval.indexing import Folder, IndexOptions, Summary, build
from retrieval.library import Library, SearchOptions
from retrieval.manifest import damaged
from retrieval.withdrawn import refresh_withdrawn
from retrieval.withdrawn_list import FILE, load_withdrawn
from tests.doubles_indexing import NOW, clinic, guideline, write

NAMES = {"asthma.md", "sepsis.md", "wards/hypo.md", "wards/pain.md"}
SEPSIS = ("Sepsis", "Antibiotics are given within one hour.", "Lactate is measured.")


class Site:
    """A folder with an index, watched."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = clinic(tmp_path / "guidelines")
        self.data = tmp_path / "data"
        self.today = NOW.date()
        self.index()

    def index(self, **options: object) -> Summary:
        return build([Folder(self.folder)], self.data, HashEmbedder(), IndexOptions(**options), now=NOW)  # type: ignore[arg-type]

    def watch(self) -> str:
        return refresh_withdrawn([Folder(self.folder)], self.data, today=self.today)

    def reasons(self) -> dict[str, str]:
        self.watch()
        return dict(load_withdrawn(self.data / FILE).reasons)

    def served(self, viewer: Viewer = OPERATOR, **options: bool) -> set[str]:
        library = Library.open(self.data, HashEmbedder(), SearchOptions(**options))  # type: ignore[arg-type]
        try:
            found = library.search("what is given", viewer=viewer, limit=50)
            return {source.passage.guideline for source in found.sources}
        finally:
            library.close()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_nothing_is_withdrawn_while_nothing_changes(site: Site) -> None:
    assert site.reasons() == {}
    assert site.served() == NAMES


@pytest.mark.parametrize("status", ["retired", "draft"])
def test_a_guideline_that_is_retired_in_its_front_matter_is_served_no_more(site: Site, status: str) -> None:
    write(site.folder, "sepsis.md", guideline(*SEPSIS, status=status))
    site.watch()
    assert site.served() == NAMES - {"sepsis.md"}


def test_a_guideline_that_is_retired_in_a_sidecar_is_served_no_more(site: Site) -> None:
    write(site.folder, "sepsis.md.meta.yaml", "status: retired\n")
    site.watch()
    assert site.served() == NAMES - {"sepsis.md"}


def test_a_guideline_that_is_retired_in_the_folder_list_is_served_no_more(site: Site) -> None:
    write(site.folder, "guidelines.yaml", "wards/pain.md:\n  status: retired\n")
    site.watch()
    assert site.served() == NAMES - {"wards/pain.md"}
    (site.folder / "guidelines.yaml").unlink()
    site.watch()
    assert site.served() == NAMES


def test_a_deleted_file_is_served_no_more_and_comes_back_with_its_file(site: Site) -> None:
    text = (site.folder / "sepsis.md").read_text()
    (site.folder / "sepsis.md").unlink()
    assert site.reasons() == {"sepsis.md": "Its file is no longer there."}
    assert site.served() == NAMES - {"sepsis.md"}
    write(site.folder, "sepsis.md", text)
    assert site.reasons() == {}


def test_a_library_that_is_open_hears_of_it_at_the_next_search(site: Site) -> None:
    library = Library.open(site.data, HashEmbedder())
    question = "antibiotics within one hour"
    assert library.search(question).sources[0].passage.guideline == "sepsis.md"
    passage = library.search(question).sources[0].passage
    (site.folder / "sepsis.md").unlink()
    site.watch()
    assert "sepsis.md" not in {source.passage.guideline for source in library.search(question).sources}
    assert library.passage(passage.id) is None
    (entry,) = (entry for entry in library.guidelines() if entry.name == "sepsis.md")
    assert (entry.served, entry.reason) == (False, "Its file is no longer there.")


def test_a_rollback_does_not_undo_a_withdrawal(site: Site) -> None:
    write(site.folder, "sepsis.md", guideline(*SEPSIS, status="retired"))
    (site.folder / "asthma.md").unlink()
    site.index()
    Generations(site.data).rollback()
    assert site.served() == NAMES - {"sepsis.md", "asthma.md"}
    site.watch()
    assert site.served() == NAMES - {"sepsis.md", "asthma.md"}


def test_a_rollback_does_not_bring_back_what_a_confirmed_run_removed(site: Site) -> None:
    for name in ("asthma.md", "sepsis.md", "wards/hypo.md"):
        (site.folder / name).unlink()
    site.index(confirm_removals=True)
    Generations(site.data).rollback()
    for _ in range(2):
        site.watch()
        assert site.served() == {"wards/pain.md"}


def test_a_rollback_does_not_bring_back_what_was_superseded(site: Site) -> None:
    write(
        site.folder, "sepsis2.md", guideline("Sepsis Bundle", "Antibiotics are given at once.", supersedes="sepsis.md")
    )
    site.index()
    Generations(site.data).rollback()
    site.watch()
    assert site.served() == NAMES - {"sepsis.md"}


def test_a_folder_that_goes_missing_withdraws_nothing(site: Site) -> None:
    site.folder.rename(site.folder.with_name("away"))
    assert site.reasons() == {}
    assert site.served() == NAMES


def test_a_folder_that_lost_over_a_third_withdraws_nothing_by_absence(site: Site) -> None:
    for name in ("asthma.md", "sepsis.md"):
        (site.folder / name).unlink()
    write(site.folder, "wards/pain.md", guideline("Pain", "Paracetamol 1 g is given.", status="retired"))
    assert set(site.reasons()) == {"wards/pain.md"}


def test_what_was_withdrawn_one_by_one_stays_so_when_more_follows(site: Site) -> None:
    (site.folder / "asthma.md").unlink()
    site.watch()
    (site.folder / "sepsis.md").unlink()
    assert set(site.reasons()) == {"asthma.md"}


def test_a_renamed_file_goes_on_being_served_under_its_old_name(site: Site) -> None:
    (site.folder / "sepsis.md").rename(site.folder / "sepsis-2026.md")
    assert site.reasons() == {}


def test_a_status_that_cannot_be_read_withholds_the_guideline(site: Site) -> None:
    write(site.folder, "sepsis.md", guideline(*SEPSIS, status="retird"))
    (reason,) = site.reasons().values()
    assert "cannot be read" in reason
    assert site.served() == NAMES - {"sepsis.md"}


def test_a_broken_folder_list_does_not_silence_the_folder(site: Site) -> None:
    write(site.folder, "guidelines.yaml", "sepsis.md: [")
    assert site.reasons() == {}


def test_a_date_that_was_moved_ahead_withholds_until_that_day(site: Site) -> None:
    day = site.today + timedelta(days=5)
    write(site.folder, "sepsis.md", guideline(*SEPSIS, effective=day.isoformat()))
    assert site.reasons() == {"sepsis.md": f"It takes effect on {day.isoformat()}."}
    site.today = day
    assert site.reasons() == {}


def test_an_audience_that_was_narrowed_counts_at_once(site: Site) -> None:
    outsider, insider = Viewer.of([["team:ward"]]), Viewer.of([["team:icu"]])
    write(site.folder, "sepsis.md", guideline(*SEPSIS, audience="team:icu"))
    site.watch()
    assert site.served(outsider) == NAMES - {"sepsis.md"}
    assert site.served(insider) == NAMES
    assert site.served() == NAMES
    site.index()
    assert load_withdrawn(site.data / FILE).audiences == {"sepsis.md": ("team:icu",)}
    Generations(site.data).rollback()
    site.watch()
    assert site.served(outsider) == NAMES - {"sepsis.md"}


def test_an_audience_that_was_widened_waits_for_the_index_run(tmp_path: Path) -> None:
    folder = clinic(tmp_path / "guidelines")
    write(folder, "sepsis.md", guideline(*SEPSIS, audience="team:icu"))
    site = Site.__new__(Site)
    site.folder, site.data, site.today = folder, tmp_path / "data", NOW.date()
    site.index()
    outsider = Viewer.of([["team:ward"]])
    write(folder, "sepsis.md", guideline(*SEPSIS))
    site.watch()
    assert site.served(outsider) == NAMES - {"sepsis.md"}
    site.index()
    assert site.served(outsider) == NAMES


def test_only_files_that_changed_are_opened(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    import retrieval.withdrawn as withdrawn

    opened: list[str] = []
    read = withdrawn.read_status
    monkeypatch.setattr(
        withdrawn, "read_status", lambda path, name, folder: (opened.append(name), read(path, name, folder))[1]
    )
    site.watch()
    assert opened == []
    write(site.folder, "sepsis.md", guideline(*SEPSIS, owner="Ann"))
    site.watch()
    assert opened == ["sepsis.md"]


def test_the_answer_changes_whenever_a_file_does(site: Site) -> None:
    seen = [site.watch(), site.watch()]
    assert seen[0] == seen[1]
    os.utime(site.folder / "sepsis.md", (1, 1))
    seen.append(site.watch())
    write(site.folder, "more.md", guideline("More", "More is given."))
    seen.append(site.watch())
    write(site.folder, "more.md.meta.yaml", "owner: Ann")
    seen.append(site.watch())
    (site.folder / "more.md").unlink()
    seen.append(site.watch())
    assert all(one != two for one, two in pairwise(seen[1:]))


def test_watching_before_anything_is_indexed_does_no_harm(tmp_path: Path) -> None:
    folder = clinic(tmp_path / "guidelines")
    refresh_withdrawn([Folder(folder)], tmp_path / "data", today=date(2026, 5, 1))
    assert load_withdrawn(tmp_path / "data" / FILE).reasons == {}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"reasons": ["a"]}', '{"reasons": {}, "audiences": 3}'])
def test_a_damaged_list_is_not_taken_for_an_empty_one(site: Site, text: str) -> None:
    """Half a file after a full disk must not bring withdrawn doses back."""
    write(site.folder, "sepsis.md", guideline(*SEPSIS, status="retired"))
    assert "sepsis.md" in site.reasons()
    (site.data / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(IndexMismatch, match="withdrawn"):
        site.served()
    site.index()
    assert "sepsis.md" in load_withdrawn(site.data / FILE).reasons, "the next run, or look, writes it anew"
    assert site.served() == NAMES - {"sepsis.md"}


def test_an_index_that_cannot_be_written_is_not_called_damaged(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.manifest.os.access", lambda *_: False)
    text = str(damaged(site.data / "generations" / "000001-abc", OSError("attempt to write a readonly database")))
    assert "damaged" not in text
    assert str(site.data) in text
