"""The errors of the product: each one sentence that says what to do.

ProductError                 exit status 1
├── WrongUse                 2  a setting, an argument or a file that a person must mend
│   ├── SettingError            names the setting
│   ├── DocumentError           names the file, the page if there is one, and the reason
│   ├── RemovalsUnconfirmed    a folder has lost so many files that a person must say it is meant
│   ├── IndexMissing            nothing has been indexed yet
│   └── IndexMismatch           the index was made with another embedder, or is damaged
└── ServiceAway              3  Mattermost, Ollama, the disk or a lock holder: may be there later
    └── IndexBusy               another index run holds the lock
"""

from __future__ import annotations


class ProductError(Exception):
    """An error that is told to a person as it stands."""

    exit_status = 1


class WrongUse(ProductError):
    """Something a person must change before it can work."""

    exit_status = 2


class SettingError(WrongUse):
    """A setting is missing, unknown or out of range; the text names it and gives an example."""


class DocumentError(WrongUse):
    """A file cannot be read as a guideline.

    Args:
        file: the guideline's name (path relative to its watched folder).
        reason: what is wrong and what to do, in one sentence.
        page: 1-based page index where there is one.
    """

    def __init__(self, file: str, reason: str, page: int | None = None) -> None:
        self.file = file
        self.reason = reason
        self.page = page
        where = f"{file}, page {page}" if page is not None else file
        super().__init__(f"{where}: {reason}")


class RemovalsUnconfirmed(WrongUse):
    """A watched folder has lost so many files that the run stops until a person says that it is meant."""


class IndexMissing(WrongUse):
    """There is no generation to answer from."""


class IndexMismatch(WrongUse):
    """The generation on disk does not fit the settings or is damaged."""


class ServiceAway(ProductError):
    """A service that may be there later is not there now."""

    exit_status = 3


class IndexBusy(ServiceAway):
    """Another index run holds the lock."""
