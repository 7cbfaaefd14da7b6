"""What is deployed: checked as far as it can be without a container engine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.settings import load

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "systemd" / "guideline-bot.service"


def needs(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(f"{program} is not on this machine; .ci/run installs what is needed")
        pytest.skip(f"{program} is not on this machine")
    return found


def test_the_units_are_valid(tmp_path: Path) -> None:
    systemd_analyze = needs("systemd-analyze")
    for unit in sorted((DEPLOY / "systemd").iterdir()):
        # The program is not installed at /opt here; everything else must hold.
        text = re.sub(r"/opt/guideline-bot/\.venv/bin/guideline-bot", "/bin/true", unit.read_text())
        (tmp_path / unit.name).write_text(re.sub(r"(?m)^Documentation=.*\n", "", text))
    for unit in sorted(tmp_path.iterdir()):
        done = subprocess.run(
            [systemd_analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
        )
        ours = [line for line in done.stderr.splitlines() if "guideline-bot" in line]
        assert ours == [], done.stderr


def test_the_unit_is_hardened() -> None:
    systemd_analyze = needs("systemd-analyze")
    done = subprocess.run(
        [systemd_analyze, "security", "--offline=true", "--no-pager", str(UNIT)],
        capture_output=True,
        text=True,
        check=False,
    )
    score = re.search(r"Overall exposure level.*?: ([\d.]+)", done.stdout)
    assert score is not None, done.stdout + done.stderr
    assert float(score[1]) < 3


@pytest.mark.parametrize("name", ["compose.yaml", "compose.bot.yaml"])
def test_the_bot_s_container_is_locked_down_and_its_settings_exist(name: str) -> None:
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text())
    bot = compose["services"]["bot"]
    assert bot["read_only"] is True
    assert bot["cap_drop"] == ["ALL"]
    assert "ports" not in bot
    environment = {key: str(value) for key, value in bot["environment"].items()}
    load(None, environment)
    for volume in bot["volumes"]:
        assert volume.split(":")[0].startswith((".", "$")) or volume.split(":")[0] in compose["volumes"]


def test_only_mattermost_is_reachable_from_outside_and_only_on_loopback() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    published = {name: one["ports"] for name, one in services.items() if "ports" in one}
    assert published == {"mattermost": ["127.0.0.1:8065:8065"]}
    assert services["ollama"]["networks"] == ["inside"]
    assert services["bot"]["networks"] == ["inside"]


def test_the_image_has_no_root_and_installs_what_the_lock_names() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert re.search(r"(?m)^USER 10001", dockerfile)
    assert "--require-hashes -r requirements.lock" in dockerfile
    assert "HEALTHCHECK" in dockerfile
    makefile = (ROOT / "Makefile").read_text()
    torch = re.search(r"(?m)^TORCH\s*:= (\S+)$", makefile)
    assert torch is not None
    assert torch[1] in dockerfile
    for source in re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", dockerfile):
        for path in source.split():
            assert (ROOT / path).exists()


def test_every_package_that_is_listed_is_locked_but_torch() -> None:
    locked = set(re.findall(r"(?m)^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text()))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[<>=\[; ]", one)[0].lower().replace("_", "-") for one in listed}
    assert names - locked == set()
    assert "torch" not in locked


def metrics_of_the_bot() -> set[str]:
    from bot.metrics import Metrics, Snapshot

    snapshot = Snapshot(**dict.fromkeys(Snapshot.__dataclass_fields__, 1))
    page = Metrics().page(snapshot).decode()
    return set(re.findall(r"(?m)^# TYPE (\S+)", page)) | set(re.findall(r"(?m)^(\w+)", page))


def test_alerts_and_dashboard_speak_only_of_metrics_that_exist() -> None:
    known = metrics_of_the_bot()
    texts = [(DEPLOY / "monitoring" / name).read_text() for name in ("alerts.yaml", "dashboard.json")]
    named = set(re.findall(r"guideline_bot_\w+", "".join(texts)))
    missing = {name for name in named if name not in known and name.removesuffix("_bucket") not in known}
    assert missing == set()
    assert json.loads(texts[1])["panels"]
    for rule in yaml.safe_load(texts[0])["groups"][0]["rules"]:
        assert rule["annotations"].keys() == {"summary", "cure"}


def test_the_pod_is_one_locked_down_replica_whose_configuration_is_valid(tmp_path: Path) -> None:
    parts = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "guideline-bot.yaml").read_text()))
    by_kind = {part["kind"]: part for part in parts}
    assert set(by_kind) == {"ConfigMap", "PersistentVolumeClaim", "Deployment", "NetworkPolicy"}
    (tmp_path / "bot.toml").write_text(by_kind["ConfigMap"]["data"]["bot.toml"])
    load(tmp_path / "bot.toml", {})
    spec = by_kind["Deployment"]["spec"]
    assert spec["replicas"] == 1
    assert spec["strategy"] == {"type": "Recreate"}
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert {"livenessProbe", "readinessProbe"} <= container.keys()
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert by_kind["NetworkPolicy"]["spec"]["ingress"] == []
