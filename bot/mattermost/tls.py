"""How the server's certificate is checked, for REST and for the websocket alike."""

from __future__ import annotations

import logging
import ssl
from dataclasses import dataclass

from bot.settings import MattermostSettings
from retrieval.errors import SettingError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Trust:
    """Whom to trust.

    Attributes:
        verify: what `requests` takes: True, False or the path of a file of certificates.
        context: what the websocket takes; None for plain HTTP.
    """

    verify: bool | str
    context: ssl.SSLContext | None


def trust_of(settings: MattermostSettings) -> Trust:
    """Return whom to trust, and warn where nobody is checked.

    Raises:
        SettingError: `mattermost.ca_file` cannot be read or holds no certificate.
    """
    if not settings.url.startswith("https:"):
        return Trust(True, None)
    if not settings.verify_tls:
        log.warning(
            "mattermost.verify_tls is false: the server's certificate is not checked, and whoever stands between "
            "could read and answer in its place. Set mattermost.ca_file to the organisation's own CA instead."
        )
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return Trust(False, context)
    if not settings.ca_file:
        return Trust(True, ssl.create_default_context())
    try:
        context = ssl.create_default_context(cafile=settings.ca_file)
    except ssl.SSLError:
        raise SettingError(
            f"mattermost.ca_file: {settings.ca_file} holds no certificate; give the CA's certificate in PEM form."
        ) from None
    except OSError as error:
        raise SettingError(f"mattermost.ca_file: {settings.ca_file} cannot be read ({error.strerror}).") from None
    return Trust(settings.ca_file, context)
