"""The cache: whatever happens to the files or to the cache, a run says what a run without it says."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spy as spies
from example_sanity.core.cache import FOLDER, Cache, folder_of, key_of, sources_of
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Finding, Severity, Span
from example_sanity.core.inputs import Digests
from example_sanity.core.trace import GIT_RULES, LISTING, NAMED, PLACES, SCRIPTS, Outcome
from helpers import Write, cli

Capture = pytest.CaptureFixture[str]
SCRIPT = "examples/run_qwen3_8b_fsdp.sh"
LAUNCH = "#!/bin/bash\nset -x\npython3 -m verl.trainer.main_ppo trainer.nnodes=1 actor_rollout_ref.rollout.name=vllm\n"


def run(root: Path, *, words: str = "x", cached: bool = True) -> tuple[Finding, ...]:
    """Run the spy family, with a cache keyed by ``words``."""
    opened = spies.open_run(root)
    if cached:
        opened.store = Cache(root / FOLDER, key_of(words), Digests(opened))
    return opened.check([opened.registry.family("spy")]).findings


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that the spy family looks at, each time."""
    seen: list[str] = []
    check = spies.Bad.check

    def noting(self: spies.Bad, subject: object, context: object) -> object:
        seen.append(str(subject))
        return check(self, subject, context)  # type: ignore[arg-type]

    monkeypatch.setattr(spies.Bad, "check", noting)
    return seen


def test_what_stays_the_same_is_not_looked_at_again(write: Write, reads: list[str]) -> None:
    root = write({"a.txt": "BAD\n", "b.txt": "fine\n"})
    first = run(root)
    assert reads == ["a.txt", "b.txt"]

    assert run(root) == first
    write({"b.txt": "BAD\n"})
    assert [finding.path for finding in run(root)] == ["a.txt", "b.txt"]
    assert reads == ["a.txt", "b.txt", "b.txt"]


def test_another_configuration_has_a_cache_of_its_own(write: Write, reads: list[str]) -> None:
    root = write({"a.txt": "BAD\n"})
    for words in ("x", "y", "x", "y"):
        run(root, words=words)

    assert reads == ["a.txt", "a.txt"]


def test_problems_are_found_again(write: Write) -> None:
    root = write({"a.txt": b"\xff"})

    first = run(root)

    assert [finding.code for finding in first] == ["SYS002"]
    assert run(root) == first


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00", b"junk" * 100, msgspec.msgpack.encode([3, "other", 0, [], [], {}, {}]), b"\x95\x01"],
)
def test_a_broken_or_foreign_cache_is_rebuilt(write: Write, reads: list[str], content: bytes) -> None:
    root = write({"a.txt": "BAD\n"})
    first = run(root)
    (file,) = (root / FOLDER).glob("*.msgpack")
    good = file.read_bytes()
    file.write_bytes(content)

    assert run(root) == first
    assert len(reads) == 2
    assert file.read_bytes() == good


def test_the_cache_of_another_configuration_is_not_taken_for_ones_own(write: Write, reads: list[str]) -> None:
    root = write({"a.txt": "BAD\n"})
    run(root, words="x")
    (file,) = (root / FOLDER).glob("*.msgpack")
    own = file.read_bytes()
    run(root, words="y")
    (other,) = set((root / FOLDER).glob("*.msgpack")) - {file}
    file.write_bytes(other.read_bytes())

    run(root, words="x")

    assert len(reads) == 3
    assert file.read_bytes() == own


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_bytes_turned_over_never_break_a_run(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("c")
    (root / "a.txt").write_text("BAD\n")
    first = run(root)
    (file,) = (root / FOLDER).glob("*.msgpack")
    good = file.read_bytes()
    start = data.draw(st.integers(0, len(good) - 1))
    file.write_bytes(good[:start] + data.draw(st.binary(max_size=4)) + good[start + 4 :])

    assert run(root) == first


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["a.txt", "b.txt", "sub/bad.txt"]),
        st.sampled_from(["BAD\n", "fine\nBAD\n", "fine\n", "", None]),
    ),
    max_size=8,
)


@given(EDITS)
@settings(max_examples=25, deadline=None)
def test_with_and_without_a_cache_agree_after_every_edit(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str | None]]
) -> None:
    root = tmp_path_factory.mktemp("c")
    for path, text in edits:
        full = root / path
        full.parent.mkdir(exist_ok=True)
        full.unlink(missing_ok=True)
        if text is not None:
            full.write_text(text)

        assert run(root) == run(root, cached=False)


def test_only_the_latest_caches_are_kept(write: Write) -> None:
    root = write({"a.txt": "BAD\n"})
    for number in range(12):
        run(root, words=str(number))

    assert len(list((root / FOLDER).glob("*.msgpack"))) == 8


def test_runs_beside_each_other_do_not_disturb(write: Write) -> None:
    root = write({"a.txt": "BAD\n", SCRIPT: LAUNCH})
    source = str(Path(__file__).parents[2] / "src")
    call = [
        sys.executable,
        "-m",
        "example_sanity",
        "check",
        str(root),
        "--format",
        "json",
        "--root",
        str(root),
    ]
    environment = {**os.environ, "PYTHONPATH": source}
    running = [
        subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        for _ in range(3)
    ]
    outputs = [process.communicate() for process in running]

    assert [process.returncode for process in running] == [0, 0, 0], outputs
    assert len({json.dumps(json.loads(out)["findings"]) for out, _ in outputs}) == 1
    assert [path.name for path in (root / FOLDER).iterdir() if path.name.startswith(".")] == [".gitignore"]


def test_the_folder_is_hidden_from_git_and_from_us(write: Write) -> None:
    root = write({"a.txt": "BAD\n"})
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    run(root)

    status = subprocess.run(
        ["git", "status", "--short"], cwd=root, capture_output=True, text=True, check=True
    )

    assert FOLDER not in status.stdout
    assert [finding.path for finding in run(root)] == ["a.txt"]


def test_a_folder_that_a_killed_run_made_is_hidden_later(write: Write) -> None:
    root = write({"a.txt": "BAD\n", f"{FOLDER}/x": ""})

    run(root)

    assert (root / FOLDER / ".gitignore").read_text() == "*\n"


def test_a_root_that_cannot_be_written_uses_the_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert folder_of(tmp_path) == tmp_path / FOLDER

    monkeypatch.setattr(os, "access", lambda *_: False)
    assert folder_of(tmp_path).parent == tmp_path / "user/example-sanity"


def test_a_folder_that_cannot_be_written_costs_the_cache_only(write: Write) -> None:
    root = write({"a.txt": "BAD\n", FOLDER: "a file is in the way\n"})

    assert [finding.path for finding in run(root)] == ["a.txt"]


def test_digests_follow_what_they_stand_for(write: Write) -> None:
    root = write({"a.sh": "1\n", "b.txt": "1\n", "out/x": "1\n", ".gitignore": "out\n"})
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    names = ("file:a.sh", "file:b.txt", "file:out", "place:out", LISTING, SCRIPTS, GIT_RULES, NAMED, PLACES)

    def now() -> dict[str, str]:
        opened = spies.open_run(root)
        opened.named = ("a.sh",)
        digests = Digests(opened)
        return {name: digests(name) for name in names}

    def changed(files: dict[str, str]) -> set[str]:
        before = now()
        write(files)
        after = now()
        return {name for name, digest in after.items() if before[name] != digest}

    assert changed({"a.sh": "1\n"}) == set()
    assert changed({"a.sh": "2\n"}) == {"file:a.sh", SCRIPTS}
    assert changed({"b.txt": "2\n"}) == {"file:b.txt"}
    assert changed({".example-sanity-baseline.json": '{"version": 1, "findings": {}}'}) == set()
    assert changed({"c.txt": "1\n"}) == {LISTING, SCRIPTS, GIT_RULES}
    assert changed({"d/.gitignore": "1\n"}) == {LISTING, SCRIPTS, GIT_RULES}
    assert changed({"d/.gitignore": "2\n"}) == {GIT_RULES}
    assert changed({"out/x": "22\n"}) == {"place:out"}
    assert changed({"out/y": ""}) == {"file:out", "place:out"}


def test_an_outcome_is_kept_whole(tmp_path: Path) -> None:
    finding = Finding("SPY001", "bad-word", "é", "a.txt", scenarios=("default",))
    outcome = Outcome([finding], (finding,), None, frozenset({"file:a"}))
    cache = Cache(tmp_path, "k" * 64, lambda name: "1")
    cache.put("a.txt", "SPY001", outcome)
    cache.save()

    assert Cache(tmp_path, "k" * 64, lambda name: "1").get("a.txt", "SPY001") == outcome
    assert Cache(tmp_path, "k" * 64, lambda name: "2").get("a.txt", "SPY001") is None
    assert Cache(tmp_path, "k" * 64, lambda name: "1").get("a.txt", "SPY002") is None


def kept(root: Path, computed: list[str]) -> dict[str, int]:
    """What a run says of the length of a file, which it keeps."""
    opened = spies.open_run(root)
    opened.store = Cache(root / FOLDER, key_of("x"), Digests(opened))

    def compute() -> dict[str, int]:
        computed.append("again")
        return {"a.txt": len(opened.project.read("a.txt"))}

    found = opened.kept("length", dict[str, int], compute)
    assert opened.kept("length", dict[str, int], compute) == found
    assert "file:a.txt" in opened.inputs
    opened.save()
    return found


def test_a_value_is_kept_until_what_it_looked_at_changes(write: Write) -> None:
    root = write({"a.txt": "1\n", "b.txt": "1\n"})
    computed: list[str] = []

    assert [kept(root, computed) for _ in range(3)] == [{"a.txt": 2}] * 3
    assert len(computed) == 1
    write({"b.txt": "22\n"})
    assert kept(root, computed) == {"a.txt": 2}
    assert len(computed) == 1
    write({"a.txt": "22\n"})
    assert kept(root, computed) == {"a.txt": 3}
    assert len(computed) == 2


def test_a_value_is_not_kept_where_something_could_not_be_inspected(write: Write) -> None:
    root = write({"b.txt": "1\n"})
    computed: list[str] = []

    for _ in range(2):
        with pytest.raises(Uninspectable):
            kept(root, computed)
    assert len(computed) == 2


def test_what_could_not_be_inspected_comes_back_whole(tmp_path: Path) -> None:
    error = Uninspectable("SYS006", "for a newer Python", Span(3, 1, 3, 2), Severity.INFO)
    cache = Cache(tmp_path, "k" * 64, lambda name: name)
    cache.put("a.py", "SPY001", Outcome(None, (), error, frozenset({"file:a.py"})))
    cache.save()

    known = Cache(tmp_path, "k" * 64, lambda name: name).get("a.py", "SPY001")
    assert known is not None
    assert known.error is not None
    assert known.error.said == ("SYS006", "for a newer Python", Span(3, 1, 3, 2), Severity.INFO)


def test_what_is_replaced_does_not_make_the_file_grow(tmp_path: Path) -> None:
    for number in range(40):
        cache = Cache(tmp_path, "k" * 64, lambda name, number=number: f"{name} {number}")  # type: ignore[misc]
        for path in ("a.txt", "b.txt") if number == 0 else ("a.txt",):
            inputs = frozenset({f"file:{path}", f"file:{number}"})
            cache.put(path, "SPY001", Outcome([], inputs=inputs))
        if number == 0:
            cache.put_value("value", Outcome("kept", inputs=frozenset({"file:b.txt"})))
        cache.save()
        assert cache._stored.packed <= len(cache._stored.sets) <= 6
        assert len(cache._stored.inputs) <= 12

    first = Cache(tmp_path, "k" * 64, lambda name: f"{name} 0")
    assert first.get("b.txt", "SPY001")
    assert first.value("value", str) == Outcome("kept", inputs=frozenset({"file:b.txt"}))
    assert Cache(tmp_path, "k" * 64, lambda name: f"{name} 39").get("a.txt", "SPY001")


def test_runs_at_the_same_time_keep_what_each_worked_out(tmp_path: Path) -> None:
    """Two processes of one test session, say: each begins with the old cache and ends with half of the work."""
    old = Cache(tmp_path, "k" * 64, lambda name: "1")
    for path in ("a.txt", "b.txt", "c.txt"):
        old.put(path, "SPY001", Outcome([], inputs=frozenset({f"file:{path}"})))
    old.save()

    one, two = (Cache(tmp_path, "k" * 64, lambda name: "2") for _ in range(2))
    for cache, path in ((one, "a.txt"), (two, "b.txt")):
        assert [cache.get(name, "SPY001") for name in ("a.txt", "b.txt", "c.txt")] == [None, None, None]
        cache.put(path, "SPY001", Outcome([], inputs=frozenset({f"file:{path}"})))
        cache.save()

    for digest, found in (("2", [True, True, False]), ("1", [False, False, True])):
        again = Cache(tmp_path, "k" * 64, lambda name, digest=digest: digest)  # type: ignore[misc]
        assert [bool(again.get(name, "SPY001")) for name in ("a.txt", "b.txt", "c.txt")] == found


def test_names_that_are_no_text_are_looked_at_each_time(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "k" * 64, lambda name: "1")
    cache.put("\udcff.txt", "SPY001", Outcome([]))
    cache.put("a.txt", "SPY001", Outcome([], inputs=frozenset({"file:\udcff"})))
    cache.put("b.txt", "SPY001", Outcome([Finding("SPY001", "bad-word", "\udcff", "b.txt")]))
    cache.put("c.txt", "SPY001", Outcome([]))
    cache.save()

    again = Cache(tmp_path, "k" * 64, lambda name: "1")
    assert [path for path in ("\udcff.txt", "a.txt", "b.txt", "c.txt") if again.get(path, "SPY001")] == [
        "c.txt"
    ]


def test_a_plugin_under_development_is_told_from_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their_rules").mkdir()
    (tmp_path / "their_rules/__init__.py").write_text("")
    (tmp_path / "their_rules/rules.py").write_text("class Plugin:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugin = importlib.import_module("their_rules.rules").Plugin()
    before = sources_of([plugin])

    assert sources_of([plugin]) == before != []
    (tmp_path / "their_rules/more.py").write_text("x = 1\n")
    assert sources_of([plugin]) != before


def no_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("evaluated again")

    monkeypatch.setattr("example_sanity.launch.explore.launches", refuse)
    monkeypatch.setattr("example_sanity.launch.explore.default_launch", refuse)


def test_the_command_evaluates_once(write: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    root = str(write({SCRIPT: LAUNCH}))
    code, first, _ = cli(capsys, "check", root, "--format", "json")
    assert code == 0

    no_evaluation(monkeypatch)
    again = json.loads(cli(capsys, "check", root, "--format", "json")[1])

    assert again["findings"] == json.loads(first)["findings"]
    assert cli(capsys, "check", root, "--no-cache")[0] == 4
    assert cli(capsys, "check", root, "-e", "A=1")[0] == 4


def test_no_cache_leaves_no_trace(write: Write, capsys: Capture) -> None:
    root = write({SCRIPT: LAUNCH})

    assert cli(capsys, "check", str(root), "--no-cache")[0] == 0
    assert not (root / FOLDER).exists()


def test_a_script_depends_on_what_it_sources(write: Write, capsys: Capture) -> None:
    launch = '#!/bin/bash\nsource "$(dirname "$0")/common.inc"\npython3 -m verl.trainer.main_ppo model_engine=$ENGINE\n'
    root = write({SCRIPT: launch, "examples/common.inc": "ENGINE=dp\n"})
    assert cli(capsys, "naming", str(root))[0] == 0

    write({"examples/common.inc": "ENGINE=megatron\n"})

    assert cli(capsys, "naming", str(root))[0] == cli(capsys, "naming", str(root), "--no-cache")[0] == 1


@pytest.mark.parametrize(
    ("path", "unused"),
    [
        ("docs/a.md", ["mesh", "knobs", "overrides", "flags", "shell", "workflows"]),
        (SCRIPT, ["docs", "workflows"]),
        ("a.py", ["mesh", "knobs", "overrides", "flags", "shell", "docs", "workflows"]),
    ],
)
def test_a_family_that_has_nothing_to_say_of_a_file_is_not_imported(
    write: Write, path: str, unused: list[str]
) -> None:
    root = write({path: "echo hello\n", "example-sanity.toml": "preset = 'verl'\n"})
    program = (
        "import sys; from example_sanity.cli import run; run(sys.argv[1:]); "
        "print(*[name.split('.')[2] for name in sys.modules if name.startswith('example_sanity.checks.') "
        "and name.endswith('.family')])"
    )
    call = [sys.executable, "-c", program, "check", str(root / path), "--root", str(root)]
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        call, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": source}
    )

    imported = set(done.stdout.splitlines()[-1].split())
    assert imported.isdisjoint(unused)
    assert "sources" in imported


def test_a_warm_run_loads_neither_parser_nor_sandbox(write: Write) -> None:
    root = write({SCRIPT: LAUNCH, "examples/run_qwen3_npu_fsdp.sh": LAUNCH})
    source = str(Path(__file__).parents[2] / "src")
    program = (
        "import sys; from example_sanity.cli import run; run(sys.argv[1:]); "
        "print([name for name in ('bashkit', 'tree_sitter', 'rapidfuzz') if name in sys.modules])"
    )
    call = [sys.executable, "-c", program, "check", str(root), "--root", str(root), "--jobs", "1"]

    def loaded() -> str:
        done = subprocess.run(
            call, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": source}
        )
        return done.stdout.splitlines()[-1]

    assert "bashkit" in loaded()
    assert loaded() == "[]"
