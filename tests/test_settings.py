"""Settings: defaults that are safe, faults that name the line and the cure, secrets that stay secret."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.settings import MattermostSettings, Settings, load, token_of
from retrieval.errors import SettingError
from tests.make_settings_page import PAGE, page

WHOLE = """\
[mattermost]
url = "https://chat.example.org"
token_file = "token"
verify_tls = true
connect_timeout_s = 5
[[guidelines.folder]]
path = "guidelines"
base_url = "https://intranet.example.org/"
[guidelines]
deny_by_default = false
max_file_mb = 10
[index]
embedder = "hash"
window_tokens = 128
[search]
min_score = 0.5
max_sources = 3
[answer]
mode = "quoted"
emergency_words = ["collapsed"]
[ollama]
url = "http://127.0.0.1:11434"
num_ctx = 4096
keep_alive = "30m"
[desk]
queue_size = 10
admins = ["ann"]
[privacy]
screen = "block"
[ledger]
questions = "full"
retention_days = 730
[schedule]
timezone = "Europe/London"
reindex_cron = "15 2 * * *"
[operations]
http_port = 9464
log_level = "info"
[evaluation]
max_drop = 0.05
"""

BROKEN = {
    'url = "https://chat.example.org"': 'url = "chat.example.org"',
    'token_file = "token"': "token_file = 7",
    "verify_tls = true": 'verify_tls = "perhaps"',
    "connect_timeout_s = 5": "connect_timeout_s = -5",
    'path = "guidelines"': "path = 5",
    'base_url = "https://intranet.example.org/"': "base_ulr = 'x'",
    "deny_by_default = false": "deny_by_defalt = false",
    "max_file_mb = 10": "max_file_mb = 0",
    'embedder = "hash"': 'embedder = "openai"',
    "window_tokens = 128": "window_tokens = 1.5",
    "min_score = 0.5": 'min_score = "high"',
    "max_sources = 3": "max_sources = 0",
    'mode = "quoted"': 'mode = "written!"',
    'emergency_words = ["collapsed"]': 'emergency_words = "collapsed"',
    "num_ctx = 4096": "num_ctx = 12",
    'keep_alive = "30m"': 'keep_alive = "half an hour"',
    "queue_size = 10": "queue_size = 0",
    'admins = ["ann"]': "admins = [1]",
    'screen = "block"': 'screen = "yes"',
    'questions = "full"': 'questions = "none"',
    "retention_days = 730": "retention_days = -1",
    'timezone = "Europe/London"': 'timezone = "Europe/Londinium"',
    'reindex_cron = "15 2 * * *"': 'reindex_cron = "at night"',
    "http_port = 9464": "http_port = 99999",
    'log_level = "info"': 'log_level = "loud"',
    "max_drop = 0.05": "max_drop = 5",
}


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "bot.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_whole_file_is_read_and_its_paths_are_taken_from_its_folder(tmp_path: Path) -> None:
    settings = load(written(tmp_path, WHOLE), {})
    assert settings.guidelines.folder[0].path == tmp_path / "guidelines"
    assert settings.mattermost.token_file == str(tmp_path / "token")
    assert settings.search.min_score == 0.5


@pytest.mark.parametrize("good", BROKEN)
def test_every_line_that_is_broken_is_named_with_its_number_and_a_cure(tmp_path: Path, good: str) -> None:
    assert WHOLE.count(good + "\n") == 1
    number = WHOLE[: WHOLE.index(good)].count("\n") + 1
    with pytest.raises(SettingError) as caught:
        load(written(tmp_path, WHOLE.replace(good, BROKEN[good])), {})
    message = str(caught.value)
    assert f"line {number}: " in message
    name = BROKEN[good].split(" = ")[0]
    assert name in message
    assert "For example" in message or "did you mean" in message or "known here" in message


def test_an_unknown_group_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r'line 1: mattermots: .*did you mean "mattermost"'):
        load(written(tmp_path, '[mattermots]\nurl = "https://x"\n'), {})


def test_a_file_that_is_no_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="line 2"):
        load(written(tmp_path, "[mattermost]\nurl = \n"), {})


def test_a_missing_file_and_one_that_is_not_utf8_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="--config"):
        load(tmp_path / "none.toml", {})
    (tmp_path / "latin.toml").write_bytes('x = "é"'.encode("latin-1"))
    with pytest.raises(SettingError, match="UTF-8"):
        load(tmp_path / "latin.toml", {})


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    environment = {
        "GUIDELINE_BOT_MATTERMOST_URL": "https://other.example.org",
        "GUIDELINE_BOT_DESK_ADMINS": "ann, ben",
        "GUIDELINE_BOT_GUIDELINES_FOLDER": "/srv/a,/srv/b",
        "GUIDELINE_BOT_CONFIG": "elsewhere.toml",
    }
    settings = load(written(tmp_path, WHOLE), environment)
    assert settings.mattermost.url == "https://other.example.org"
    assert settings.desk.admins == ("ann", "ben")
    assert [str(folder.path) for folder in settings.guidelines.folder] == ["/srv/a", "/srv/b"]


def test_an_unknown_variable_is_an_error_that_shows_how_they_are_named() -> None:
    with pytest.raises(SettingError, match=r"GUIDELINE_BOT_MATTERMOST_ULR: .*GUIDELINE_BOT_MATTERMOST_URL"):
        load(None, {"GUIDELINE_BOT_MATTERMOST_ULR": "https://x"})


def test_a_token_is_in_no_repr_no_error_and_no_fingerprint(tmp_path: Path) -> None:
    text = WHOLE.replace('token_file = "token"', 'token = "sesame-open-1234"')
    settings = load(written(tmp_path, text), {})
    assert "sesame" not in repr(settings)
    assert "sesame" not in settings.model_dump_json()
    other = load(written(tmp_path, text.replace("sesame", "simsim")), {})
    assert settings.fingerprint() == other.fingerprint()
    with pytest.raises(SettingError) as caught:
        load(written(tmp_path, WHOLE + '\n[mattermost.token]\nx = "sesame-open-1234"\n'), {})
    assert "sesame" not in str(caught.value)


def test_the_token_comes_from_its_file_and_a_missing_one_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc\n")
    assert token_of(MattermostSettings(token_file=str(tmp_path / "token"))).get_secret_value() == "abc"
    with pytest.raises(SettingError, match="token_file"):
        token_of(MattermostSettings())
    with pytest.raises(SettingError, match="cannot be read"):
        token_of(MattermostSettings(token_file=str(tmp_path / "none")))
    with pytest.raises(SettingError, match="both set"):
        load(written(tmp_path, WHOLE.replace("verify_tls = true", 'token = "x"')), {})
    assert token_of(MattermostSettings(token=SecretStr("t"))).get_secret_value() == "t"


def test_the_fingerprint_changes_with_a_setting() -> None:
    changed = load(None, {"GUIDELINE_BOT_SEARCH_MIN_SCORE": "0.7"})
    assert Settings().fingerprint() == load(None, {}).fingerprint() != changed.fingerprint()


def test_the_page_of_settings_is_as_the_code_has_them() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.make_settings_page"
