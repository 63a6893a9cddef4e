"""What became of keys and flags, from the history of a small program."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.schema.argparse import history as flags
from example_sanity.schema.argparse.table import Flag, FlagTable
from example_sanity.schema.hydra import shipped
from example_sanity.schema.renames import Removed, fate, is_similar, successor
from gitrepo import commit, git
from helpers import Write, cli, report
from overrides.program import FILES, SCRIPT

CONFIG, ACTOR, OLD = "app/config/train.yaml", "app/config/actor/actor.yaml", "app/config/actor/dp_actor.yaml"


def edit(root: Path, path: str, before: str, after: str) -> None:
    text = (root / path).read_text()
    assert before in text
    (root / path).write_text(text.replace(before, after))


@pytest.fixture
def program(write: Write) -> tuple[Path, list[str]]:
    """A program in which keys were renamed (one twice), moved, and removed."""
    root = write(FILES)
    git(root, "init", "-q")
    edit(root, ACTOR, "steps: 1\n", "count_of_steps: 1\ngone_for_good: 1\nused: 1\nloss_mode: x\n")
    edit(root, CONFIG, "  save_freq: -1\n", "  save_every: 7\n")
    commits = [commit(root, "first")]
    edit(root, ACTOR, "count_of_steps: 1\ngone_for_good: 1\nused: 1\n", "count_of_all_steps: 1\n")
    edit(root, CONFIG, "  save_every: 7\n", "  save_every_n: 7\n")
    (root / "app/tool.py").write_text("print(config.get('used'))\n")
    commits.append(commit(root, "second"))
    git(root, "tag", "v2.0.0")
    edit(root, ACTOR, "count_of_all_steps: 1\n", "count_of_all_big_steps: 1\n")
    edit(root, CONFIG, "trainer:\n", "run:\n  trainer:\n    save_every_n: 7\ntrainer:\n")
    edit(root, CONFIG, "  save_every_n: 7\n  logger", "  logger")
    commits.append(commit(root, "third"))
    return root, commits


def built(root: Path, output: Path, head: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Removed]:
    about = ["--root", str(root), "--package", "app", "--commit", head, "-o", str(output)]
    assert cli(capsys, "schema", "build", "app-2", *about)[0] == 0
    code, out, _ = cli(capsys, "schema", "history", str(output), "--checkout", str(root))
    assert code == 0
    assert " keys renamed, " in out
    shipped.load.cache_clear()
    return shipped.load(str(output)).removed


def test_keys_are_followed_to_what_they_are_today(
    program: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, (_, second, third) = program
    date = git(root, "show", "-s", "--format=%cs", third)

    found = built(root, tmp_path / "app.json.xz", third, capsys)

    assert found == {
        "actor.count_of_all_steps": Removed("actor.count_of_all_big_steps", third[:9], "", date),
        "actor.count_of_steps": Removed("actor.count_of_all_big_steps", second[:9], "v2.0.0", date),
        "actor.gone_for_good": Removed(None, second[:9], "v2.0.0", date),
        "trainer.save_every": Removed("run.trainer.save_every_n", second[:9], "v2.0.0", date),
        "trainer.save_every_n": Removed("run.trainer.save_every_n", third[:9], "", date),
    }


def test_messages_say_when_and_what_to_write(
    program: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    root, (_, second, third) = program
    built(root, root / "app.json.xz", third, capsys)
    words = "actor.count_of_steps=1 +actor.gone_for_good=2"
    other = tmp_path / "other"
    (other / "examples").mkdir(parents=True)
    (other / SCRIPT).write_text(f"python3 -m app.train {words}\n")
    (other / "example-sanity.toml").write_text(f"[overrides]\nschema = '{root}/app.json.xz'\n")

    found = [f"{item.code} {item.message}" for item in report(other, "overrides").findings]

    when = f"v2.0.0 (commit {second[:9]})"
    assert found == [
        f"OVR001 actor.count_of_steps is no key of train (app-2) any more: renamed in {when}: "
        "use actor.count_of_all_big_steps",
        f"OVR008 actor.gone_for_good was removed from the configuration in {when}: nothing reads it any more",
    ]


def test_a_checkout_without_the_commit_is_refused(
    program: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, _ = program
    code, _, error = cli(capsys, "schema", "history", "verl-main", "--checkout", str(root))
    assert (code, "is no git checkout that has commit 1dda039b9" in error) == (2, True)
    assert cli(capsys, "schema", "history", "nothing", "--checkout", str(root))[0] == 2


def test_the_shipped_histories_follow_known_renames() -> None:
    removed = shipped.load("verl-main").removed
    moved = fate("actor_rollout_ref.rollout.skip.dump_dir", removed)
    assert moved is not None
    assert (moved.name, moved.release) == ("skip.rollout.dump_dir", "v0.9.0")
    moved = fate("reward_model.sandbox_fusion.url", removed)
    assert moved is not None
    assert (moved.name, moved.release) == ("reward.sandbox_fusion.url", "v0.7.1")


@pytest.mark.parametrize(
    ("key", "fresh", "expected"),
    [
        ("a.b.c", {"a.x.c": 1}, None),
        ("a.b.c", {"a.x": {}, "a.x.c": 1}, "a.x.c"),
        ("a.b.c", {"a.b.deep.c": 1, "a.b.wide.c": 1}, None),
        ("a.b.c", {"a.b.deep.c": 1, "z.c": 1}, "a.b.deep.c"),
        ("old.b.c", {"new.b.c": 1}, "new.b.c"),
        ("a.max_turns", {"a.max_user_turns": 5}, "a.max_user_turns"),
        ("a.load_weight", {"a.tau_neg": 1, "a.tau_pos": 1}, None),
        ("a.enable_x", {"a.disable_x": 1}, None),
    ],
)
def test_successors(key: str, fresh: dict[str, object], expected: str | None) -> None:
    assert successor(key, 1, fresh) == expected


@given(
    st.from_regex(r"[a-z]{1,5}(_[a-z]{1,5}){0,3}", fullmatch=True),
    st.from_regex(r"[a-z]{1,6}", fullmatch=True),
)
def test_likeness_is_symmetric_and_every_name_is_like_itself(one: str, word: str) -> None:
    assert is_similar(one, one)
    assert is_similar(one, f"{one}_{word}") == is_similar(f"{one}_{word}", one)


PARSER = (
    "import argparse\n\nparser = argparse.ArgumentParser()\n"
    'parser.add_argument("--num-layers", type=int)\n{}args = parser.parse_args()\n'
)
LINE = 'parser.add_argument("--{}", type=int)\n'


def test_flags_are_followed_over_releases(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write({"pkg/train.py": PARSER.format(LINE.format("block-size") + LINE.format("retro-path"))})
    git(root, "init", "-q")
    first = commit(root, "first")
    for name, tag in (("block-size-of-cache", "v2"), ("kv-block-size-of-cache", "v3")):
        (root / "pkg/train.py").write_text(PARSER.format(LINE.format(name)))
        commit(root, tag)
        git(root, "tag", tag)
    output = tmp_path / "pkg.flags.json"
    at = ["--at", first[:12], "--at", "v2", "--at", "v3"]
    words = ["schema", "flag-history", "pkg", "--checkout", str(root), "--program", "pkg/train.py"]

    assert cli(capsys, *words, *at, "-o", str(output))[0] == 0

    found = flags.decode(output.read_bytes())
    assert (found.top, list(found.commits)) == ("pkg", [first[:12], "v2", "v3"])
    assert found.removed == {
        "--block-size": Removed("--kv-block-size-of-cache", release="v2"),
        "--block-size-of-cache": Removed("--kv-block-size-of-cache", release="v3"),
        "--retro-path": Removed(None, release="v2"),
    }
    assert cli(capsys, *words, "--at", "v9", "-o", str(output))[0] == 2
    assert cli(capsys, *words[:-1], "nothing.py", *at, "-o", str(output))[0] == 2


def test_the_shipped_history_of_megatron_tells_what_to_write(write: Write) -> None:
    files = {
        "megatron/training/arguments.py": (
            "import argparse\n\ndef parse_args():\n    parser = argparse.ArgumentParser(allow_abbrev=False)\n"
            '    parser.add_argument("--export-kd-teacher-model-config")\n    return parser.parse_args()\n'
        ),
        "train.py": "from megatron.training.arguments import parse_args\n\nargs = parse_args()\n",
        "examples/run_x_megatron.sh": "python3 train.py --teacher-model-config 1 --retro-encoder-layers 2\n",
    }
    one, other = report(write(files), "flags").findings
    assert one.message == (
        "train.py has no flag --teacher-model-config, and argparse stops on it; renamed in core_v0.16.0: "
        "use --export-kd-teacher-model-config (megatron/training/arguments.py:5)"
    )
    assert "argparse stops on it; removed in core_v0.16.0" in other.message


def test_the_history_of_another_package_says_nothing() -> None:
    table = FlagTable((Flag(("--new",), path="other/args.py", line=1),))
    assert flags.fate("--teacher-model-config", table) is None
