"""One frozen, validated tree of settings, from a TOML file and the environment.

Every setting has a default that is safe; secrets are `SecretStr`, so that no repr, log or error shows them.
A fault in the file is one `SettingError` that names the setting, its line, what is wrong and an example.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from retrieval.errors import SettingError

ENVIRONMENT_PREFIX = "GUIDELINE_BOT_"


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True, hide_input_in_errors=True)


class MattermostSettings(_Group):
    """The server that the bot lives on."""

    url: str = Field("", description="https://chat.example.org")
    token: SecretStr = Field(SecretStr(""), description="the bot account's access token")
    token_file: str = Field("", description="/run/credentials/guideline-bot.service/token")
    ca_file: str = Field("", description="/etc/ssl/clinic-ca.pem")
    verify_tls: bool = Field(True, description="true")
    connect_timeout_s: float = Field(5.0, gt=0, le=120, description="5")
    request_timeout_s: float = Field(20.0, gt=0, le=300, description="20")
    start_within_s: float = Field(30.0, ge=0, le=86_400, description="30")
    report_channel: str = Field("", description="team-name/channel-name")
    ping_interval_s: float = Field(20.0, gt=0, le=60, description="20")
    probe_interval_s: float = Field(60.0, gt=0, le=3600, description="60")
    catch_up_max_age_s: float = Field(24 * 3600.0, ge=0, description="86400")
    edit_window_s: float = Field(600.0, ge=0, description="600")

    @field_validator("url")
    @classmethod
    def _is_a_url(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("is not an http or https address")
        if parts.username or parts.password:
            raise ValueError("must not carry a user name or password")
        return url.rstrip("/")


class FolderSettings(_Group):
    """One watched folder."""

    path: Path = Field(description="/srv/guidelines")
    base_url: str = Field("", description="https://intranet.example.org/guidelines/")


class GuidelinesSettings(_Group):
    """Where the guidelines are and what of them is served."""

    folder: tuple[FolderSettings, ...] = Field((), description='[[guidelines.folder]] path = "/srv/guidelines"')
    glossary: str = Field("", description="/srv/guidelines/glossary.yaml")
    deny_by_default: bool = Field(False, description="false")
    keep_last_good: bool = Field(True, description="true")
    max_file_mb: float = Field(100.0, gt=0, description="100")
    ocr: bool = Field(False, description="false")
    max_lost_share: float = Field(0.34, gt=0, le=1, description="0.34")


class IndexSettings(_Group):
    """How passages are made and embedded."""

    embedder: Literal["sentence-transformers", "ollama", "hash"] = Field(
        "sentence-transformers", description="sentence-transformers"
    )
    model: str = Field("", description="/srv/models/my-model (empty: the packaged all-MiniLM-L6-v2)")
    window_tokens: int = Field(128, ge=32, le=8192, description="128")
    passage_max_chars: int = Field(4000, ge=500, le=100_000, description="4000")
    keep_generations: int = Field(3, ge=1, le=100, description="3")


class SearchSettings(_Group):
    """Ranking and the gate."""

    candidates: int = Field(100, ge=5, le=500, description="100")
    lexical_weight: float = Field(0.4, ge=0, le=5, description="0.4")
    heading_weight: float = Field(0.2, ge=0, le=5, description="0.2")
    min_score: float | None = Field(None, ge=-1, le=3, description="0.42 (leave out for the embedder's own)")
    max_sources: int = Field(4, ge=1, le=10, description="4")
    fact_check: bool = Field(True, description="true")


class AnswerSettings(_Group):
    """Quoting and writing."""

    mode: Literal["written", "quoted"] = Field("written", description="written")
    quote_dose_questions: bool = Field(True, description="true")
    max_sentences: int = Field(0, ge=0, le=50, description="0 (whole sections)")
    close_margin: float = Field(0.05, ge=0, le=1, description="0.05")
    written_within_s: float = Field(20.0, gt=0, le=600, description="20")
    emergency_words: tuple[str, ...] = Field(
        (
            "unresponsive",
            "not breathing",
            "cardiac arrest",
            "collapsed",
            "anaphylaxis",
            "seizing",
            "fitting",
            "choking",
            "suicidal",
            "overdose",
            "stroke",
            "chest pain",
            "severe bleeding",
            "unconscious",
        ),
        description='["not breathing", "collapsed"]',
    )
    emergency_line: str = Field(
        "If this is an emergency, call your emergency number or the resuscitation team now.",
        description="Emergency? Call 2222.",
    )
    ask_line: str = Field(
        "Please ask the senior clinician on duty.", description="Please ask the duty pharmacist, ext. 1234."
    )


class OllamaSettings(_Group):
    """The local language model. Without a URL the bot quotes."""

    url: str = Field("", description="http://127.0.0.1:11434")
    model: str = Field("llama3.1:8b", description="llama3.1:8b")
    approved_models: tuple[str, ...] = Field((), description='["llama3.1:8b", "sha256:46e0c10c039e"]')
    num_ctx: int = Field(8192, ge=1024, le=262_144, description="8192")
    max_tokens: int = Field(600, ge=32, le=8192, description="600")
    temperature: float = Field(0.0, ge=0, le=2, description="0")
    keep_alive: str = Field("30m", pattern=r"^(-1|0|\d+(s|m|h))$", description="30m")
    connect_timeout_s: float = Field(3.0, gt=0, le=60, description="3")
    load_timeout_s: float = Field(300.0, gt=0, le=3600, description="300")
    embed_model: str = Field("nomic-embed-text", description="nomic-embed-text")


class DeskSettings(_Group):
    """How many questions are worked on, and who may steer."""

    queue_size: int = Field(200, ge=1, le=10_000, description="200")
    per_person: int = Field(10, ge=1, le=1000, description="10")
    workers: int = Field(4, ge=1, le=64, description="4")
    lease_s: float = Field(20.0, gt=0, le=3600, description="20")
    shutdown_s: float = Field(15.0, ge=0, le=300, description="15")
    admins: tuple[str, ...] = Field((), description='["ann", "ben"]')


class PrivacySettings(_Group):
    """The screen for patient details."""

    screen: Literal["block", "redact", "off"] = Field("block", description="block")


class LedgerSettings(_Group):
    """What is kept of every exchange, and for how long."""

    questions: Literal["full", "hash"] = Field("full", description="full")
    retention_days: int = Field(0, ge=0, description="730 (0: for ever)")
    head_file: str = Field("", description="/var/backups/guideline-bot.head (empty: ledger.head in the data directory)")
    head_channel: str = Field("", description="team-name/channel-name")


class ScheduleSettings(_Group):
    """When the guidelines are indexed again."""

    reindex_cron: str = Field("15 2 * * *", description="15 2 * * *")
    timezone: str = Field("UTC", description="Europe/London")
    watch: bool = Field(True, description="true")
    watch_interval_s: float = Field(30.0, ge=1, le=3600, description="30")
    gather_s: float = Field(900.0, ge=0, le=86_400, description="900")
    weekly_channel: str = Field("", description="team-name/channel-name")
    weekly_cron: str = Field("0 8 * * mon", description="0 8 * * mon")

    @field_validator("timezone")
    @classmethod
    def _is_known(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            raise ValueError("is not a time zone that this machine knows") from None
        return name

    @field_validator("reindex_cron", "weekly_cron")
    @classmethod
    def _has_five_fields(cls, cron: str) -> str:
        from apscheduler.triggers.cron import CronTrigger  # here: only a bot that schedules pays for the import

        try:
            CronTrigger.from_crontab(cron)
        except ValueError as error:
            raise ValueError(f"is not a cron line of five fields ({error})") from None
        return cron


class OperationsSettings(_Group):
    """Health, metrics and logs."""

    http_host: str = Field("127.0.0.1", description="127.0.0.1")
    http_port: int = Field(0, ge=0, le=65_535, description="9464 (0: no health endpoint)")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="info")
    log_json: bool = Field(False, description="false")


class EvaluationSettings(_Group):
    """The site's own questions, run again after every index run."""

    questions: str = Field("", description="/srv/guidelines/questions.jsonl")
    max_drop: float = Field(0.05, ge=0, le=1, description="0.05")
    keep_old_on_drop: bool = Field(False, description="false")


class Settings(_Group):
    """All settings. `Settings()` is what `make run` uses."""

    mattermost: MattermostSettings = MattermostSettings()
    guidelines: GuidelinesSettings = GuidelinesSettings()
    index: IndexSettings = IndexSettings()
    search: SearchSettings = SearchSettings()
    answer: AnswerSettings = AnswerSettings()
    ollama: OllamaSettings = OllamaSettings()
    desk: DeskSettings = DeskSettings()
    privacy: PrivacySettings = PrivacySettings()
    ledger: LedgerSettings = LedgerSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    operations: OperationsSettings = OperationsSettings()
    evaluation: EvaluationSettings = EvaluationSettings()

    def fingerprint(self) -> str:
        """Return 16 hex digits that change when any setting but a secret changes."""
        plain = self.model_dump(mode="json", exclude={"mattermost": {"token"}})
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]

    @model_validator(mode="after")
    def _token_once(self) -> Settings:
        if self.mattermost.token.get_secret_value() and self.mattermost.token_file:
            raise ValueError("mattermost.token and mattermost.token_file are both set: keep one of them")
        return self


def token_of(settings: MattermostSettings) -> SecretStr:
    """Return the bot's token from the setting or its file.

    Raises:
        SettingError: there is none, or the file cannot be read.
    """
    if settings.token.get_secret_value():
        return settings.token
    if not settings.token_file:
        raise SettingError(
            "mattermost.token is not set. Give the bot account's access token, best in a file: "
            'mattermost.token_file = "/etc/guideline-bot/token".'
        )
    try:
        token = Path(settings.token_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise SettingError(f"mattermost.token_file: {settings.token_file} cannot be read ({reason}).") from None
    if not token:
        raise SettingError(f"mattermost.token_file: {settings.token_file} is empty; put the bot's token in it.")
    return SecretStr(token)


def load(file: Path | None = None, environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings.

    Args:
        file: a TOML file; None for the defaults. Relative paths in it are taken from its folder.
        environment: variables `GUIDELINE_BOT_GROUP_NAME`, as `GUIDELINE_BOT_MATTERMOST_URL`, win over the file.
            Lists are JSON or separated by commas.

    Raises:
        SettingError: the file cannot be read or a setting is wrong; names each of them with line and example.
    """
    text = ""
    if file is not None:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise SettingError(f"{file}: is not UTF-8 text; save it as UTF-8.") from None
        except OSError as error:
            raise SettingError(f"{file}: cannot be read ({error.strerror}). Name a file with --config FILE.") from None
    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{file}: not valid TOML: {error}.") from None
    if file is not None:
        _resolve_paths(values, file.parent)
    _overlay(values, environment)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingError(_explain(error, text, file)) from None


_PATHS = (
    ("guidelines", "glossary"),
    ("mattermost", "token_file"),
    ("mattermost", "ca_file"),
    ("ledger", "head_file"),
    ("evaluation", "questions"),
)


def _resolve_paths(values: dict[str, Any], base: Path) -> None:
    for group, name in _PATHS:
        table = values.get(group)
        if isinstance(table, dict) and isinstance(table.get(name), str) and table[name]:
            table[name] = str(base / table[name])
    guidelines = values.get("guidelines")
    folders = guidelines.get("folder") if isinstance(guidelines, dict) else None
    for folder in folders if isinstance(folders, list) else ():
        if isinstance(folder, dict) and isinstance(folder.get("path"), str):
            folder["path"] = str(base / folder["path"])


def _overlay(values: dict[str, Any], environment: Mapping[str, str]) -> None:
    for variable, raw in sorted(environment.items()):
        if not variable.startswith(ENVIRONMENT_PREFIX):
            continue
        rest = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
        group, _, name = rest.partition("_")
        model = _group(group)
        if model is None or name not in model.model_fields:
            if rest in ("config", "data"):
                continue
            raise SettingError(
                f"{variable}: there is no such setting. The name is {ENVIRONMENT_PREFIX}GROUP_NAME, "
                f"for example {ENVIRONMENT_PREFIX}MATTERMOST_URL."
            )
        table = values.setdefault(group, {})
        if isinstance(table, dict):
            table[name] = _from_text(raw, model.model_fields[name].annotation, variable)


def _group(name: str) -> type[_Group] | None:
    field = Settings.model_fields.get(name)
    annotation = field.annotation if field else None
    return annotation if isinstance(annotation, type) and issubclass(annotation, _Group) else None


def _from_text(raw: str, annotation: Any, variable: str) -> Any:
    if get_origin(annotation) is tuple:
        if raw.lstrip().startswith("["):
            try:
                return json.loads(raw)
            except json.JSONDecodeError:
                raise SettingError(f'{variable}: is not a JSON list; write ["a", "b"] or a,b.') from None
        parts = [part.strip() for part in raw.split(",") if part.strip()]
        return [{"path": part} for part in parts] if FolderSettings in get_args(annotation) else parts
    return raw


def _explain(error: ValidationError, text: str, file: Path | None) -> str:
    lines = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        where = [str(part) for part in fault["loc"]]
        name = ".".join(part for part in where if not part.isdigit()) or "settings"
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            message = "there is no such setting" + _nearest(where)
        line = _line_of(where, text)
        place = f"{file}, line {line}: " if file is not None and line else ""
        example = _example(where)
        cure = f" For example: {where[-1]} = {example}" if example else ""
        lines.append(f"{place}{name}: {message[:1].lower()}{message[1:]}.{cure}")
    return "\n".join(lines)


def _field(where: list[str]) -> Any:
    model: Any = Settings
    field: Any = None
    for part in where:
        if part.isdigit():
            continue
        field = getattr(model, "model_fields", {}).get(part)
        if field is None:
            return None
        model = field.annotation
        if get_origin(model) is tuple:
            model = get_args(model)[0]
    return field


def _example(where: list[str]) -> str:
    field = _field(where)
    if field is None or not field.description:
        return ""
    example: str = field.description
    if re.match(r"^(\[|true|false|-?\d)", example) and field.annotation is not str:
        return example
    return f'"{example}"'


def _nearest(where: list[str]) -> str:
    from difflib import get_close_matches

    model: Any = Settings
    for part in where[:-1]:
        if not part.isdigit():
            annotation = model.model_fields[part].annotation
            model = get_args(annotation)[0] if get_origin(annotation) is tuple else annotation
    near = get_close_matches(where[-1], list(model.model_fields), n=1)
    return f'; did you mean "{near[0]}"?' if near else f" (known here: {', '.join(model.model_fields)})"


def _line_of(where: list[str], text: str) -> int | None:
    """Find the 1-based line that sets `where` in TOML text; None when it stands nowhere."""
    names = [part for part in where if not part.isdigit()]
    index = next((int(part) for part in where if part.isdigit()), 0)
    table: list[str] = []
    seen = -1
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\[?\s*([\w.\-\"' ]+?)\s*\]\]?", line)
        if header and "=" not in line.split("#")[0].split("]")[0]:
            table = [part.strip(" \"'") for part in header[1].split(".")]
            seen += table == names[:-1]
            if table == names:
                return number
            continue
        key = re.match(r"\s*([\w.\-\"']+)\s*=", line)
        if not key:
            continue
        path = [*table, *(part.strip("\"'") for part in key[1].split("."))]
        if path == names and (seen <= 0 or seen == index):
            return number
        if len(path) < len(names) and path == names[: len(path)]:
            return number
    return None
