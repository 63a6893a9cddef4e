"""``show`` and ``plan``: text, JSON, exit codes, and what they say of launchers that do not get far."""

from __future__ import annotations

import json

import pytest

from helpers import Write, cli
from mesh.launchers import EXACT, PATH, WITHOUT_CP, launcher
from overrides.program import SCRIPT as PROGRAM
from overrides.program import launcher as program


def test_show_names_knobs_scenarios_commands_and_mesh(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(launcher(EXACT)) / PATH)

    code, out, _ = cli(capsys, "show", path)

    assert code == 0
    for words in (
        "  CP      8  [line 5]",
        "  default: 1 launched",
        "Launch 1: python verl.trainer.main_ppo",
        "  ACTOR\n    actor@actor_rollout_ref.actor=mlite_actor\n",
        "    8 GPUs = tp1·cp8·pp1·dp1 = etp1·ep8·pp1·edp1",
    ):
        assert words in out


def test_show_takes_the_environment(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write(launcher(EXACT)) / PATH)

    data = json.loads(cli(capsys, "show", path, "-e", "NNODES=2", "-e", "CP=4", "--format", "json")[1])

    assert data["version"] == 1
    (mesh,) = data["mesh"]
    assert (mesh["world"], mesh["derived"], mesh["legal"]) == (16, {"dp": 4, "edp": 2}, True)
    (launch,) = data["launches"]
    assert "actor_rollout_ref.actor.engine.cp=4" in launch["argv"]
    assert len(launch["argv"]) == len(launch["origins"])
    setting = next(item for item in launch["settings"] if item["key"].endswith("engine.cp"))
    assert (setting["value"], setting["group"]) == (4, "ACTOR")
    knob = next(item for item in data["knobs"] if item["name"] == "CP")
    assert (knob["default"], knob["value"], knob["line"]) == ("8", "4", 5)


def test_show_says_what_a_guard_printed(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write(launcher(EXACT)) / PATH)

    code, out, _ = cli(capsys, "show", path, "-e", "CP=16")

    assert code == 0
    assert "default: 0 launched, exit status 1\n      invalid mesh\n" in out
    assert "Launches nothing in the first scenario." in out


def test_show_of_an_endless_loop_is_1(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write({"examples/run_a_fsdp.sh": "while true; do :; done\n"}) / "examples/run_a_fsdp.sh")

    code, out, _ = cli(capsys, "show", path)

    assert code == 1
    assert "could not evaluate default: " in out


@pytest.mark.parametrize("command", ["show", "plan"])
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("notes.md", b"text", "is no shell script"),
        ("broken.sh", b"if true; then\n", "bash cannot parse"),
        ("bytes.sh", b"echo \xff\n", "not UTF-8"),
    ],
)
def test_what_cannot_be_shown_is_a_usage_error(
    write: Write, capsys: pytest.CaptureFixture[str], command: str, name: str, content: bytes, words: str
) -> None:
    path = str(write({name: content}) / name)

    code, out, err = cli(capsys, command, path)

    assert (code, out) == (2, "")
    assert words in err


def test_a_missing_script_is_a_usage_error(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write(launcher())

    assert cli(capsys, "plan", str(root / "none.sh"))[0] == 2
    assert cli(capsys, "plan", str(root))[0] == 2


def test_plan_of_a_right_launcher_is_0(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "plan", str(write(launcher(EXACT)) / PATH))

    assert code == 0
    assert "default: megatron_lite (actor), legal" in out
    assert "guard: exact (" in out


def test_plan_of_a_wrong_guard_is_1_with_the_counter_examples(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(launcher(WITHOUT_CP)) / PATH)

    code, out, _ = cli(capsys, "plan", path)
    data = json.loads(cli(capsys, "plan", path, "--format", "json")[1])

    assert code == 1
    assert "unsound: accepts CP=16: 8 GPUs cannot hold tp1·cp16·pp1 = 16" in out
    assert "too strict: rejects TP=2 CP=1: legal, dp 4, edp 1" in out
    assert "wrong dp: shows 1 for 8 with CP=1" in out
    guard = data["plans"][0]["guard"]
    assert guard["unsound"]["changed"] == {"CP": 16}
    assert guard["strict"]["changed"] == {"TP": 2, "CP": 1}
    assert [(item["size"], item["shown"], item["right"]) for item in guard["wrong_derived"]] == [("dp", 1, 8)]


def test_plan_of_an_illegal_mesh_is_1(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "plan", str(write(launcher()) / PATH), "-e", "CP=16")

    assert code == 1
    assert "NOT legal" in out
    assert "MSH001: 8 GPUs cannot hold tp1·cp16·pp1 = 16; with CP=8 it fits, dp=1" in out


def test_plan_without_a_mesh_says_so(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write({"examples/run_a_fsdp.sh": "python3 train.py\n"}) / "examples/run_a_fsdp.sh")

    code, out, _ = cli(capsys, "plan", path)

    assert code == 0
    assert "no mesh is known" in out


def test_real_bash_says_the_same(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write(launcher(EXACT)) / PATH)

    kit, bash = (
        json.loads(cli(capsys, "show", path, "--format", "json", "--engine", engine)[1])
        for engine in ("bashkit", "bash")
    )

    assert [launch["argv"] for launch in bash["launches"]] == [launch["argv"] for launch in kit["launches"]]
    assert bash["mesh"][0]["sizes"] == kit["mesh"][0]["sizes"]


def test_show_tells_the_default_behind_each_setting_and_where_it_is_written(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write(program("trainer.nnodes=2", "trainer.save_freq=-1", "+trainer.mine=3"))
    command = ["show", "--root", str(root), str(root / PROGRAM)]

    _, out, _ = cli(capsys, *command)
    assert "    trainer.nnodes=2  [default 1, app/config/train.yaml:7]\n" in out
    assert "    trainer.save_freq=-1  [default -1, app/config/train.yaml:9]\n" in out
    assert "    +trainer.mine=3\n" in out

    _, out, _ = cli(capsys, *command, "--diff-defaults")
    assert "trainer.nnodes=2" in out
    assert "+trainer.mine=3" in out
    assert "save_freq" not in out

    _, out, _ = cli(capsys, *command, "--format", "json")
    (first, second, third) = json.loads(out)["launches"][0]["settings"]
    assert (first["default"], first["default_at"]) == (1, "app/config/train.yaml:7")
    assert second["default"] == -1
    assert "default" not in third
