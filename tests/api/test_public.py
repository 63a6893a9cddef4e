"""What the package itself offers: typed, lazy, and working; and plugins that are found by their entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import example_sanity
from helpers import Write

ROOT = Path(__file__).parents[2]


def test_every_name_is_there() -> None:
    for name in example_sanity.__all__:
        assert getattr(example_sanity, name) is not None
    assert set(example_sanity.__all__) <= set(dir(example_sanity))
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        example_sanity.chekc  # noqa: B018


def test_the_package_imports_nothing_before_it_is_asked() -> None:
    code = "import sys, example_sanity; print([n for n in sys.modules if n.startswith(('example_sanity.', 'msgspec'))])"

    assert _python(code) == "[]\n"


def test_check_returns_the_report(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"examples/run_a_vllm_fsdp.sh": 'python3 train.py "$@"\n'})

    report = example_sanity.check(root)

    assert [finding.code for finding in report.findings] == ["NAM002"]
    assert example_sanity.check(root, ignore=["forbidden-token"]).findings == ()
    assert example_sanity.check(root, select=["mesh"]).findings == ()
    monkeypatch.chdir(root)
    assert len(example_sanity.check("examples", preset="verl").findings) == 1


@pytest.mark.parametrize("options", [{"select": ["NAM09"]}, {"preset": "verll"}, {"root": "nowhere"}])
def test_a_wrong_call_raises(write: Write, options: dict[str, str]) -> None:
    with pytest.raises(example_sanity.UsageError, match=r"NAM09|verll|nowhere"):
        example_sanity.check(write({}), **options)  # type: ignore[arg-type]


def test_an_installed_plugin_is_found(tmp_path: Path) -> None:
    """As pip leaves it: a folder on the path with the entry points of the distribution."""
    info = tmp_path / "sanity_acme-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sanity-acme\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[example_sanity]\nacme = sanity_acme\n")
    code = "from example_sanity.cli import run; run(['rules']); run(['schema', 'config']); run(['storage', '--help']); run(['storge'])"

    out = _python(code, str(tmp_path), str(ROOT / "examples/plugin/src"))

    assert "ACM001  checkpoint-in-tmp" in out
    assert '"storage": {' in out
    assert "Run the rule family 'storage'" in out


def _python(code: str, *folders: str) -> str:
    path = os.pathsep.join([str(ROOT / "src"), *folders])
    call = [sys.executable, "-c", code]
    return subprocess.run(
        call, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    ).stdout
