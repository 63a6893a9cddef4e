"""The text that the sandbox reads: what is rewritten, how, and that the rest stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_sanity.launch.evaluator import evaluate
from example_sanity.launch.normalise import normalise
from example_sanity.launch.scenario import Scenario
from example_sanity.launch.syntax import parse


def rewritten(text: str) -> str:
    return normalise(text, "0", False).text


UNTOUCHED = [
    "",
    "A=1\n",
    "A=${A:-1}\nB=${B:-$A/b}\nC=${C:-$(date +%s)}\n",
    'A="${A:-plain text}"\n',
    '# A=${A:-"x"}\necho \'${A:-"x"}\'\n',
    "cat <<'EOF'\n${A:-\"x\"}\nEOF\n",
    'echo "\\${A:-\\"x\\"}"\n',
    'for ((i = ${A:-"0"}; i < 3; i++)); do :; done\n',
    'case x in ${A:-"x"}) ;; esac\n',
    '[[ $A == ${B:-"x*"} ]]\n',
    'echo "$?" ${A:-"x"}\n',
    'f ${@:-"x y"} ${A[@]:-"z"} ${A:?"message"} ${A/"b"/c} ${A#"b"}\n',
    "set -u\nA=${A:-$HOME/x}\n",
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_stays_as_it_is(text: str) -> None:
    assert rewritten(text) == text


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('A=${A:-"[0]"}', 'if [[ -n "${A:-}" ]]; then A=${A}; else A="[0]"; fi'),
        ('A=${A-"x"}', 'if [[ -n "${A+x}" ]]; then A=${A}; else A="x"; fi'),
        ('A=${B:+"x"}', 'if [[ -n "${B:-}" ]]; then A="x"; else A=; fi'),
        ('A="pre${B:-"x y"}post"', 'if [[ -n "${B:-}" ]]; then A="pre${B}post"; else A="prex ypost"; fi'),
        (
            'f ${A:-"a" b}',
            'if [[ -n "${A:-}" ]]; then __es_h1=(${A}); else __es_h1=("a" b); fi; f "${__es_h1[@]}"',
        ),
        (
            'f "${A:-"a b"}"',
            'if [[ -n "${A:-}" ]]; then __es_h1=${A}; else __es_h1="a b"; fi; f "${__es_h1}"',
        ),
        (': "${A:="x y"}"', 'if ! [[ -n "${A:-}" ]]; then A="x y"; fi; : "${A}"'),
        (
            'x && f ${A:-"a"}',
            'x && { if [[ -n "${A:-}" ]]; then __es_h1=(${A}); else __es_h1=("a"); fi; f "${__es_h1[@]}"; }',
        ),
        (
            'export A=${A:-$(f "x")}',
            'if [[ -n "${A:-}" ]]; then __es_h1=${A}; else __es_h1=$(f "x") || :; fi; export A=${__es_h1}',
        ),
        ("set -u\nA=${B:-$C}", 'set -u\nif [[ -n "${B:-}" ]]; then A=${B}; else A=$C; fi'),
        ("set -u\nf ${A[0]}", "set -u\nf ${A[0]?}"),
        ("f {1..10001} {1..3}", "f $(__es_limit 10001) {1..3}"),
        ("f a \\\n", "f a \n"),
        ("f a \\", "f a \n"),
    ],
)
def test_is_rewritten(text: str, result: str) -> None:
    assert rewritten(text) == result


def test_arguments_before_a_here_document_stay_in_their_command() -> None:
    text = "true && f - k=${A:-\"[a]\"} <<'PY' || g\nprint(1)\nPY\n"
    assert rewritten(text) == text
    text = "f - k=${A:-\"[a]\"} <<'PY'\nprint(1)\nPY\n"
    assert rewritten(text).endswith("; f - \"${__es_h1[@]}\" <<'PY'\nprint(1)\nPY\n")


def test_a_command_carries_its_offset_and_time_stays_a_keyword() -> None:
    text = normalise("python a\nif x; then y=1 $CMD b; fi\ntime -p python c\ncd d && ls\n", "3").text
    assert text == (
        "__es_at=3:0 python a\nif __es_at=3:12 x; then __es_prepare $CMD direct || :; __es_at=3:20 y=1 $CMD b; fi\n"
        "time -p __es_at=3:43 python c\ncd d && ls\n"
    )


def test_arithmetic_is_no_command() -> None:
    for text in ("A=${A:-$((b + c))}\n", "A=$(( (b + c) * d ))\n", "(( a > 0 ))\n", "A=$((b+(c)))\n"):
        assert normalise(text, "0").text == text


def test_script_files_are_prepared_before_they_run() -> None:
    text = normalise('source "$D/env.sh"\nnohup bash -x run.sh a &\n./tool b\nbash -c "x y"\n', "0").text
    lines = text.split("\n")
    assert lines[0] == '__es_prepare "$D/env.sh" || :; __es_at=0:0 source "$D/env.sh"'
    assert lines[1].startswith("__es_prepare run.sh || :; ")
    assert lines[2].startswith("__es_prepare ./tool direct || :; ")
    assert "prepare" not in lines[3]


def test_a_word_that_runs_a_command_is_not_evaluated_twice() -> None:
    assert "prepare" not in normalise('source "$(python where.py)"\n', "0").text
    assert "prepare" in normalise('source "$(dirname "$0")/env.sh"\n', "0").text


def test_names_are_those_of_commands_that_bash_has_not() -> None:
    text = 'cd x; ls; python a; my-tool b; $X c; f() { inner; }; f; Y=${Y:-$(other "z")}; ./rel/tool\n'
    assert normalise(text, "0").names == {"python", "my-tool", "inner", "f", "other", "./rel/tool"}


def test_lines_keep_their_numbers() -> None:
    text = 'A=${A:-"x"}\n\nf \\\n  ${B:-"y"} \\\n  z\nX=(\n  a ${C:-"d"}\n)\nlast\n'
    result = normalise(text, "0").text.split("\n")
    assert len(result) == len(text.split("\n"))
    assert result[8].endswith("last")


PIECES = st.sampled_from(
    [
        "a",
        "b c",
        "[0]",
        "*",
        "'q'",
        '"w"',
        '"x y"',
        '"[1]"',
        "\\ ",
        "\\*",
        "$H",
        '"$H"',
        "${N:-d}",
        '${N:-"e f"}',
        "$(echo g)",
    ]
)
OPERANDS = st.lists(PIECES, min_size=1, max_size=4).map("".join)
SHAPES = st.sampled_from(
    [
        'X=${{V:-{0}}}; p "$X"',
        "p ${{V:-{0}}}",
        "p k=${{V:-{0}}}z",
        'A=(${{V:-{0}}}); p "${{A[@]}}"',
        "true && p ${{V:-{0}}} z",
    ]
)


@settings(deadline=None, max_examples=60)
@given(OPERANDS, SHAPES)
def test_a_given_value_is_never_touched(operand: str, shape: str) -> None:
    text = shape.format(operand)
    script = parse("run.sh", text.encode())
    result = evaluate(script, Scenario(environment={"V": "value", "H": "h*"}))
    assert result.failure is None
    assert re.search("value", str(result.commands[0].argv))


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet="ab=${}:-\"'\\()[]|&; \n#<", max_size=40))
def test_any_text_is_rewritten_without_an_error(text: str) -> None:
    first = normalise(text, "0")
    assert isinstance(first.text, str)
