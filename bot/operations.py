"""A small HTTP server for whoever watches the bot: /healthz, /readyz and /metrics."""

from __future__ import annotations

import ipaddress
import logging

from aiohttp import web

from bot.health import Health
from bot.metrics import CONTENT_TYPE, Metrics
from retrieval.errors import ServiceAway

log = logging.getLogger(__name__)


class OperationsServer:
    """Serves health and metrics; has nothing that changes anything.

    Args:
        host: an address of this machine; any but a loopback address is warned of, because it lets others look.
    """

    def __init__(self, host: str, port: int, health: Health, metrics: Metrics) -> None:
        self._host = host
        self._port = port
        self._health = health
        self._metrics = metrics
        self._runner: web.AppRunner | None = None

    async def start(self) -> str:
        """Begin to serve; returns the address.

        Raises:
            ServiceAway: the port cannot be opened.
        """
        if not is_loopback(self._host):
            log.warning(
                "operations.http_host is %s: health and metrics can be read from other machines, without a password",
                self._host,
            )
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics_page)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        try:
            await site.start()
        except OSError as error:
            await self.stop()
            raise ServiceAway(
                f"operations.http_port: {self._host}, port {self._port} cannot be opened ({error.strerror}). "
                "Choose another, for example: http_port = 9464, or 0 for none."
            ) from None
        host, port = self._runner.addresses[0][:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def stop(self) -> None:
        """Stop serving."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.json_response(self._health.liveness())

    async def _readyz(self, _: web.Request) -> web.Response:
        readiness = await self._health.readiness()
        body = {"ready": readiness.ready, "problems": readiness.problems}
        return web.json_response(body, status=200 if readiness.ready else 503)

    async def _metrics_page(self, _: web.Request) -> web.Response:
        page = self._metrics.page(await self._health.snapshot())
        return web.Response(body=page, headers={"Content-Type": CONTENT_TYPE})


def is_loopback(host: str) -> bool:
    """Tell whether an address is seen from this machine only."""
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
