"""What a launcher runs: commands, environment, variables, and the ways in which evaluation can fail."""

from __future__ import annotations

import pytest

from example_sanity.launch.command import Launch
from example_sanity.launch.evaluator import evaluate, guard_runs, syntax_error, words
from example_sanity.launch.scenario import Answer, Scenario
from example_sanity.launch.syntax import parse
from helpers import Write


def launch(text: str | bytes, **circumstances: object) -> Launch:
    data = text if isinstance(text, bytes) else text.encode()
    return evaluate(parse("run.sh", data), Scenario(**circumstances))  # type: ignore[arg-type]


def argvs(result: Launch) -> list[list[str]]:
    return [list(command.argv) for command in result.commands]


@pytest.mark.parametrize(
    "text",
    ["", "\n", "# nothing\n", "echo hello\n", "X=1\nexport Y=2\n", "cd /tmp && mkdir -p a/b && ls a\n"],
)
def test_a_script_that_launches_nothing_is_no_failure(text: str) -> None:
    result = launch(text)
    assert result.failure is None
    assert result.commands == ()
    assert result.status == 0


def test_records_the_argument_vector_after_expansion() -> None:
    result = launch('TP=${TP:-2}\nARGS=(--tp "$TP" --name "a b")\npython3 -m train "${ARGS[@]}" "$@"\n')
    assert argvs(result) == [["python3", "-m", "train", "--tp", "2", "--name", "a b"]]


def test_the_scenario_sets_environment_placeholders_and_arguments() -> None:
    result = launch(
        'python "$A" "$B" "$1"', environment={"A": "1"}, placeholders={"B": "2"}, arguments=("x y",)
    )
    assert argvs(result) == [["python", "1", "2", "x y"]]


def test_a_command_has_the_exported_environment_and_nothing_of_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "x")
    result = launch("A=1\nexport B=2\nC=3 python train.py\nunset B\npython again.py\n")
    assert [command.environment for command in result.commands] == [{"B": "2", "C": "3"}, {}]


def test_variables_are_those_at_the_end() -> None:
    result = launch("TP=2\nDP=$((16 / TP))\nLIST=(a b)\nunset TP\npython x DP=9\nexit 3\nDP=1\n")
    assert result.variables == {"DP": "8"}
    assert result.status == 3


def test_variables_are_known_when_the_script_stops_in_the_middle() -> None:
    assert launch("set -eu\nA=1\nfalse\nA=2\n").variables == {"A": "1"}


def test_output_and_status() -> None:
    result = launch('echo "dp=4"\necho "wrong" >&2\nexit 2\n')
    assert (result.stdout, result.stderr, result.status) == ("dp=4\n", "wrong\n", 2)


def test_probes_answer_from_the_scenario() -> None:
    text = "D=$(python3 -c 'import torch_npu' 2>/dev/null && echo npu || echo gpu)\npython train.py $D\n"
    assert argvs(launch(text))[-1] == ["python", "train.py", "gpu"]
    npu = launch(text, probes={"python3 -c import torch_npu": Answer()})
    assert argvs(npu)[-1] == ["python", "train.py", "npu"]


def test_a_tool_exists_when_a_probe_answers_it_and_only_then() -> None:
    text = "if command -v npu-smi >/dev/null; then python npu; else python gpu; fi\n"
    assert argvs(launch(text)) == [["python", "gpu"]]
    assert argvs(launch(text, probes={"npu-smi": Answer("NPU")})) == [["python", "npu"]]
    text = "if command -v nvidia-smi >/dev/null; then python gpu; else python cpu; fi\n"
    assert argvs(launch(text)) == [["python", "gpu"]]
    assert argvs(launch(text, probes={"nvidia-smi": Answer(status=127)})) == [["python", "cpu"]]


def test_commands_with_unknown_names_are_recorded() -> None:
    result = launch('my-tool a\n/opt/x/bin/python b 2>/dev/null\n$HOME/bin/tool c\nT=./build/t\n"$T" d\n')
    assert argvs(result) == [
        ["my-tool", "a"],
        ["/opt/x/bin/python", "b"],
        ["/home/user/bin/tool", "c"],
        ["./build/t", "d"],
    ]


def test_a_text_tool_runs_by_its_absolute_path() -> None:
    text = "N=$(printf 'a\\nb\\n' | /usr/bin/grep -c a)\n/bin/mkdir -p d && python x $N $(/bin/ls)\n/usr/bin/python3 y\n"
    assert argvs(launch(text))[0][:3] == ["python", "x", "1"]
    assert argvs(launch(text))[1:] == [["/usr/bin/python3", "y"]]


def test_scripts_inside_the_project_are_followed(write: Write) -> None:
    root = write(
        {
            "run.sh": 'source "$(dirname "$0")/lib/env.sh"\nbash lib/child.sh "$A"\n./tool.py z\n',
            "lib/env.sh": 'A=${B:-"[x]"}\n',
            "lib/child.sh": 'python child.py "${1:-"[y]"}"\n',
            "tool.py": "#!/usr/bin/env python3\nprint(1)\n",
        }
    )
    (root / "tool.py").chmod(0o755)
    result = evaluate(parse("run.sh", (root / "run.sh").read_bytes()), Scenario(), root)
    assert argvs(result) == [["python", "child.py", "[x]"], ["python3", "./tool.py", "z"]]
    assert [command.site.path for command in result.commands] == ["lib/child.sh", "run.sh"]


def test_the_project_is_not_written_to(write: Write) -> None:
    root = write({"run.sh": "echo new > run.sh\necho x > other\nmkdir d\nrm -rf keep\n", "keep/a": "1"})
    result = evaluate(parse("run.sh", (root / "run.sh").read_bytes()), Scenario(), root)
    assert result.failure is None
    assert sorted(path.name for path in root.iterdir()) == ["keep", "run.sh"]
    assert (root / "run.sh").read_text().startswith("echo new")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x00\x01python", "the file is binary (a zero byte at offset 0)"),
        (b"echo \xff\n", "the file is not UTF-8 (byte 0xff at offset 5)"),
        (b'python "a\n', "line 1, column 8: unexpected EOF while looking for matching `\"'"),
        (
            b"python a\n)\npython b\n",
            "bash cannot parse the script: line 2, column 1: syntax error near unexpected token `)'",
        ),
    ],
)
def test_what_cannot_be_evaluated_says_why(data: bytes, reason: str) -> None:
    result = launch(data)
    assert result.failure is not None
    assert reason in result.failure
    assert not result.limit


@pytest.mark.parametrize(
    "text",
    [
        "while true; do :; done",
        "until python x --ready-never || false; do python y; done; while :; do python z; done",
        ":(){ :|:& };:",
        "f() { f; }; f",
        "(while :; do :; done) & wait",
        "x=a; while :; do x=$x$x; done",
        "for i in {1..20000}; do python $i; done",
        "head -c 100000000 /dev/zero | tr '\\0' x",
        "seq 1 10000000",
    ],
)
def test_a_limit_is_a_failure_of_its_own(text: str) -> None:
    result = launch(text)
    assert result.limit
    assert result.failure


def test_an_engine_must_exist() -> None:
    with pytest.raises(ValueError, match="unknown engine 'zsh': expected 'bashkit' or 'bash'"):
        evaluate(parse("run.sh", b""), Scenario(), engine="zsh")


@pytest.mark.parametrize("text", ["", "echo ok\n", 'X=${V:-{"a": "b"\\}}\n', "case x in a) b ;; esac\n"])
def test_valid_scripts_have_no_syntax_error(text: str) -> None:
    assert syntax_error(parse("run.sh", text.encode())) is None


def test_a_syntax_error_has_its_line() -> None:
    assert syntax_error(parse("run.sh", b"echo a\nif true; then\n")) == (
        "line 3, column 1: syntax error: unexpected end of file"
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("new\nline.sh", "the sandbox refuses the file: io error: unsafe character"),
        ("run_\udcff.sh", "the sandbox takes only names that are UTF-8"),
    ],
)
def test_a_name_that_the_sandbox_refuses_is_a_failure(name: str, reason: str) -> None:
    script = parse(name, b"python3 train.py\n")
    result = evaluate(script, Scenario())
    assert result.failure is not None
    assert result.failure.startswith(reason)
    assert result.commands == ()
    assert guard_runs(script, 0, [{}, {}], [], None, Scenario()) == [None, None]


def test_the_words_alone_are_those_of_the_whole_evaluation() -> None:
    script = parse("run.sh", b'A=(x "y z")\npip install q\npython -m train "${A[@]}" $(git describe)\n')
    for unknown in ("", "7\n"):
        whole = evaluate(script, Scenario(), unknown=unknown)
        assert words(script, Scenario(), None, unknown=unknown) == [c.argv for c in whole.commands]


@pytest.mark.parametrize("data", [b"python a.py\nif\n", b"a\0b", b"while :; do :; done\n"])
def test_no_words_where_nothing_may_be_concluded(data: bytes) -> None:
    assert words(parse("run.sh", data), Scenario(), None) is None


def test_a_command_in_a_variable_is_no_script_of_the_same_name(write: Write) -> None:
    root = write({"tool": "python inside\n", "lib/tool": "python inside\n"})
    text = 'RUN="tool run"\n$RUN\nRUN="bash lib/tool"\n$RUN\nRUN=tool\nbash $RUN\n'
    found = evaluate(parse("run.sh", text.encode()), Scenario(), root)
    assert argvs(found) == [["tool", "run"], ["python", "inside"], ["python", "inside"]]
    assert [command.site.span.line for command in found.commands] == [2, 4, 1]
