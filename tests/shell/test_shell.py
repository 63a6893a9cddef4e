"""The family ``shell``: silent cases first, then what it finds, where, and how it repairs it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from example_sanity import Finding, check
from example_sanity.checks.shell import shellcheck
from example_sanity.checks.shell.shellcheck_codes import ADVICE, DEFECTS
from example_sanity.core.errors import UsageError
from example_sanity.launch import explore

if TYPE_CHECKING:
    from example_sanity.launch.command import Launch

SCRIPT = "examples/ppo/run_qwen3_8b_fsdp.sh"


def found(
    tmp_path: Path, text: str | bytes, *, config: str = "", select: tuple[str, ...] = ("shell",)
) -> list[Finding]:
    """What the family says of one script."""
    path = tmp_path / SCRIPT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if config:
        (tmp_path / "example-sanity.toml").write_text(config)
    return list(check(tmp_path, root=tmp_path, select=list(select)).findings)


def brief(findings: list[Finding]) -> list[tuple[str, int, int]]:
    return [(item.code, item.span.line, item.span.column) for item in findings]


SILENT = {
    "a long command": 'python3 train.py \\\n    --a 1 \\\n    --b 2 \\\n    "$@"\n',
    "a comment behind the last argument": "python3 train.py \\\n    --a 1 \\\n    # --b 2 \\\n\necho done\n",
    "a backslash and a space in a comment": "# usage: run.sh \\ \n#    --a 1\npython3 train.py\n",
    "a backslash and a space in a here-document": "cat <<'E'\na \\ \nE\npython3 train.py\n",
    "an escaped backslash": "printf '%s' a\\\\ \npython3 train.py\n",
    "a list that is a command, below another command": 'CMD=(python3 train.py)\nset +e\n"${CMD[@]}"\n',
    "options in an array with comments": 'A=(\n    --a 1\n    # --b 2\n    --c 3\n)\npython3 train.py "${A[@]}"\n',
    "options of a case": "case $1 in\n    -h | --help) echo usage ;;\nesac\npython3 train.py\n",
    "text in other alphabets": "echo '\u4e2d\u6587 \u2013 \u201cquoted\u201d'\npython3 train.py # \u2018so\u2019\n",
    "a variable that the script reads": 'export NCCL_DEBUGS=1\necho "$NCCL_DEBUGS"\npython3 train.py\n',
    "an override in capitals behind an option": "python3 train.py --env NCCL_DEBUG=INFO\n",
    "quotes for Hydra": "python3 -m verl.trainer.main_ppo \"trainer.logger='console'\"\n",
    "a file that is tested for": "[ -f extra.sh ] && source extra.sh\npython3 train.py\n",
    "strictness is not asked for": "python3 prepare.py\npython3 train.py $1\n",
    "a comment that names a file": "# /opt/app/reward.py\npython3 train.py\n",
    "a variable emptied for one command": "PIP_INDEX_URL= pip install app\npython3 train.py\n",
    "a sourced file of the PATH": "source activateMine.sh\npython3 train.py\n",
    "quotes for a shell behind": "python3 submit.py -- cd \\$HOME \\&\\& run --stop '\"</a>\"'\n",
    "a text for a shell behind": 'RUN=\'python3 train.py --a "$RECIPE"\'\nsrun bash -c "$RUN"\n',
    "a negative status": "python3 train.py || exit -1\n",
    "a redirection": "python3 train.py <input.txt >output.txt\npython3 train.py <in.txt 2> err\n",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT.keys())
def test_silent(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []


LOUD = {
    "space": ("python3 train.py \\  \n    --a 1\n", [("SHL001", 1, 18)]),
    "space in a string": ('A="--a 1 \\ \n--b 2"\npython3 train.py "$A"\n', [("SHL001", 1, 10)]),
    "comment": ("python3 train.py \\\n    --a 1 \\\n    # --b 2 \\\n    --c 3\n", [("SHL002", 3, 5)]),
    "comment before the arguments": ('python3 train.py \\\n    # all\n    "$@"\n', [("SHL002", 2, 5)]),
    "empty line": ("python3 train.py \\\n    a.b=1 \\\n\n    a.c=2\n", [("SHL002", 3, 1), ("SC2276", 4, 5)]),
    "no backslash": ("python3 train.py \\\n    --a 1\n    --b 2 \\\n    --c 3\n", [("SHL003", 3, 5)]),
    "no backslash before a list": ("python3 train.py \\\n    --a 1\n    ${ARGS[@]}\n", [("SHL003", 3, 5)]),
    "no-break space": ("python3 train.py\u00a0--a 1\n", [("SHL004", 1, 17)]),
    "curly quotes": ("python3 train.py --name \u201crun\u201d\n", [("SHL004", 1, 25), ("SHL004", 1, 29)]),
    "assignment behind": ("torchrun train.py --a 1 NPROC_PER_NODE=8\n", [("SHL005", 1, 25)]),
    "quotes that stay": ("S=\"'99,1,0'\"\npython3 train.py --split $S\n", [("SHL006", 2, 26)]),
    "directive below a command": (
        "#!/bin/bash\nset -e\n#SBATCH -N 2\nsrun python3 train.py\n",
        [("SHL008", 3, 1)],
    ),
    "sourced file": ("source lib/env.sh\npython3 train.py\n", [("SHL009", 1, 8)]),
    "emptied instead of set": ("LR= 1 2\npython3 train.py\n", [("SC1007", 1, 4)]),
    "retired": ("export VLLM_USE_V1=1\npython3 train.py\n", [("SHL012", 1, 8)]),
    "misspelt": ("export PYTHONBUFFERED=1\npython3 train.py\n", [("SHL013", 1, 8)]),
    "connections": (
        "export CUDA_DEVICE_MAX_CONNECTIONS=1\npython3 -m verl.trainer.main_ppo model_engine=fsdp2\n",
        [("SHL014", 1, 8)],
    ),
    "placeholder": ("python3 train.py --data <path/to/data> --a 1\n", [("SHL016", 1, 25)]),
    "split value": ("python3 train.py --mix a:1;b:2\n", [("SHL017", 1, 27)]),
    "a placeholder that bash stumbles over, below one that it takes": (
        "python3 train.py --port <port>\npython3 train.py --host <a_b> <c_d>\n",
        [("SYS003", 1, 31)],
    ),
    "a status that is none": ("python3 train.py || exit failed\n", [("SC2242", 1, 26)]),
    "a broken first line": ("#/bin/bash\npython3 train.py\n", [("SC1113", 1, 2)]),
    "shellcheck": ("LR = 1\npython3 train.py $LR\n", [("SC2283", 1, 4)]),
}


@pytest.mark.parametrize(("text", "expected"), LOUD.values(), ids=LOUD.keys())
def test_found(tmp_path: Path, text: str, expected: list[tuple[str, int, int]]) -> None:
    assert brief(found(tmp_path, text)) == expected


def test_a_placeholder_that_bash_stumbles_over_is_named(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "python3 train.py --port <node1 port>\n")
    assert finding.message.startswith(
        "bash cannot parse the script: it reads <node1 port> as redirections, and the second has no file"
    )


def test_the_message_names_what_gets_lost(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "python3 train.py \\\n    --a 1 \\\n    # --b 2 \\\n    --c 3\n")

    assert finding.message == (
        "the comment ends the command of line 2, so line 4 (--c 3) is no argument of it; move it above the command"
    )


def test_crlf_in_some_lines_is_one_finding_with_a_safe_fix(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, b"#!/bin/bash\npython3 train.py --a 1\r\necho a\r\necho b\necho c\n")

    assert finding.code == "SHL004"
    assert finding.message.startswith("line 2, and 1 more ends in a carriage return")
    assert finding.fix is not None
    assert finding.fix.safe
    assert len(finding.fix.edits) == 2


def test_the_fix_of_a_space_is_safe(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "python3 train.py \\ \n    --a 1\n")

    assert finding.fix is not None
    assert finding.fix.safe
    assert finding.fix.edits[0].text == ""


GATE = """
[[shell.gate]]
command = "uv"
when = ["DEVICE=gpu", "USE_UV!=0"]
never = ["**/npu/**"]
reason = "the lock file knows CUDA alone"
"""
GATED = {
    "if": 'if [ "${USE_UV:-1}" != 0 ] && [ "${DEVICE:-gpu}" = gpu ]; then\n    L=(uv run python3)\nfi\n',
    "two lines": 'if [ "$USE_UV" != 0 ] &&\n    [[ $DEVICE == gpu ]]; then\n    uv run python3 a.py\nfi\n',
    "else": 'if [ "$USE_UV" = 0 ]; then\n    :\nelse\n    case "$DEVICE" in\n        gpu) uv sync ;;\n    esac\nfi\n',
    "and": '[ "$DEVICE" = gpu ] && [ "$USE_UV" != 0 ] && uv sync\n',
    "and a group": '[ "$DEVICE" = gpu ] && [ "$USE_UV" != 0 ] && { [ "$B" = x ] || [ "$B" = y ]; } && uv sync\n',
    "message": 'echo "please uv run this"\n# uv run python3\n',
}
UNGATED = {
    "plain": "uv run python3 a.py\n",
    "path": "/usr/bin/uv --directory x run python3 a.py\n",
    "uvx": "uvx run tool\n",
    "array": "L=(uv run python3)\n",
    "string": 'R=(key.py_executable="uv -v run python3")\n',
    "one condition": 'if [ "$DEVICE" = gpu ]; then\n    uv sync\nfi\n',
    "inverted": 'if [ "$USE_UV" != 0 ] && [ "$DEVICE" != gpu ]; then\n    uv sync\nfi\n',
    "or": 'if [ "$USE_UV" != 0 ] || [ "$DEVICE" = gpu ]; then\n    uv sync\nfi\n',
    "else": 'if [ "$USE_UV" != 0 ] && [ "$DEVICE" = gpu ]; then\n    :\nelse\n    uv sync\nfi\n',
    "behind": 'if [ "$USE_UV" != 0 ] && [ "$DEVICE" = gpu ]; then\n    :\nfi; uv sync\n',
}


@pytest.mark.parametrize("text", GATED.values(), ids=GATED.keys())
def test_a_guarded_program_is_silent(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text + "python3 train.py\n", config=GATE, select=("SHL010",)) == []


@pytest.mark.parametrize("text", UNGATED.values(), ids=UNGATED.keys())
def test_an_unguarded_program_is_found(tmp_path: Path, text: str) -> None:
    (finding,) = found(tmp_path, text + "python3 train.py\n", config=GATE, select=("SHL010",))

    assert "the lock file knows CUDA alone" in finding.message


def test_a_variable_that_ray_does_not_forward(tmp_path: Path) -> None:
    job = 'ray job submit --runtime-env-json=\'{"env_vars": {"A": "1"}}\' -- python3 train.py\n'

    (finding,) = found(tmp_path, f"export NCCL_DEBUG=INFO\nexport RUN=1\n{job}")
    assert (finding.code, finding.span.line) == ("SHL011", 1)
    assert "lists A" in finding.message
    assert found(tmp_path, f"export NCCL_DEBUG=INFO\nray start --head\n{job}") == []
    (late,) = found(tmp_path, f"ray start --head\nexport NCCL_DEBUG=INFO\n{job}")
    assert late.code == "SHL011"


@pytest.mark.parametrize("row", [*DEFECTS, *ADVICE], ids=lambda row: row.code)
def test_every_code_is_what_shellcheck_says(tmp_path: Path, row: object) -> None:
    code = row.code  # type: ignore[attr-defined]
    outputs = shellcheck.run([row.bad.encode(), row.good.encode()], b"")  # type: ignore[attr-defined]

    assert code in {f"SC{item['code']}" for item in outputs[0]}
    assert code not in {f"SC{item['code']}" for item in outputs[1]}


def test_advice_is_off_until_it_is_asked_for(tmp_path: Path) -> None:
    text = "python3 train.py $1\n"

    assert found(tmp_path, text) == []
    assert brief(found(tmp_path, text, select=("SC2086",))) == [("SC2086", 1, 18)]
    assert brief(found(tmp_path, text, config="[shell]\nalso = ['unquoted-variable']\n")) == [
        ("SC2086", 1, 18)
    ]


def test_shellchecks_own_comments_and_configuration_hold(tmp_path: Path) -> None:
    assert found(tmp_path, "# shellcheck disable=SC2283\nLR = 1\npython3 train.py\n") == []
    (tmp_path / ".shellcheckrc").write_text("disable=SC2283\n")
    assert found(tmp_path, "LR = 1\npython3 train.py\n") == []


def test_an_unknown_word_in_also_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        Exception, match=r"shell.also: unknown rule 'not-strikt' \(did you mean 'not-strict'\?\)"
    ):
        found(tmp_path, "python3 train.py\n", config="[shell]\nalso = ['not-strikt']\n")


def test_shellcheck_is_asked_once_and_before_scripts_are_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, batches = threading.Event(), []
    run, launches = shellcheck.run, explore.launches

    def noting(scripts: list[bytes], rules: bytes) -> list[list[dict[str, object]]]:
        batches.append(scripts)
        asked.set()
        return run(scripts, rules)

    def waiting(*given: Any) -> tuple[Launch, ...]:
        assert asked.wait(60)
        return launches(*given)

    monkeypatch.setattr(shellcheck, "run", noting)
    monkeypatch.setattr(explore, "launches", waiting)
    (tmp_path / "a.sh").write_text("LR = 2\npython3 train.py\n")

    assert [item.code for item in found(tmp_path, "LR = 1\npython3 train.py\n")] == ["SC2283", "SC2283"]
    assert batches == [[b"LR = 2\npython3 train.py\n", b"LR = 1\npython3 train.py\n"]]


def test_what_shellcheck_was_asked_in_vain_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script does not parse, so no rule wants the answer."""
    monkeypatch.setattr(shellcheck, "executable", lambda: "/bin/false")

    assert [item.code for item in found(tmp_path, "if true; then\n")] == ["SYS003"]


def test_a_shellcheck_that_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shellcheck, "executable", lambda: "/bin/ls")

    with pytest.raises(UsageError, match="shellcheck failed: "):
        found(tmp_path, "python3 train.py\n")
