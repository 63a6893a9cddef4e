"""Launchers of a framework that the repository pins: judged at the pin, and as the framework is now."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from example_sanity import session
from example_sanity.checks import pins
from example_sanity.core.finding import Severity
from example_sanity.core.rule import Subject
from example_sanity.launch.syntax import Script
from gitrepo import commit, git
from helpers import Write, cli, report
from overrides.program import FILES, SCRIPT

CONFIG = "app/config/train.yaml"
TABLE = "source-roots = ['framework']\n"
BOTH, GONE, NEW = "trainer.nnode=2", "trainer.flag=true", "trainer.fresh=1"


@pytest.fixture
def framework(write: Write) -> tuple[Path, str]:
    """A framework with a release, after which one key was removed and one added."""
    root = write({f"framework/{path}": text for path, text in FILES.items()})
    folder = root / "framework"
    git(folder, "init", "-q")
    first = commit(folder, "release")
    git(folder, "tag", "v1.2.0")
    config = folder / CONFIG
    config.write_text(config.read_text().replace("  flag: true\n", "  fresh: 0\n"))
    commit(folder, "change")
    return root, first


def project(root: Path, files: dict[str, str], *words: str) -> list[tuple[str, str]]:
    launcher = {SCRIPT: f"python3 -m app.train {' '.join(words)}\n", "example-sanity.toml": TABLE}
    for path, text in {**launcher, **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    found = report(root, "overrides").findings
    return [(item.severity.value, item.message.partition(" [")[2].rstrip("]")) for item in found]


PINS = {
    "REQUIRED_APP.txt": "# the framework\napp @ git+https://example.invalid/app.git@{commit}\n",
    "requirements.txt": "torch\napp==1.2.0\n",
    "examples/requirements.txt": "app @ git+https://example.invalid/app@v1.2.0\n",
    "docker/Dockerfile": "FROM x\nRUN pip install git+https://example.invalid/app.git@{commit}\n",
}


@pytest.mark.parametrize("name", PINS)
def test_the_pin_counts_and_what_is_now_is_told_apart(framework: tuple[Path, str], name: str) -> None:
    root, first = framework
    files = {name: PINS[name].format(commit=first)}

    found = project(root, files, BOTH, GONE, NEW)

    pin = f"app {'1.2.0' if name == 'requirements.txt' else 'v1.2.0' if 'examples' in name else first[:9]} ({name}:"
    assert [severity for severity, _ in found] == ["error", "info", "error"]
    assert found[0][1].startswith(f"at the pin {pin}")
    assert found[0][1].endswith("and in framework, too")
    assert found[1][1].startswith("in framework only; not at the pin " + pin)
    assert found[2][1].endswith("only; not in framework")


@pytest.mark.parametrize(
    "text",
    ["app @ git+https://example.invalid/app.git@main\n", "app>=1.2.0\n", "app==1.*\n", "other==1.2.0\n"],
)
def test_a_branch_or_a_window_is_no_pin(framework: tuple[Path, str], text: str) -> None:
    assert project(framework[0], {"requirements.txt": text}, BOTH, GONE) == [("error", ""), ("error", "")]


def test_a_pin_that_is_checked_out_is_what_is_here(framework: tuple[Path, str]) -> None:
    root, _ = framework
    head = git(root / "framework", "rev-parse", "HEAD")
    assert project(root, {"REQUIRED_APP.txt": f"Commit: {head}\n"}, BOTH, NEW) == [("error", "")]


def test_the_nearest_file_counts_and_the_header_before_all(framework: tuple[Path, str]) -> None:
    root, first = framework
    head = git(root / "framework", "rev-parse", "HEAD")
    far, near = {"REQUIRED_APP.txt": f"app@{head}\n"}, {"examples/REQUIRED_APP.txt": f"app@{first}\n"}
    ((_, where),) = project(root, {**far, **near}, NEW)
    assert "(examples/REQUIRED_APP.txt:1)" in where
    header = {SCRIPT: f"# needs app@{head}\npython3 -m app.train {NEW}\n"}
    assert project(root, {**far, **near, **header}) == []


def test_the_framework_is_left_as_it_is(framework: tuple[Path, str]) -> None:
    root, first = framework
    before = (
        git(root / "framework", "status", "--porcelain", "--branch"),
        git(root / "framework", "for-each-ref"),
    )
    project(root, {"REQUIRED_APP.txt": f"app@{first}\n"}, BOTH)
    after = (
        git(root / "framework", "status", "--porcelain", "--branch"),
        git(root / "framework", "for-each-ref"),
    )
    assert before == after


def test_an_edit_of_the_pin_is_seen_through_the_cache(framework: tuple[Path, str]) -> None:
    root, first = framework
    git(root, "init", "-q")
    assert len(project(root, {"REQUIRED_APP.txt": f"app@{first}\n"}, NEW)) == 1
    assert len(project(root, {"REQUIRED_APP.txt": f"app@{first}\n"}, NEW)) == 1
    assert project(root, {"REQUIRED_APP.txt": "app @ git+https://example.invalid/app@main\n"}, NEW) == []


def test_objects_that_come_in_later_are_seen_through_the_cache(framework: tuple[Path, str]) -> None:
    root, first = framework
    git(root, "clone", "-q", "--depth", "1", f"file://{root}/framework", "shallow")
    git(root, "init", "-q")
    files = {"REQUIRED_APP.txt": f"app@{first}\n", "example-sanity.toml": "source-roots = ['shallow']\n"}
    assert project(root, files, GONE) == [("error", "")]
    assert project(root, files, GONE) == [("error", "")]

    git(root / "shallow", "fetch", "-q", "--unshallow")

    ((severity, where),) = project(root, files, GONE)
    assert (severity, where.startswith("in shallow only")) == ("info", True)


def test_the_commit_of_a_submodule_counts(framework: tuple[Path, str], tmp_path: Path) -> None:
    root, first = framework
    git(root, "init", "-q")
    git(root, "submodule", "add", "-q", str(root / "framework"), "third_party/app")
    git(root / "third_party/app", "checkout", "-q", first)
    git(root, "add", "third_party/app")
    git(root / "third_party/app", "checkout", "-q", "-")
    table = {"example-sanity.toml": "source-roots = ['third_party/app']\n"}

    found = project(root, table, BOTH, GONE, NEW)

    assert [severity for severity, _ in found] == ["error", "info", "error"]
    assert "(the submodule third_party/app)" in found[0][1]


def test_a_release_that_is_shipped_needs_no_git(write: Write) -> None:
    line = "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm trainer.nnode=2 actor_rollout_ref.rollout.skip_rollout=true\n"
    root = write({SCRIPT: line, "requirements.txt": "verl==0.6.1\n"})

    found = report(root, "overrides").findings

    assert [item.message.partition(" [")[2] for item in found if item.severity is Severity.ERROR] == [
        "at the pin verl 0.6.1 (requirements.txt:1) and in verl-main, too]",
    ]
    assert [item.message.partition(" [")[2] for item in found if item.severity is Severity.INFO] == [
        "in verl-main only; not at the pin verl 0.6.1 (requirements.txt:1)]"
    ]


def test_what_is_not_at_hand_is_said_and_not_guessed(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm\n"
    root = write(
        {SCRIPT: line, "REQUIRED_VERL.txt": "verl@0123456789\n", "requirements.txt": "verl==0.7.1\n"}
    )
    assert report(root, "overrides").findings == ()

    _, out, _ = cli(capsys, "show", str(root / SCRIPT), "--root", str(root))

    assert (
        "Pins\n  verl 0123456789 (REQUIRED_VERL.txt:1): not checked, its git objects are not at hand" in out
    )
    (root / "REQUIRED_VERL.txt").unlink()
    _, out, _ = cli(capsys, "show", str(root / SCRIPT), "--root", str(root))
    assert "  verl 0.7.1 (requirements.txt:1): checked against the shipped schema verl-0.7.1" in out


def test_two_words_on_one_package_are_one_pin(write: Write) -> None:
    files = {
        SCRIPT: "python3 -m app.x a.b=1\n",
        "REQUIRED_APP.txt": "app==2.0\n",
        "requirements.txt": "app==1.0\n",
    }
    root = write(files)
    run = session.open_run((), root=root)
    (script,) = run.load(Subject.SCRIPT, SCRIPT)
    assert [str(pin) for pin in pins.pins(cast("Script", script), run)] == ["app 2.0 (REQUIRED_APP.txt:1)"]
