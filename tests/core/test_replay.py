"""The kept report: said again only while nothing that it depended on has changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from example_sanity import session
from example_sanity.core import replay as replays
from example_sanity.core.cache import FOLDER
from example_sanity.core.inputs import behind
from example_sanity.core.project import Project, Stamp
from example_sanity.core.trace import GIT_RULES, LISTING, NAMED, PLACES, SCRIPTS
from helpers import Write, cli

Capture = pytest.CaptureFixture[str]
SCRIPT = "examples/run_qwen3_vllm_fsdp.sh"
OTHER = "examples/run_a_fsdp.sh"
FILES = {SCRIPT: "python3 train.py\n", OTHER: "python3 train.py # BAD\n", "tool": "#!/bin/bash\n"}
CONFIG = '[tool.example-sanity]\npreset = "verl"\n'


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One item for each run that was made, and not only repeated."""
    made: list[int] = []
    opened = session.open_run

    def noting(*arguments: object, **options: object) -> object:
        made.append(1)
        return opened(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(session, "open_run", noting)
    return made


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything was written long ago."""
    now = time.time_ns()
    monkeypatch.setattr("example_sanity.core.replay.time.time_ns", lambda: now + 10**12)


def outcome(capsys: Capture, *arguments: str) -> tuple[int, object]:
    """The exit code, and the report without its time."""
    code, out, _ = cli(capsys, *arguments, "--format", "json")  # a slow run tells of its progress
    data = json.loads(out)
    del data["summary"]["seconds"]
    return code, data


def test_an_unchanged_project_is_not_run_again(write: Write, capsys: Capture, runs: list[int]) -> None:
    root = str(write(FILES))

    first = outcome(capsys, "check", root)

    assert outcome(capsys, "check", root) == first
    assert first[0] == 1
    assert len(runs) == 1


def test_every_format_says_the_same(write: Write, capsys: Capture) -> None:
    root = str(write(FILES))
    fresh = [
        cli(capsys, "naming", root, "--no-cache", "--format", form) for form in ("sarif", "junit", "concise")
    ]
    cli(capsys, "naming", root)

    again = [cli(capsys, "naming", root, "--format", form) for form in ("sarif", "junit", "concise")]

    for before, after in zip(fresh, again, strict=True):
        assert before[0] == after[0] == 1
        assert before[1].count("NAM002") == after[1].count("NAM002") > 0
        assert len(before[1].split("\n")) == len(after[1].split("\n"))


def change(path: str, text: str) -> Callable[[Path], None]:
    """Write a file, keeping its size and times where it can."""

    def edit(root: Path) -> None:
        target = root / path
        about = target.stat() if target.exists() else None
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        if about:
            os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))

    return edit


CHANGES: Mapping[str, Callable[[Path], None]] = {
    "a script": change(SCRIPT, "python3 other.py\n"),
    "a script of the same size": change(SCRIPT, "python3 brain.py\n"),
    "a new script": change("examples/run_new_fsdp.sh", "true\n"),
    "a file that was not looked at": change("notes", "x\n"),
    "a file gone": lambda root: (root / OTHER).unlink(),
    "another first line": change("tool", "#!/bin/tool\n"),
    "a configuration": change("example-sanity.toml", 'ignore = ["NAM"]\n'),
    "a project file": change("pyproject.toml", CONFIG),
    "a baseline": change(".example-sanity-baseline.json", '{"version": 1, "findings": {}}'),
}


@pytest.mark.parametrize("edit", CHANGES.values(), ids=CHANGES)
@pytest.mark.usefixtures("later")
def test_a_change_is_seen(
    edit: Callable[[Path], None], write: Write, capsys: Capture, runs: list[int]
) -> None:
    root = write(FILES)
    outcome(capsys, "check", str(root))
    outcome(capsys, "check", str(root))
    edit(root)

    seen = outcome(capsys, "check", str(root))

    assert len(runs) == 2
    assert seen == outcome(capsys, "check", str(root), "--no-cache")


TRAINING = (
    "python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 trainer.nnodes=1 "
    "actor_rollout_ref.rollout.tensor_model_parallel_size=$TP\n"
)


def lead_elsewhere(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("two")


# What a launcher asks for, and what changes the answer: no file that git lists has another content afterwards.
SEEN_ONLY_BY_SCRIPTS: Mapping[str, tuple[str, Callable[[Path], object]]] = {
    "run a file that is no longer executable": (
        "./tool.sh || TP=2",
        lambda root: (root / "tool.sh").chmod(0o644),
    ),
    "ask whether a file is executable": (
        "[ -x tool.sh ] || TP=2",
        lambda root: (root / "tool.sh").chmod(0o644),
    ),
    "ask for an empty folder": ("if [ -d empty ]; then TP=2; fi", lambda root: (root / "empty").mkdir()),
    "ask last": ("[[ -n x && -d empty ]] && TP=2", lambda root: (root / "empty").mkdir()),
    "enter a folder": ("cd empty && TP=2", lambda root: (root / "empty").mkdir()),
    "a pattern": ("set -- emp*; [ $1 = empty ] && TP=2", lambda root: (root / "empty").mkdir()),
    "compgen": ("compgen -G 'emp*' && TP=2", lambda root: (root / "empty").mkdir()),
    "make a folder": ("mkdir empty || TP=2", lambda root: (root / "empty").mkdir()),
    "an ignored file": ("[ -f data/more ] && TP=2", lambda root: (root / "data/more").write_text("")),
    "a computed ignored folder": (
        "D=da; [ -d ${D}ta2 ] && TP=2",
        lambda root: (root / "data2").mkdir(),
    ),
    "the text of an ignored file": ("TP=$(cat data/tp)", lambda root: (root / "data/tp").write_text("2")),
    "a script in an ignored folder": (
        "N=da; source ./${N}ta/env.sh",
        lambda root: (root / "data/env.sh").write_text("TP=2\n"),
    ),
    "files below an ignored folder": (
        "[ $(find data -type f | wc -l) = 3 ] && TP=2",
        lambda root: (root / "data/more").write_text(""),
    ),
    "a link to a folder": ("source link/env", lead_elsewhere),
}


@pytest.mark.parametrize(("line", "edit"), SEEN_ONLY_BY_SCRIPTS.values(), ids=SEEN_ONLY_BY_SCRIPTS)
@pytest.mark.usefixtures("later")
def test_what_only_a_script_sees_is_an_input(
    line: str, edit: Callable[[Path], object], write: Write, capsys: Capture
) -> None:
    files = {SCRIPT: f"TP=3\n{line}\n{TRAINING}", "tool.sh": "#!/bin/bash\n", ".gitignore": "data*/\n"}
    ignored = {"data/tp": "3", "data/env.sh": "TP=3\n", "one/env": "TP=3\n", "two/env": "TP=2\n"}
    root = write(files | ignored)
    (root / "tool.sh").chmod(0o755)
    (root / "link").symlink_to("one")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    call = ["check", str(root), "--select", "mesh"]
    before = outcome(capsys, *call)
    edit(root)

    seen = outcome(capsys, *call)

    assert seen == outcome(capsys, *call, "--no-cache")
    assert seen != before


@pytest.mark.parametrize(
    "options",
    [
        ["--ignore", "NAM"],
        ["--select", "NAM"],
        ["-e", "A=1"],
        ["--preset", "verl"],
        ["--no-baseline"],
        ["--allow-local-rules"],
    ],
    ids=" ".join,
)
def test_another_call_has_a_report_of_its_own(
    options: list[str], write: Write, capsys: Capture, runs: list[int]
) -> None:
    root = str(write(FILES))
    outcome(capsys, "check", root)

    assert outcome(capsys, "check", root, *options) == outcome(capsys, "check", root, *options, "--no-cache")
    assert len(runs) == 3


def test_other_paths_and_families_have_reports_of_their_own(
    write: Write, capsys: Capture, runs: list[int]
) -> None:
    root = write(FILES)

    for arguments in (["check", "."], ["naming", "."], ["naming", "examples"], ["naming", OTHER]):
        paths = [str(root / path) for path in arguments[1:]]
        outcome(capsys, arguments[0], *paths)

    assert len(runs) == 4


def test_a_path_that_becomes_a_folder_is_another(write: Write, capsys: Capture, runs: list[int]) -> None:
    root = write({**FILES, "part": "x"})
    cli(capsys, "naming", str(root / "part"))
    (root / "part").unlink()
    write({"part/run_b_vllm_fsdp.sh": "x\n"})

    cli(capsys, "naming", str(root / "part"))

    assert len(runs) == 2


@pytest.mark.parametrize("fail_on", ["warning", "info"])
def test_what_does_not_change_the_report_uses_it(
    fail_on: str, write: Write, capsys: Capture, runs: list[int]
) -> None:
    root = str(write(FILES))
    outcome(capsys, "check", root)

    outcome(capsys, "check", root, "--fail-on", fail_on)
    outcome(capsys, "check", root, "-j", "1")

    assert len(runs) == 1


def test_the_threshold_of_the_configuration_is_kept(write: Write, capsys: Capture, runs: list[int]) -> None:
    text = 'fail-on = "warning"\n'
    root = str(write({"example-sanity.toml": text, "examples/run_a_fsdp.sh": "while true; do :; done\n"}))

    assert [cli(capsys, "mesh", root)[0] for _ in range(2)] == [1, 1]
    assert len(runs) == 1


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", b"\xff" * 40, msgspec.msgpack.encode([1, "key", "", {}, "error", None])],
    ids=["empty", "zero", "noise", "other"],
)
def test_a_broken_record_is_replaced(data: bytes, write: Write, capsys: Capture, runs: list[int]) -> None:
    root = write(FILES)
    first = outcome(capsys, "check", str(root))
    (record,) = (root / FOLDER).glob("*.report")
    record.write_bytes(data)

    assert [outcome(capsys, "check", str(root)) for _ in range(2)] == [first, first]
    assert len(runs) == 2


def test_a_record_of_another_call_is_not_believed(write: Write, capsys: Capture, runs: list[int]) -> None:
    root = write(FILES)
    outcome(capsys, "naming", str(root))
    (foreign,) = (root / FOLDER).glob("*.report")
    outcome(capsys, "check", str(root))
    (own,) = set((root / FOLDER).glob("*.report")) - {foreign}
    own.write_bytes(foreign.read_bytes())

    outcome(capsys, "check", str(root))

    assert len(runs) == 3


@pytest.mark.usefixtures("later")
def test_files_that_did_not_change_are_not_read(
    write: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(FILES)
    outcome(capsys, "naming", str(root))
    read: list[str] = []

    def reading(path: Path) -> bytes:
        read.append(path.name)
        return b""

    monkeypatch.setattr("example_sanity.core.project._read_regular", reading)

    outcome(capsys, "naming", str(root))

    assert set(read) <= {"example-sanity.toml", "pyproject.toml"}


@pytest.mark.usefixtures("later")
def test_what_only_looks_changed_is_read_once(
    write: Write, capsys: Capture, runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(FILES)
    first = outcome(capsys, "check", str(root))
    for name in FILES:
        os.utime(root / name)

    assert outcome(capsys, "check", str(root)) == first
    monkeypatch.setattr("example_sanity.core.replay.digest_of", lambda *_: "changed")
    assert outcome(capsys, "check", str(root)) == first
    assert len(runs) == 1


def test_a_file_written_within_a_tick_of_the_clock_is_compared(
    write: Write, capsys: Capture, runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    same = Stamp(17, time.time_ns(), time.time_ns(), 1)
    monkeypatch.setattr(Project, "stamp", lambda *_: same)
    root = write(FILES)
    outcome(capsys, "check", str(root))
    write({SCRIPT: "python3 brain.py\n"})

    outcome(capsys, "check", str(root))

    assert len(runs) == 2


def test_rules_from_elsewhere_are_always_run(write: Write, capsys: Capture, runs: list[int]) -> None:
    rules = (
        "from example_sanity import Rule, Subject\n"
        "class Local(Rule):\n    code, name, summary, subject = 'LOC001', 'loc', 'loc', Subject.SCRIPT\n"
        "    def check(self, subject, context):\n        return ()\n"
        "RULES = (Local,)\n"
    )
    root = str(write({**FILES, "rules.py": rules, "example-sanity.toml": 'local-rules = ["rules.py"]\n'}))

    for _ in range(2):
        outcome(capsys, "check", root, "--allow-local-rules")

    assert len(runs) == 2


def test_a_call_that_changes_files_is_never_repeated(write: Write, capsys: Capture, runs: list[int]) -> None:
    root = str(write(FILES))
    outcome(capsys, "check", root)

    for option in ("--fix", "--diff", "--no-cache"):
        cli(capsys, "check", root, option)

    assert len(runs) == 4


def test_a_name_that_is_no_text_is_run_again(write: Write, capsys: Capture, runs: list[int]) -> None:
    root = write(FILES)
    (root / "examples" / os.fsdecode(b"run_\xff_fsdp.sh")).write_text("true\n")

    assert outcome(capsys, "check", str(root)) == outcome(capsys, "check", str(root))
    assert len(runs) == 2


def test_nothing_of_a_rule_is_imported_for_a_kept_report(write: Write) -> None:
    root = write(FILES)
    environment = {**os.environ, "PYTHONPATH": str(Path(replays.__file__).parents[2])}
    program = (
        "import sys\nfrom example_sanity.cli import run\n"
        f"run(['check', {str(root)!r}, '-o', {os.devnull!r}])\n"
        "print(*sorted(name for name in sys.modules if name.startswith('example_sanity.')))\n"
    )
    command = [sys.executable, "-c", program]
    subprocess.run(command, check=True, capture_output=True, env=environment)

    again = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    names = again.stdout.split()

    assert "example_sanity.core.replay" in names
    unwanted = ("example_sanity.checks.", "example_sanity.launch", "example_sanity.core.runner")
    assert [name for name in names if name.startswith(unwanted)] == []


def test_files_behind_inputs(write: Write) -> None:
    root = write({"a.sh": "", "b": "", "c.yml": "", "d.md": "", "e/.gitignore": ""})

    def files(*names: str) -> list[str]:
        return sorted(behind(Project(root), names))

    assert files(LISTING, NAMED) == []
    assert files("file:x", "file:/y") == ["/y", "x"]
    assert files("callers:a.sh") == ["a.sh", "c.yml"]
    assert files(SCRIPTS) == ["a.sh", "b", "e/.gitignore"]
    assert files(PLACES, "place:x", "revision:x") == []
    assert files(GIT_RULES) == [".git/info/exclude", "e/.gitignore"]
    with pytest.raises(KeyError):
        files("something else")


def test_old_reports_are_dropped(write: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "_MOST_FILES", 2)
    root = write(FILES)

    for value in "1234":
        outcome(capsys, "naming", str(root), "-e", f"A={value}")

    assert len(list((root / FOLDER).glob("*.report"))) == 2
