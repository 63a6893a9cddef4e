"""The configuration: what it accepts, and what a mistake in it gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity import session
from example_sanity.core.errors import UsageError
from example_sanity.core.finding import Severity
from helpers import Write, cli

SCRIPT = {"examples/run_qwen3_8b_fsdp.sh": "python3 train.py\n"}


def _config(write: Write, table: str, name: str = "pyproject.toml") -> Path:
    return write({**SCRIPT, name: table})


def test_nothing_configured_is_all_defaults(write: Write) -> None:
    run = session.open_run((), root=write(SCRIPT))

    assert run.config.path is None
    assert run.config.fail_on is Severity.ERROR


def test_every_key_is_read(write: Write) -> None:
    table = """
[tool.example-sanity]
preset = "verl"
include = ["examples"]
exclude = ["*.bash"]
select = ["naming"]
ignore = ["NAM004"]
fail-on = "warning"
[tool.example-sanity.naming]
roots = ["x"]
[[tool.example-sanity.per-file-ignore]]
path = "examples"
rules = ["script-name-shape"]
reason = "old"
"""
    config = session.open_run((), root=_config(write, table)).config

    assert (config.preset, config.include, config.exclude) == ("verl", ("examples",), ("*.bash",))
    assert (config.select, config.ignore, config.fail_on) == (("naming",), ("NAM004",), Severity.WARNING)
    assert config.families["naming"].roots == ("x",)
    assert config.per_file_ignore[0].reason == "old"


@pytest.mark.parametrize("name", ["example-sanity.toml", "elsewhere.toml"])
@pytest.mark.parametrize("table", ["fail-on = 'info'", "[tool.example-sanity]\nfail-on = 'info'"])
def test_a_file_of_its_own_may_leave_the_table_out_or_not(write: Write, name: str, table: str) -> None:
    root = _config(write, table, name)
    file = None if name == "example-sanity.toml" else root / name

    assert session.open_run((), root=root, config=file).config.fail_on is Severity.INFO


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[tool.example-sanity]\nprest = 'verl'", "unknown key 'prest' (did you mean 'preset'?)"),
        ("[tool.example-sanity]\npreset = 'vrl'", "unknown preset 'vrl' (did you mean 'verl'?)"),
        ("[tool.example-sanity.namin]\nroots = []", "unknown key 'namin' (did you mean 'naming'?)"),
        ("[tool.example-sanity.naming]\nroot = []", "unknown key 'root' (did you mean 'roots'?)"),
        ("[tool.example-sanity]\nselect = ['NAM01']", "unknown rule 'NAM01' (did you mean 'NAM001'?)"),
        ("[tool.example-sanity]\nignore = ['forbiden-token']", "did you mean 'forbidden-token'?"),
        ("[tool.example-sanity]\nfail-on = 'fatal'", "fail-on"),
        ("[tool.example-sanity]\nexclude = 3", "exclude"),
        (
            "[[tool.example-sanity.per-file-ignore]]\npath='x'\nrules=[]\nreson='y'",
            "(did you mean 'reason'?)",
        ),
        (
            "[[tool.example-sanity.per-file-ignore]]\npath='x'\nrules=['nam']\nreason='y'",
            "unknown rule 'nam'",
        ),
        ("[tool.example-sanity\n", "is not valid TOML"),
    ],
)
def test_a_mistake_is_a_usage_error_that_names_the_nearest_right_word(
    write: Write, capsys: pytest.CaptureFixture[str], table: str, words: str
) -> None:
    root = _config(write, table)

    code, _, err = cli(capsys, "check", str(root), "--root", str(root))

    assert code == 2
    assert words in err


def test_a_configuration_that_is_not_there_is_a_usage_error(write: Write) -> None:
    with pytest.raises(UsageError, match="no such file"):
        session.open_run((), root=write(SCRIPT), config=Path("missing.toml"))


def test_the_users_table_lies_over_the_preset(write: Write) -> None:
    table = "[tool.example-sanity]\npreset = 'slime'\nignore = []"

    assert session.open_run((), root=_config(write, table)).config.ignore == ()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("pyproject.toml", "tool = 3", "pyproject.toml: [tool] must be a table"),
        ("pyproject.toml", "[[tool]]\na = 1", "pyproject.toml: [tool] must be a table"),
        (
            "pyproject.toml",
            "tool.example-sanity = 3",
            "pyproject.toml: [tool.example-sanity] must be a table",
        ),
        ("example-sanity.toml", "tool = 3", "example-sanity.toml: [tool.example-sanity]: unknown key 'tool'"),
        (
            "example-sanity.toml",
            "naming = 3",
            "example-sanity.toml: [tool.example-sanity].naming: Expected `table`, got `int`",
        ),
        (
            "example-sanity.toml",
            "\ufeffpreset = 'verl'",
            "example-sanity.toml is not valid TOML: it starts with a byte order mark; save it as UTF-8 without one",
        ),
    ],
)
def test_what_is_no_table(name: str, text: str, message: str, write: Write) -> None:
    with pytest.raises(UsageError) as caught:
        session.open_run((), root=_config(write, text, name))
    assert str(caught.value) == message


@pytest.mark.parametrize("key", ["exclude", "include"])
@pytest.mark.parametrize("pattern", ["!", "\\\\"])
def test_a_pattern_that_git_would_not_take(
    key: str, pattern: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    root = _config(write, f'{key} = ["{pattern}"]', "example-sanity.toml")
    code, _, err = cli(capsys, "naming", str(root))
    assert code == 2
    assert err.startswith(f"Error: {key}: Invalid git pattern: ")
