from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity import session
from example_sanity.core.errors import UsageError
from example_sanity.core.exemptions import Entry, Syntax
from example_sanity.core.finding import Span
from helpers import Write

TABLE = "[[tool.example-sanity.ignores.list]]\n"


def entries(root: Path, preset: str | None = None, config: Path | None = None) -> list[Entry]:
    return session.open_run((), root=root, preset=preset, config=config).entries


def test_nothing_configured_means_no_entries(write: Write) -> None:
    assert entries(write({"pyproject.toml": "[tool.example-sanity]\n"})) == []


def test_per_file_ignore(write: Write) -> None:
    text = """\
[tool.example-sanity]
ignore = ["examples/"] # not this one
[[tool.example-sanity.per-file-ignore]]
rules = ["naming"]
path = "examples/"
reason = " old names "
"""
    (entry,) = entries(write({"pyproject.toml": text.replace('"examples/"] #', "] #")}))
    assert (entry.pattern, entry.syntax, entry.path) == ("examples/", Syntax.GITIGNORE, "pyproject.toml")
    assert entry.span == Span(5, 8, 5, 19)
    assert entry.rules == {"NAM001", "NAM002", "NAM003", "NAM004"}
    assert (entry.reason, entry.wants_reason) == ("old names", True)
    assert entry.removal == Span(3, 1, 7, 1)


def test_per_file_ignore_as_inline_tables(write: Write) -> None:
    text = 'per-file-ignore = [\n  { path = "a.sh", rules = ["NAM001"], reason = "x" },\n]\n'
    (entry,) = entries(write({"example-sanity.toml": text}))
    assert (entry.span, entry.removal) == (Span(2, 12, 2, 18), Span(2, 1, 3, 1))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("path = '!a.sh'\nrules = ['naming']\n", "per-file-ignore of '!a.sh': a path cannot be negated"),
        ("path = '!'\nrules = ['naming']\n", "per-file-ignore of '!': "),
        ("path = 'a.sh'\nrules = ['namin']\n", r"unknown rule 'namin' \(did you mean 'naming'\?\)"),
    ],
)
def test_wrong_per_file_ignores(write: Write, row: str, message: str) -> None:
    root = write({"pyproject.toml": f"[[tool.example-sanity.per-file-ignore]]\n{row}"})
    with pytest.raises(UsageError, match=message):
        entries(root)


SOURCE = '''\
"""A checker."""
OTHER = 1
DIRS: tuple[str, ...] = (
    "examples/é", "examples/data*",
)
SETTINGS = frozenset({"a.sh", *OTHERS})
REASONS = {
    "b.sh": "why",
}
class Check:
    INNER = ["c.sh"]
JOINED = [
    "examples/"
    "d.sh",
]
'''


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (
            "DIRS",
            [
                ("examples/é", Syntax.PATH, Span(4, 5, 4, 17)),
                ("examples/data*", Syntax.GLOB, Span(4, 19, 4, 35)),
            ],
        ),
        ("SETTINGS", [("a.sh", Syntax.PATH, Span(6, 23, 6, 29))]),
        ("REASONS", [("b.sh", Syntax.PATH, Span(8, 5, 8, 11))]),
        ("INNER", [("c.sh", Syntax.PATH, Span(11, 14, 11, 20))]),
        ("JOINED", [("examples/d.sh", Syntax.PATH, Span(13, 5, 14, 11))]),
    ],
)
def test_named_constants(write: Write, name: str, found: list[tuple[str, Syntax, Span]]) -> None:
    root = write(
        {"pyproject.toml": f'{TABLE}file = "c.py"\nname = "{name}"\nfamily = "NAM001"\n', "c.py": SOURCE}
    )
    assert [(e.pattern, e.syntax, e.span) for e in entries(root)] == found
    assert {(e.list_name, e.path, e.rules) for e in entries(root)} == {(name, "c.py", frozenset({"NAM001"}))}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('file = "cc.py"\nname = "DIRS"\n', r"names cc.py, which does not exist \(did you mean 'c.py'\?\)"),
        (
            'file = "c.py"\nname = "DIR"\n',
            r"c.py has no constant 'DIR' that holds strings \(did you mean 'DIRS'\?\)",
        ),
        ('file = "c.py"\nname = "OTHER"\n', "c.py has no constant 'OTHER'"),
        ('file = "c.py"\nname = "DIRS"\nfamily = "namin"\n', "ignores.list: unknown rule 'namin'"),
    ],
)
@pytest.mark.parametrize("preset", [None, "verl"])
def test_a_wrong_binding_is_an_error(write: Write, table: str, message: str, preset: str | None) -> None:
    root = write({"pyproject.toml": TABLE + table, "c.py": SOURCE})
    with pytest.raises(UsageError, match=message):
        entries(root, preset)


def test_a_list_that_only_a_preset_names_may_be_missing(write: Write) -> None:
    checker = "tests/special_sanity/check_example_naming.py"
    root = write({checker: 'DEFAULT_IGNORE_DIRS = ("examples/a",)\n'})
    assert [entry.pattern for entry in entries(root, "verl")] == ["examples/a"]


def test_a_bound_file_that_is_no_python_is_said_once(write: Write) -> None:
    root = write({"pyproject.toml": f'{TABLE}file = "c.py"\nname = "X"\n' * 2, "c.py": "X = [\n"})
    run = session.open_run((), root=root)
    found = run.check([run.registry.family("ignores")]).findings
    assert [(item.code, item.path) for item in found] == [("SYS001", "c.py")]
    assert found[0].message.startswith("cannot read its ignore lists: not Python for this interpreter:")


def test_findings_are_suppressed_with_their_reason(write: Write) -> None:
    text = "[[tool.example-sanity.per-file-ignore]]\npath = 'gone.sh'\nrules = ['naming']\nreason = 'r'\n"
    own = "[[tool.example-sanity.per-file-ignore]]\npath = 'pyproject.toml'\nrules = ['IGN001']\nreason = 'soon back'\n"
    run = session.open_run((), root=write({"pyproject.toml": text + own}))
    report = run.check([run.registry.family("ignores")])
    assert [item.suppressed_by for item in report.suppressed] == [
        "pyproject.toml:6 per-file-ignore: soon back"
    ]
