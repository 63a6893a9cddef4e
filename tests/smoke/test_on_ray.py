"""Ray Jobs: addresses, the job that is submitted, and its end; with ``--ray PYTHON`` also a real Ray on this machine."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from example_sanity.core.errors import UsageError
from example_sanity.smoke import on_ray, supervisor
from example_sanity.smoke.on_ray import dashboard, entry_point, upload
from example_sanity.smoke.result import SmokeResult
from example_sanity.smoke.running import Options, run
from smoke.ray_client import Client
from smoke.runs import LAUNCHER, STEPS, plan

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("address", "http"),
    [
        ("ray://head", "http://head:8265"),
        ("ray://head:10001", "http://head:8265"),
        ("ray://head:9000", "http://head:9000"),
        ("ray://[::1]:9000", "http://[::1]:9000"),
        ("http://head:8265/", "http://head:8265"),
        ("https://ray.example.org/team", "https://ray.example.org/team"),
    ],
)
def test_addresses(address: str, http: str) -> None:
    assert dashboard(address) == http


@pytest.mark.parametrize("address", ["ray://", "ray://:8265", "ray://head:many"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(UsageError, match=re.escape(address)):
        dashboard(address)


def test_the_entry_point_quotes_what_the_shell_would_read() -> None:
    given = plan(environment={"A": "x y", "B": ""}, arguments=("k=$HOME", "", "--x"))

    assert entry_point(given, {}) == "env A='x y' B= PYTHONUNBUFFERED=1 bash run.sh 'k=$HOME' '' --x"


def test_files_of_the_run_travel_with_the_project(tmp_path: Path) -> None:
    root, made, there = tmp_path / "root", tmp_path / "made", tmp_path / "there"
    for name in (".git", "src", "outputs"):
        (root / name).mkdir(parents=True)
        (root / name / "file").write_text(name)
    (made / "model").mkdir(parents=True)
    (made / "model/config.json").write_text("{}")
    (made / "train.parquet").write_text("rows")
    given = plan(
        environment={"MODEL_PATH": str(made / "model")},
        arguments=(f"data.files=[{made}/train.parquet,{made}/train.parquet]",),
        checkpoint=made / "model",
        data=(made / "train.parquet",),
    )
    uploaded = upload(given, root, there)

    assert sorted(str(file.relative_to(there)) for file in there.rglob("*") if file.is_file()) == [
        ".example-sanity-smoke/0/model/config.json",
        ".example-sanity-smoke/1/train.parquet",
        "src/file",
    ]
    words = subprocess.run(
        ["bash", "-c", entry_point(given, uploaded).replace("bash run.sh", "printenv MODEL_PATH; echo")],
        cwd=there,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    folder = f"{there}/.example-sanity-smoke"
    assert words == [f"{folder}/0/model", f"data.files=[{folder}/1/train.parquet,{folder}/1/train.parquet]"]


def submit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, client: Client, program: str, **options: Any
) -> SmokeResult:
    root = tmp_path / "root"
    root.mkdir()
    (root / "run.sh").write_text(LAUNCHER)
    (root / "train.py").write_text(program)
    monkeypatch.setattr(on_ray, "_client", lambda _: client)
    monkeypatch.setattr(on_ray, "_ASK_SECONDS", 0.05)
    return run(plan(), root, Options(log=tmp_path / "run.log", on="ray://head", **options))


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """The working directory of the job."""
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("breaks", [False, True])
def test_a_job_that_passes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: Path, breaks: bool
) -> None:
    client = Client(there, pending=2, breaks=breaks)
    result = submit(monkeypatch, tmp_path, client, STEPS)

    assert (result.verdict, result.where, result.job) == ("passed", "http://head:8265", "raysubmit_1")
    assert client.submitted["entrypoint_num_gpus"] == 1
    assert client.submitted["metadata"] == {"name": "smoke run.sh"}


def test_a_job_that_fails_has_its_cause(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: Path) -> None:
    result = submit(monkeypatch, tmp_path, Client(there), "import a_module_that_nobody_has\n")

    assert result.cause is not None
    assert (result.verdict, result.cause.kind, result.exit_status) == ("failed", "missing-module", 1)


def test_a_job_is_stopped_at_the_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: Path) -> None:
    client = Client(there)
    result = submit(monkeypatch, tmp_path, client, "import time; time.sleep(600)\n", limit=0.5)

    assert client.stopped
    assert result.verdict == "failed"


def test_a_job_whose_turn_does_not_come_could_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: Path
) -> None:
    client = Client(there, pending=10**6)
    result = submit(monkeypatch, tmp_path, client, STEPS, limit=0.3)

    assert client.stopped
    assert result.cause is not None
    assert (result.verdict, result.cause.kind) == ("could-not-start", "not-scheduled")


def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: Path) -> None:
    result = submit(monkeypatch, tmp_path, Client(there, refuses=True), STEPS)

    assert result.cause is not None
    assert (result.verdict, result.cause.kind) == ("could-not-start", "no-cluster")


def test_a_job_can_be_left_to_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: Path) -> None:
    client = Client(there)
    result = submit(monkeypatch, tmp_path, client, STEPS, wait=False)
    client.wait()

    assert (result.verdict, result.job) == ("submitted", "raysubmit_1")
    assert not (tmp_path / "run.log").exists()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Ray with one pretended GPU on this machine, in the environment of ``--ray PYTHON``."""
    python, port = Path(request.config.getoption("--ray")), _free_port()
    command = [str(python.parent / "ray"), "start", "--head", "--block", f"--dashboard-port={port}"]
    command += [f"--port={_free_port()}", "--num-gpus=1", "--num-cpus=2", "--disable-usage-stats"]
    log = tmp_path_factory.mktemp("ray") / "log"
    with log.open("wb") as output:
        head = subprocess.Popen(
            [sys.executable, supervisor.__file__, "20", *command], stdout=output, stderr=subprocess.STDOUT
        )
    try:
        _await(f"http://127.0.0.1:{port}/api/version", head, log)
        yield f"ray://127.0.0.1:{port}"
    finally:
        head.terminate()
        head.wait()


def _await(url: str, head: subprocess.Popen[bytes], log: Path) -> None:
    while True:
        assert head.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            continue


@pytest.mark.ray
@pytest.mark.parametrize(
    ("program", "limit", "verdict", "kind"),
    [
        (STEPS, 120, "passed", None),
        ("import a_module_that_nobody_has\n", 120, "failed", "missing-module"),
        ("import time\nwhile True: print(1, flush=True); time.sleep(0.2)\n", 20, "failed", "time-limit"),
    ],
)
def test_a_real_ray(
    request: pytest.FixtureRequest,
    cluster: str,
    tmp_path: Path,
    program: str,
    limit: float,
    verdict: str,
    kind: str | None,
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    launcher = LAUNCHER.replace("python3", 'test -f "$MODEL_PATH/config.json"\npython3')
    (tmp_path / "run.sh").write_text(launcher)
    (tmp_path / "train.py").write_text(program)
    submitting = f"""\
from pathlib import Path
from example_sanity.smoke.report import render
from example_sanity.smoke.running import Options, run
from smoke.runs import plan
model = Path({str(model)!r})
given = plan(environment={{"MODEL_PATH": str(model)}}, checkpoint=model)
options = Options(log=Path("run.log").absolute(), on={cluster!r}, limit={limit})
print("RESULT", render([run(given, Path.cwd(), options)], "json").replace(chr(10), " "))
"""
    done = subprocess.run(
        [request.config.getoption("--ray"), "-c", submitting],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{TESTS.parent / 'src'}{os.pathsep}{TESTS}"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search("^RESULT (.*)$", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout + done.stderr
    result = json.loads(found[1])["runs"][0]

    assert (result["verdict"], result["cause"] and result["cause"]["kind"]) == (verdict, kind)
