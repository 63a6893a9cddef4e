"""Programs of click: what their decorators say is judged, what is not read leaves them silent."""

from __future__ import annotations

import pytest

from helpers import Write, report

PATH = "examples/run_small_fsdp.sh"
PROGRAM = """\
import click

SIZES = ["small", "large"]


@click.command()
@click.argument("data")
@click.option("--lr", "-l", type=float, default=1e-5)
@click.option("--layers", default=2)
@click.option("--size", type=click.Choice(SIZES))
@click.option("--kind", type=click.Choice(["A", "B"], case_sensitive=False))
@click.option("--steps", type=click.IntRange(1, 9))
@click.option("--fast/--no-fast", default=False)
@click.option("--shape", nargs=2, type=int)
@click.option("--tag", multiple=True)
@click.option("-v", "--verbose", count=True)
@click.option("--name", required=True)
@click.version_option("1.0")
def main(**options):
    print(options)


if __name__ == "__main__":
    main()
"""
GROUP = """\
import click


@click.group()
@click.option("--debug", is_flag=True)
def cli(debug):
    pass


@cli.command("train")
@click.option("--lr", type=float, required=True)
def train(lr):
    pass


@click.command()
@click.option("--beams", type=int)
def predict(beams):
    pass


cli.add_command(predict)

if __name__ == "__main__":
    cli()
"""


def findings(write: Write, program: str, words: str) -> list[str]:
    root = write({"train.py": program, PATH: f"python3 train.py {words}\n"})
    return [f"{item.code} {item.message}" for item in report(root, "flags").findings]


@pytest.mark.parametrize(
    "words",
    [
        "data --name x",
        "data --name x --lr 3 -l 4 --layers=3 --size small --kind a --steps 3",
        "--name x --fast --no-fast --shape 1 2 --tag a --tag b -v --verbose --version data",
        "data --name x --help",
    ],
)
def test_what_click_accepts_is_silent(write: Write, words: str) -> None:
    assert findings(write, PROGRAM, words) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "--name x --layer 2 data",
            "FLG001 train.py has no flag --layer, and click stops on it; the nearest is --layers (train.py:9)",
        ),
        ("data --name x --size medium", "FLG003 --size does not take 'medium', only small, large"),
        ("data --name x --lr high", "FLG008 --lr takes a number, and 'high' is none"),
        ("data --name x --layers two", "FLG008 --layers takes a whole number, and 'two' is none"),
        ("data --name x --steps few", "FLG008 --steps takes a whole number, and 'few' is none"),
        ("data --name x --shape 1", "FLG002 --shape needs 2 values and gets 1"),
        ("data --lr 2", "FLG009 train.py requires --name (train.py:17), and the launcher does not give it"),
    ],
)
def test_what_it_refuses_is_found(write: Write, words: str, expected: str) -> None:
    assert findings(write, PROGRAM, words) == [expected]


@pytest.mark.parametrize("more", ["default='x'", "envvar='NAME'", "prompt=True"])
def test_a_required_option_may_get_its_value_from_elsewhere(write: Write, more: str) -> None:
    program = PROGRAM.replace('"--name", required=True', f'"--name", required=True, {more}')
    assert findings(write, program, "data --lr 2") == []


def test_a_group_takes_the_options_of_its_commands(write: Write) -> None:
    assert findings(write, GROUP, "--debug train --lr 3") == []
    assert findings(write, GROUP, "predict --beams 3") == []
    (found,) = findings(write, GROUP, "predict --beam 3")
    assert found.startswith(
        "FLG001 train.py has no flag --beam, and click stops on it; the nearest is --beams"
    )


@pytest.mark.parametrize(
    "program",
    [
        PROGRAM.replace("@click.version_option", "@common_options\n@click.version_option"),
        PROGRAM.replace(
            "@click.command()", "@click.command(context_settings=dict(ignore_unknown_options=True))"
        ),
        PROGRAM.replace("@click.command()", "@click.command(cls=Mine)"),
        PROGRAM.replace('"--layers"', 'f"--{computed()}"'),
        PROGRAM.replace('if __name__ == "__main__":\n    main()', "main(['a'])"),
        GROUP.replace("cli.add_command(predict)", "cli.add_command(elsewhere.predict)"),
    ],
    ids=["own decorator", "handed on", "own class", "computed name", "never called", "command elsewhere"],
)
def test_what_is_not_read_leaves_it_silent(write: Write, program: str) -> None:
    assert findings(write, program, "data --name x --nonsense 3") == []
