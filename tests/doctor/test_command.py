"""The command: exit codes, text, JSON, and launchers with their modules, folders and GPUs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doctor.site import install, site, virtual_environment
from example_sanity.doctor import gpus as machine
from example_sanity.doctor.gpus import Gpus
from helpers import Write, cli
from mesh import launchers
from mesh.launchers import EXACT, PATH


def launcher(guard: str = EXACT) -> dict[str, str]:
    """The files of a project with one launcher, and a configuration that marks its root."""
    return {**launchers.launcher(guard), "example-sanity.toml": ""}


@pytest.fixture(autouse=True)
def eight_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine of the tests has eight GPUs, unless a test says otherwise."""
    set_gpus(monkeypatch, Gpus(("NVIDIA H100",) * 8))


def set_gpus(monkeypatch: pytest.MonkeyPatch, gpus: Gpus) -> None:
    monkeypatch.setattr(machine, "visible", lambda: gpus)


@pytest.fixture
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with verl, outside the project."""
    folder = virtual_environment(tmp_path_factory.mktemp("environment"))
    install(site(folder), "verl", "0.7.1", files=["verl/__init__.py", "verl/trainer/main_ppo.py"])
    return folder


def run(capsys: pytest.CaptureFixture[str], venv: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out, err = cli(capsys, "doctor", "--python", str(venv), "--format", "json", *arguments)
    assert err == ""
    data: dict[str, Any] = json.loads(out)
    return code, data


def kinds(data: dict[str, Any]) -> list[str]:
    return [f"{item['kind']} {item['name']}" for item in data["mismatches"]]


def test_a_right_environment_is_0(write: Write, capsys: pytest.CaptureFixture[str], venv: Path) -> None:
    root = write({**launcher(), "requirements.txt": "verl>=0.7\n"})
    code, data = run(capsys, venv, str(root / PATH))

    assert (code, data["mismatches"], data["notes"], data["problems"]) == (0, [], [], [])
    assert (data["version"], data["path"], data["starts"]) == (1, PATH, ["verl.trainer.main_ppo"])
    assert data["gpus"] == "8 GPUs visible (NVIDIA H100); the launcher wants 8 GPUs"
    assert data["python"]["version"] == "3.12.4"
    (row,) = data["requirements"]
    assert (row["name"], row["installed"], row["status"]) == ("verl", "0.7.1", "ok")
    assert row["asked"][0]["path"] == "requirements.txt"


def test_a_repository_without_a_script(write: Write, capsys: pytest.CaptureFixture[str], venv: Path) -> None:
    root = write({"requirements.txt": "verl>=0.8\n", **launcher()})
    code, data = run(capsys, venv, "--root", str(root))

    assert (code, kinds(data)) == (1, ["outside verl"])
    assert (data["path"], data["gpus"], data["starts"]) == (None, None, [])


def test_the_report_for_people(write: Write, capsys: pytest.CaptureFixture[str], venv: Path) -> None:
    files = {
        "example-sanity.toml": "",
        PATH: "#!/usr/bin/env bash\n# requires verl>=0.8\n" + launcher()[PATH].partition("\n")[2],
        "requirements.txt": "ray[default]\nverl\n",
        "requirements-npu.txt": "torch-npu\n",
    }
    root = write(files)
    code, out, _ = cli(capsys, "doctor", str(root / PATH), "--python", str(venv))

    assert code == 1
    assert (
        out
        == f"""\
{PATH} and its repository against Python 3.12.4 in {venv} (1 distribution)

status   distribution  installed  asked for  where
missing  ray           -          [default]  requirements.txt:1
outside  verl          0.7.1      >=0.8      requirements.txt:2, {PATH}:2

8 GPUs visible (NVIDIA H100); the launcher wants 8 GPUs.

missing: ray is not installed
  = requirements.txt:1: ray[default]
  = fix: pip install 'ray[default]'

outside: verl 0.7.1 is installed, outside >=0.8
  = {PATH}:2: requires verl>=0.8
  = fix: pip install 'verl>=0.8'

Not held to (name one with --with):
  requirements: requirements-npu.txt

2 mismatches: 2 distributions asked for
"""
    )


def test_all_that_is_missing_is_one_line(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path
) -> None:
    root = write({"requirements.txt": "a>=1\nb\n"})
    _, out, _ = cli(capsys, "doctor", "--root", str(root), "--python", str(venv))

    assert "missing: 2 distributions are not installed: a, b\n  = fix: pip install 'a>=1' b\n" in out


def test_colour(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    root = write({"requirements.txt": "verl\n"})
    _, out, _ = cli(capsys, "doctor", "--root", str(root), "--python", str(venv))

    assert "\x1b[32mok\x1b[0m      verl" in out
    assert "\x1b[32mNo mismatch: 1 distribution asked for\x1b[0m" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.sh"], "no such file or folder: none.sh"),
        (["requirements.txt"], "is no shell script"),
        (["--with", "x"], "--with x: no extra, group or file that asks for anything"),
        (["--python", "nowhere"], "nowhere"),
        (["--python", "."], "no site-packages belong to it"),
    ],
)
def test_usage_errors_are_2(
    write: Write,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(write({"requirements.txt": "verl\n"}))
    code, out, err = cli(capsys, "doctor", *arguments)

    assert (code, out) == (2, "")
    assert words in err


def test_a_script_that_cannot_be_evaluated_is_said(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path
) -> None:
    code, data = run(capsys, venv, str(write({"run.sh": "while true; do :; done\n"}) / "run.sh"))

    assert (code, data["starts"]) == (1, [])
    assert data["problems"] != []


def test_an_extra_that_the_launch_names(write: Write, capsys: pytest.CaptureFixture[str], venv: Path) -> None:
    table = (
        '[project]\nname = "p"\n[project.optional-dependencies]\nvllm = ["vllm>=0.8"]\nsglang = ["sglang"]\n'
    )
    script = "python -m verl.trainer.main_ppo rollout.name=${ENGINE:-vllm}\n"
    root = write({"pyproject.toml": table, "run.sh": script})

    assert kinds(run(capsys, venv, str(root / "run.sh"))[1]) == ["missing vllm"]
    assert kinds(run(capsys, venv, str(root / "run.sh"), "-e", "ENGINE=sglang")[1]) == ["missing sglang"]
    assert kinds(run(capsys, venv, str(root / "run.sh"), "-e", "ENGINE=hf", "--with", "vllm")[1]) == [
        "missing vllm"
    ]


def test_a_module_that_the_distribution_lacks(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path
) -> None:
    install(site(venv), "megatron-core", "0.16.0", files=["megatron/core/__init__.py"])
    root = write(
        {"run.sh": "python -m megatron.training.pretrain\npython -m gone.main\npython -m megatron.core\n"}
    )
    code, data = run(capsys, venv, str(root / "run.sh"))

    assert code == 1
    assert [item["message"] for item in data["mismatches"]] == [
        f"megatron.training.pretrain cannot be found: megatron is {site(venv)}/megatron, and has no such module",
        "gone.main cannot be found: no gone in the current folder, PYTHONPATH or the environment",
    ]
    assert [item["places"][0]["line"] for item in data["mismatches"]] == [1, 2]


def test_a_module_of_a_regular_package_names_its_distribution(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path
) -> None:
    root = write({"run.sh": "python -m verl.trainer.main_sft\n"})
    (item,) = run(capsys, venv, str(root / "run.sh"))[1]["mismatches"]

    assert "(verl 0.7.1), and has no such module" in item["message"]


def test_a_launcher_that_changes_its_folder_is_not_judged(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path
) -> None:
    root = write({"run.sh": "cd /src/other\npython -m gone.main\n"})
    code, data = run(capsys, venv, str(root / "run.sh"))

    assert (code, kinds(data)) == (0, [])
    assert "the launcher changes its folder" in data["notes"][0]["message"]


def test_a_checkout_hides_what_is_installed(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path
) -> None:
    files = {"verl/__init__.py": "", "verl/trainer/main_ppo.py": "", **launcher()}
    root = write(files)
    (item,) = run(capsys, venv, str(root / PATH))[1]["mismatches"]

    assert item["message"] == (
        f"verl comes from {root}/verl (the folder it starts in), which hides verl 0.7.1 in {site(venv)}"
    )
    assert item["fix"] == f"pip install -e {root}, or pip uninstall verl"


def test_a_folder_of_data_hides_nothing(write: Write, capsys: pytest.CaptureFixture[str], venv: Path) -> None:
    install(site(venv), "wandb", "0.19")
    files = {
        "run.sh": "python -m verl.trainer.main_ppo\n",
        "wandb/run-1/log.txt": "",
        "requirements.txt": "wandb\n",
    }

    assert run(capsys, venv, str(write(files) / "run.sh"))[0] == 0


def test_an_editable_installation_of_the_checkout_is_right(
    write: Write, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = write({"verl/__init__.py": "", "verl/trainer/main_ppo.py": "", **launcher()})
    folder = virtual_environment(tmp_path_factory.mktemp("editable"))
    install(site(folder), "verl", "0.8", files=["__editable__.verl-0.8.pth"])
    (site(folder) / "__editable__.verl-0.8.pth").write_text(f"{root}\n")

    assert run(capsys, folder, str(root / PATH))[0] == 0


def test_pythonpath_hides_what_is_asked_for(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path
) -> None:
    script = "export PYTHONPATH=$(pwd)/third_party\npython -m verl.trainer.main_ppo\n"
    root = write({"run.sh": script, "third_party/ray/__init__.py": "", "requirements.txt": "ray\n"})
    install(site(venv), "ray", "2.44")
    (item,) = run(capsys, venv, str(root / "run.sh"))[1]["mismatches"]

    assert (
        item["message"]
        == f"ray comes from {root}/third_party/ray (PYTHONPATH), which hides ray 2.44 in {site(venv)}"
    )


def test_folders_of_pythonpath(write: Write, capsys: pytest.CaptureFixture[str], venv: Path) -> None:
    script = (
        'LITE_ROOT=${LITE_ROOT:-/src/lite}\nexport PYTHONPATH="$LITE_ROOT/a:$LITE_ROOT:lib:${MODELS:?}/b:"\n'
        "python -m verl.trainer.main_ppo\n"
    )
    root = write({"run.sh": script, "lib/x.py": ""})
    data = run(capsys, venv, str(root / "run.sh"))[1]

    (item,) = data["mismatches"]
    assert item["message"] == "PYTHONPATH holds /src/lite/a, /src/lite, and there is no such folder"
    assert item["fix"] == "set LITE_ROOT to a folder that exists"
    assert ["depends on a variable" in note["message"] for note in data["notes"]] == [True]
    (root / "lite/a").mkdir(parents=True)
    arguments = ["-e", f"LITE_ROOT={root}/lite", "-e", f"MODELS={root}"]
    assert [
        item["message"] for item in run(capsys, venv, str(root / "run.sh"), *arguments)[1]["mismatches"]
    ] == [f"PYTHONPATH holds {root}/b, and there is no such folder"]


def test_pythonpath_that_ray_gives_its_workers(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path
) -> None:
    script = """ray job submit --runtime-env-json='{"env_vars": {"PYTHONPATH": "/src/gone"}}' -- python3 train.py\n"""
    (item,) = run(capsys, venv, str(write({"run.sh": script}) / "run.sh"))[1]["mismatches"]

    assert item["message"] == "PYTHONPATH holds /src/gone, and there is no such folder"


def test_what_two_distributions_provide(write: Write, capsys: pytest.CaptureFixture[str], venv: Path) -> None:
    for name in ("opencv-python", "opencv-python-headless", "unrelated-a", "unrelated-b"):
        package = "cv2" if "opencv" in name else "unrelated"
        install(
            site(venv),
            name,
            "4.10",
            files=[f"{package}/__init__.py", "tests/__init__.py", f"nvidia/{name}/__init__.py"],
        )
    root = write({"requirements.txt": "opencv-python\nverl\n"})
    (item,) = run(capsys, venv, "--root", str(root))[1]["mismatches"]

    assert item["message"].startswith("cv2 is provided by more than one distribution: opencv-python 4.10 (")


def test_what_is_installed_twice(write: Write, capsys: pytest.CaptureFixture[str], venv: Path) -> None:
    install(site(venv), "verl", "0.6.0", files=["verl/__init__.py"])
    root = write({"requirements.txt": "verl\n"})
    (item,) = run(capsys, venv, "--root", str(root))[1]["mismatches"]

    assert item["message"].startswith("verl is installed more than once: verl 0.6.0 (")


@pytest.mark.parametrize(
    ("gpus", "arguments", "code", "words"),
    [
        (
            Gpus(problem="no nvidia-smi on this machine"),
            [],
            0,
            "no GPU is visible (no nvidia-smi on this machine); the launcher wants 8 GPUs",
        ),
        (
            Gpus(("H100",) * 8),
            ["-e", "NNODES=4"],
            0,
            "8 GPUs visible (H100); the launcher wants 32 GPUs (4 nodes of 8)",
        ),
        (
            Gpus(("H100",) * 4, 4),
            [],
            1,
            "4 GPUs visible (H100), 4 more hidden by CUDA_VISIBLE_DEVICES; the launcher wants 8 GPUs",
        ),
    ],
)
def test_gpus_against_the_mesh(
    write: Write,
    capsys: pytest.CaptureFixture[str],
    venv: Path,
    monkeypatch: pytest.MonkeyPatch,
    gpus: Gpus,
    arguments: list[str],
    code: int,
    words: str,
) -> None:
    set_gpus(monkeypatch, gpus)
    got, data = run(capsys, venv, str(write(launcher()) / PATH), *arguments)

    assert (got, data["gpus"]) == (code, words)
    assert kinds(data) == ["gpus gpus"] * code


def test_a_launcher_that_counts_the_gpus_itself_is_not_judged(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_gpus(monkeypatch, Gpus(("H100",) * 2))
    root = write({PATH: "nvidia-smi -L\n" + launcher()[PATH]})

    assert (
        run(capsys, venv, str(root / PATH))[1]["gpus"]
        == "2 GPUs visible (H100); the launcher asks nvidia-smi how many there are"
    )


def test_a_launcher_without_a_mesh(write: Write, capsys: pytest.CaptureFixture[str], venv: Path) -> None:
    root = write({"run.sh": "python -m verl.trainer.main_ppo\n"})

    assert run(capsys, venv, str(root / "run.sh"))[1]["gpus"].endswith(
        "how many the launcher wants is not known"
    )


def test_nothing_of_the_project_or_the_environment_runs(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path, tmp_path: Path
) -> None:
    trap = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    (site(venv) / "verl/__init__.py").write_text(trap)
    (site(venv) / "trap.pth").write_text(trap)
    root = write(
        {
            "setup.py": trap + "setup(install_requires=['verl'])\n",
            "run.sh": f"touch {tmp_path}/ran\npython -m verl.trainer.main_ppo\n",
        }
    )
    run(capsys, venv, str(root / "run.sh"))

    assert not (tmp_path / "ran").exists()


def test_pins_of_images_and_submodules_are_listed(
    write: Write, capsys: pytest.CaptureFixture[str], venv: Path
) -> None:
    pinned = "1dcf0dafa884ad52ffb243625717a3471643e087"
    image = f"FROM scratch\nARG MEGATRON_COMMIT={pinned}\nARG SLIME_COMMIT=main\n"
    root = write({**launcher(), "requirements.txt": "verl==0.7.1\n", "docker/Dockerfile": image})

    code, data = run(capsys, venv, str(root / PATH))
    text = cli(capsys, "doctor", "--python", str(venv), str(root / PATH))[1]

    assert code == 0
    assert data["pins"] == [
        {"package": "verl", "reference": "0.7.1", "at": "requirements.txt:1"},
        {"package": "megatron", "reference": pinned, "at": "docker/Dockerfile:2"},
    ]
    head, _, below = text.partition("Pinned besides")
    assert "verl" in head
    assert below.split("\n")[1] == f"  megatron {pinned} (docker/Dockerfile:2)"
    assert "verl" not in below.split("\n\n")[0].split("\n", 1)[1]
