"""Rules of the checked repository: executed only when the call allows it, and wrong ones are errors that say where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import example_sanity
from example_sanity import UsageError
from helpers import Write, cli

PAGE = Path(__file__).parents[2] / "docs/plugins.md"
RULES = next(b for b in re.findall(r"(?ms)^```python\n(.*?)^```", PAGE.read_text("utf-8")) if "RULES" in b)
TOML = "[tool.example-sanity]\nlocal-rules = ['tools/rules.py']\n"
FILES = {"pyproject.toml": TOML, "examples/run_a_fsdp.sh": "sudo python3 train.py\n"}
HOOKS = """
from example_sanity import Contents, Family, Rule, Subject, hookimpl
class Odd(Rule):
    code, name, summary, subject = 'ODD001', 'odd', 'odd', Subject.SCRIPT_PATH
    def check(self, subject, context):
        return ()
@hookimpl
def checks_rules():
    return (Family('odd', 'ODD', 'odd', lambda: Contents((Odd,))),)
"""


def test_without_leave_nothing_is_executed(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write(
        {**FILES, "tools/rules.py": "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"}
    )

    for command in (["check", str(root)], ["show", str(root / "examples/run_a_fsdp.sh")]):
        code, out, err = cli(capsys, *command)
        assert (code, out) == (2, "")
        assert "local-rules names tools/rules.py. That is code of the checked repository" in err

    assert not (root / "tools/ran").exists()


@pytest.mark.parametrize("how", ["option", "variable"])
def test_with_leave_they_are_rules_like_any(
    write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    root = write({**FILES, "tools/rules.py": RULES})
    if how == "variable":
        monkeypatch.setenv("EXAMPLE_SANITY_ALLOW_LOCAL_RULES", "1")
    leave = ["--allow-local-rules"] if how == "option" else []

    code, out, _ = cli(capsys, "check", str(root), "--format", "concise", *leave)

    assert code == 1
    assert out.startswith(
        "examples/run_a_fsdp.sh:1:1: error LOC001 sudo-in-launcher: sudo asks for a password"
    )
    assert cli(capsys, "check", str(root), "--ignore", "local", *leave)[0] == 0


def test_a_changed_rule_is_not_answered_from_the_cache(write: Write) -> None:
    root = write({**FILES, "tools/rules.py": RULES})
    first = example_sanity.check(root, allow_local_rules=True)
    write({"tools/rules.py": RULES.replace('"sudo"', '"doas"')})

    assert len(first.findings) == 1
    assert example_sanity.check(root, allow_local_rules=True).findings == ()


def test_a_file_may_have_hooks(write: Write) -> None:
    root = write({**FILES, "tools/rules.py": HOOKS})

    assert example_sanity.check(root, select=["odd"], allow_local_rules=True).inspected == {"script": 1}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("tools/rule.py", RULES, "there is no Python file tools/rule.py (did you mean 'tools/rules.py'?)"),
        ("../rules.py", RULES, "../rules.py lies outside the project"),
        ("tools/rules.py", "x = 1\n\n1 / 0\n", "tools/rules.py:3: ZeroDivisionError: division by zero"),
        ("tools/rules.py", "def (\n", "tools/rules.py: SyntaxError: "),
        ("tools/rules.py", "x = 1\n", "tools/rules.py has neither hooks nor a tuple RULES of rules"),
        ("tools/rules.py", "RULES = (int,)\n", "tools/rules.py has neither hooks nor a tuple RULES of rules"),
        (
            "tools/rules.py",
            RULES.replace("LOC001", "NAM001"),
            "rule NAM001 is declared twice: by family naming",
        ),
    ],
)
def test_a_wrong_file_is_an_error(write: Write, name: str, text: str, words: str) -> None:
    toml = f"[tool.example-sanity]\nlocal-rules = ['{name}']\n"
    root = write({**FILES, "pyproject.toml": toml, "tools/rules.py": text})

    with pytest.raises(UsageError, match=re.escape(words)):
        example_sanity.check(root, allow_local_rules=True)


def test_names_must_be_a_list(write: Write) -> None:
    toml = "[tool.example-sanity]\nlocal-rules = 'tools/rules.py'\n"

    with pytest.raises(UsageError, match=r"Expected `array`, got `str` - at `local-rules`"):
        example_sanity.check(write({**FILES, "pyproject.toml": toml}), allow_local_rules=True)
