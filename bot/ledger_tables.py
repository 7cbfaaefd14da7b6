"""The ledger's tables in SQLite: their schema, how a connection is made ready, and errors told in our words."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from retrieval.errors import ServiceAway

SCHEMA_VERSION = 1

tables = sa.MetaData()
meta = sa.Table("meta", tables, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text))
events = sa.Table(
    "events",
    tables,
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.Column("kind", sa.Text, nullable=False, index=True),
    sa.Column("question_id", sa.Text, nullable=False, index=True),
    sa.Column("thread_id", sa.Text, nullable=False, index=True),
    sa.Column("body", sa.Text),
    sa.Column("body_salt", sa.Text),
    sa.Column("body_hash", sa.Text, nullable=False),
    sa.Column("texts", sa.Text),
    sa.Column("texts_salt", sa.Text),
    sa.Column("texts_hash", sa.Text, nullable=False),
    sa.Column("previous", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)
leases = sa.Table(
    "leases",
    tables,
    sa.Column("question_id", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("until_ms", sa.BigInteger, nullable=False),
    sa.Column("done", sa.Boolean, nullable=False),
)
marks = sa.Table("marks", tables, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text))


class LedgerError(ServiceAway):
    """The ledger cannot be read or written; while that is so, nothing may be answered."""


def prepare(connection: Any, _record: Any) -> None:
    # The driver would open transactions of its own, too late to hold the write lock; begin does it.
    connection.isolation_level = None
    # Bytes that are no text, which only somebody else can have written, must not keep the rest from being read.
    connection.text_factory = _text
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def begin(connection: Connection) -> None:
    # IMMEDIATE: reading the head and writing after it is one step, also between processes.
    if not connection.get_execution_options().get("reading"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def migrate(connection: Connection) -> None:
    tables.create_all(connection)
    version = meta_value(connection, "schema_version")
    if version is None:
        connection.execute(meta.insert().values(name="schema_version", value=str(SCHEMA_VERSION)))
    elif int(version) > SCHEMA_VERSION:
        raise LedgerError(
            f"The ledger was written by a newer guideline-bot (schema {version}, this one knows {SCHEMA_VERSION}). "
            "Install that version or a later one."
        )


def meta_value(connection: Connection, name: str) -> str | None:
    value: str | None = connection.execute(sa.select(meta.c.value).where(meta.c.name == name)).scalar()
    return value


def told(error: SQLAlchemyError) -> LedgerError:
    # Only the driver's own words: SQLAlchemy's text carries the statement's values.
    cause = str(getattr(error, "orig", None) or type(error).__name__)
    if "locked" in cause:
        cure = "Another program holds it; the bot tries again."
    elif "full" in cause or "disk I/O" in cause:
        cure = "Free space on its disk; nothing is answered until it can be written."
    elif "malformed" in cause or "not a database" in cause:
        cure = "Restore it from a backup (guideline-bot restore); nothing is answered until then."
    else:
        cure = "Check the disk and the file's permissions; nothing is answered until it can be written."
    return LedgerError(f"The ledger cannot be used ({cause}). {cure}")
