"""Where commands and words came from."""

from __future__ import annotations

import pytest

from example_sanity.launch.command import Command, Origin
from example_sanity.launch.evaluator import evaluate
from example_sanity.launch.provenance import environment
from example_sanity.launch.scenario import Scenario
from example_sanity.launch.sourcewords import pieces_of
from example_sanity.launch.syntax import parse
from helpers import Write


def commands(text: str, **circumstances: object) -> tuple[Command, ...]:
    result = evaluate(parse("run.sh", text.encode()), Scenario(**circumstances))  # type: ignore[arg-type]
    assert result.failure is None
    return result.commands


def places(text: str, **circumstances: object) -> list[str]:
    """``word line:column`` of each word of the last command; ``?`` where the call site stands for it."""
    command = commands(text, **circumstances)[-1]
    return [
        f"{word} {origin.span.line}:{origin.span.column}" + ("" if origin.exact else "?")
        for word, origin in zip(command.argv, command.origins, strict=True)
    ]


def origin(text: str, word: str) -> Origin:
    command = commands(text)[-1]
    return command.origins[command.argv.index(word)]


def test_words_of_the_command_itself() -> None:
    assert places("\npython -m train \\\n  a=1 --b 2\n") == [
        "python 2:1",
        "-m 2:8",
        "train 2:11",
        "a=1 3:3",
        "--b 3:7",
        "2 3:11",
    ]


def test_words_of_arrays_have_their_group_and_what_fed_them() -> None:
    text = 'TP=${TP:-2}\nSIZE=$((TP * GPUS))\nARGS=(\n  a=1\n  b="${SIZE}"\n)\nARGS+=(c=3)\npython x "${ARGS[@]}"\n'
    assert places(text, environment={"GPUS": "4"})[2:] == ["a=1 4:3", "b=8 5:3", "c=3 7:8"]
    found = commands(text, environment={"GPUS": "4"})[0].origins[3]
    assert (found.group, found.knobs) == ("ARGS", ("SIZE", "TP", "GPUS"))


def test_arrays_inside_arrays_and_scalars_with_several_words() -> None:
    text = 'A=(--a 1)\nB=("${A[@]}" --b 2)\nC="--c 3\n  --d $X"\npython x ${B[@]} $C\n'
    assert places(text, environment={"X": "4"})[2:] == [
        "--a 1:4",
        "1 1:8",
        "--b 2:14",
        "2 2:18",
        "--c 3:4",
        "3 3:8",
        "--d 4:3",
        "4 4:7",
    ]


def test_a_value_that_is_one_expansion_follows_its_flag() -> None:
    text = 'P=/data\nN=4\npython x --path "$P" --n $N --path2 "$P"\n'
    assert places(text)[2:] == [
        "--path 3:10",
        "/data 3:17",
        "--n 3:22",
        "4 3:26",
        "--path2 3:29",
        "/data 3:37",
    ]


def test_a_value_between_its_neighbours_does_not_come_from_an_equal_word_elsewhere() -> None:
    text = "K=4\nMODEL=(--topk $K --fuse)\npython x ${MODEL[@]} --steps 4\n"
    assert places(text)[2:] == ["--topk 2:8", "4 2:15", "--fuse 2:18", "--steps 3:22", "4 3:30"]


def test_words_of_a_functions_parameters() -> None:
    text = 'run() {\n  python x "$@" --end\n}\nrun a=1 b=2\n'
    assert places(text) == ["python 2:3", "x 2:10", "a=1 4:5", "b=2 4:9", "--end 2:17"]


def test_the_branch_that_ran_is_not_known_so_the_call_site_stands() -> None:
    text = 'if [ -n "$X" ]; then A=(m=1); else A=(m=1); fi\npython x "${A[@]}"\n'
    assert places(text)[2:] == ["m=1 2:1?"]


def test_different_values_tell_the_branches_apart() -> None:
    text = 'if [ -n "$X" ]; then A=(m=1); else A=(m=2); fi\npython x "${A[@]}"\n'
    assert places(text)[2:] == ["m=2 1:39"]


def test_equal_words_stand_in_order() -> None:
    assert places("python x --a 1 --b 1 --a 1\n")[2:] == [
        "--a 1:10",
        "1 1:14",
        "--b 1:16",
        "1 1:20",
        "--a 1:22",
        "1 1:26",
    ]


def test_words_of_the_user_come_from_where_they_are_passed_on() -> None:
    assert places('python x "$@"\n', arguments=("k=v",))[2:] == ["k=v 1:10"]


def test_columns_count_characters() -> None:
    assert places("echo 模型; python é a=模 b=2\n") == ["python 1:10", "é 1:17", "a=模 1:19", "b=2 1:23"]


def test_the_call_site_is_exact_even_for_the_same_command_twice() -> None:
    found = commands('python x\nfor i in 1 2; do python x; done\ny=${Y:-$(python x "z")}\n')
    assert [(c.site.span.line, c.site.span.column) for c in found] == [(1, 1), (2, 18), (2, 18), (3, 10)]


@pytest.mark.parametrize(
    "wrapper", ["nohup", "env A=1", "timeout 5", "nice", "xargs -n9", "exec", "command", "time"]
)
def test_wrappers_keep_the_call_site(wrapper: str) -> None:
    text = f"\n echo | {wrapper} python x\n" if wrapper.startswith("xargs") else f"\n {wrapper} python x\n"
    assert commands(text)[0].site.span.line == 2


def test_sites_in_files_that_are_sourced_and_run(write: Write) -> None:
    root = write(
        {
            "run.sh": "source lib/a.sh\nf x\nbash lib/b.sh\n",
            "lib/a.sh": '\nA=(k=1)\nf() { python f.py "${A[@]}"; }\n',
            "lib/b.sh": "python b.py\n",
        }
    )
    result = evaluate(parse("run.sh", (root / "run.sh").read_bytes()), Scenario(), root)
    assert [(c.site.path, c.site.span.line) for c in result.commands] == [("lib/a.sh", 3), ("lib/b.sh", 1)]
    assert (result.commands[0].origins[2].path, result.commands[0].origins[2].span.line) == ("lib/a.sh", 2)


def test_words_of_an_array_from_a_sourced_file(write: Write) -> None:
    root = write(
        {
            "run.sh": 'source lib/args.sh\npython x "${ARGS[@]}" end\n',
            "lib/args.sh": "N=2\nARGS=(\n  --n $N\n)\n",
        }
    )
    result = evaluate(parse("run.sh", (root / "run.sh").read_bytes()), Scenario(), root)
    assert [(o.path, o.span.line, o.exact, o.group, o.knobs) for o in result.commands[0].origins[2:]] == [
        ("lib/args.sh", 3, True, "ARGS", ()),
        ("lib/args.sh", 3, True, "ARGS", ("N",)),
        ("run.sh", 2, True, None, ()),
    ]


def test_eval_and_bash_c_have_the_site_of_their_command() -> None:
    found = commands("X='python a'\n\neval \"$X\"\nbash -c 'python b'\n")
    assert [c.site.span.line for c in found] == [3, 4]


def test_environment_is_without_what_every_shell_sets() -> None:
    seen = {
        "PWD": "/",
        "SHLVL": "1",
        "_": "x",
        "HOME": "/home/user",
        "PATH": "/x",
        "A": "1",
        "LANG": "C.UTF-8",
    }
    assert environment(seen) == {"A": "1", "PATH": "/x"}


@pytest.mark.parametrize(
    ("text", "pieces", "single"),
    [
        ("a=1", ("a=1",), True),
        ('a="$X"', ("a=", None), True),
        ("a=$X", ("a=", None), False),
        ("a=${X:-b}c", ("a=", None, "c"), False),
        ('"${A[@]}"', (None,), False),
        ('"$@"', (None,), False),
        ("'$X'", ("$X",), True),
        ('"\\$X"', ("$X",), True),
        ("a\\ b", ("a b",), True),
        ("*.py", (None, ".py"), False),
        ("$(f x)/y", (None, "/y"), False),
        ("", ("",), True),
    ],
)
def test_pieces_of_a_word(text: str, pieces: tuple[str | None, ...], single: bool) -> None:
    assert pieces_of(text) == (pieces, single)


@pytest.mark.parametrize(
    "before",
    ["X=1 ", "X=1 \\\n", 'X="a b" Y=$(uname -s) ', "X='a;b' Y+=c\\ d \\\n  \\\n", "if true; then X=1 "],
)
def test_assignments_before_a_command_leave_its_words_where_they_are(before: str) -> None:
    end = "; fi\n" if before.startswith("if") else "\n"
    found = places(f"{before}\\\npython x --b 2{end}")
    line = before.count("\n") + 2
    assert found == [f"python {line}:1", f"x {line}:8", f"--b {line}:10", f"2 {line}:14"]


def test_a_command_inside_an_assignment_is_not_the_one_behind_it() -> None:
    assert places("X=$(echo y) python x\n") == ["python 1:13", "x 1:20"]
