from __future__ import annotations

import pytest

from helpers import Write, report

FILES = {
    "src/pkg/__init__.py": "",
    "src/pkg/a.py": "",
    "tests/unit/test_a.py": "",
    "docs/a.md": "",
    "setup.py": "",
}


def said(write: Write, name: str, text: str, more: dict[str, str] | None = None) -> list[str]:
    """What is said of a file that carries lists."""
    files = {**FILES, "pyproject.toml": "", **(more or {}), name: text}
    findings = report(write(files), "ignores").findings
    assert {item.path for item in findings} <= {name}
    return [f"{item.span.line}:{item.span.column} {item.code} {item.message}" for item in findings]


SILENT = [
    pytest.param(
        "pyproject.toml", "[tool.ruff]\nexclude = ['build', '.venv', '*_pb2.py', 'src/pkg/a.py']\n", id="ruff"
    ),
    pytest.param(
        "pyproject.toml", "[tool.ruff]\nlint.per-file-ignores = { '*_test.py' = ['D'] }\n", id="kind of file"
    ),
    pytest.param(
        "pyproject.toml",
        "[tool.ruff.lint.per-file-ignores]\n'tests/**' = ['D']\n'tests/unit/test_a.py' = ['E501']\n",
        id="another code",
    ),
    pytest.param("pyproject.toml", "[tool.ruff]\nline-length = 100\n", id="no list"),
    pytest.param(
        "pyproject.toml", "[tool.mypy]\nexclude = ['^build/', '/unit/$', '(?x)(docs/|src/)']\n", id="mypy"
    ),
    pytest.param(
        "pyproject.toml",
        "[[tool.mypy.overrides]]\nmodule = ['torch.*', 'pkg', 'pkg.a', 'transformers']\n",
        id="mypy modules that exist or are not ours",
    ),
    pytest.param(
        "pyproject.toml",
        "[[tool.mypy.overrides]]\nmodule = 'pkg._C'\nignore_missing_imports = true\n",
        id="mypy modules that may be missing",
    ),
    pytest.param(
        "pyproject.toml",
        "[tool.ruff.lint.per-file-ignores]\n'*.py' = 3\n[[tool.mypy.overrides]]\nmodule = 3\n",
        id="what neither tool would take",
    ),
    pytest.param(
        "mypy.ini", "[mypy]\nexclude = build/\n[mypy-pkg.*,torch]\nignore_errors = True\n", id="mypy.ini"
    ),
    pytest.param("setup.cfg", "[metadata]\nname = x\n[flake8]\nexclude = gone\n", id="setup.cfg"),
    pytest.param(
        ".pre-commit-config.yaml",
        "exclude: '^(docs/|node_modules/)'\nrepos:\n- repo: local\n  hooks:\n  - id: a\n    files: \\.py$\n"
        "  - id: a\n    files: \\.py$\n    exclude: \\.ipynb$\n",
        id="pre-commit",
    ),
    pytest.param(".pre-commit-config.yaml", "", id="empty YAML"),
    pytest.param(".pre-commit-config.yaml", "repos:\n- 1\n- hooks: {a: b}\n- hooks: [2]\n", id="odd YAML"),
    pytest.param(
        ".github/CODEOWNERS",
        "# all\n* @a\n/docs @b  # x\n/docs/a.md @c\n*.py @d\n/src/ @e\n[Section][2] @f\n* @a\n",
        id="CODEOWNERS",
    ),
    pytest.param(".pre-commit-config.yaml", "exclude: ^$\nfiles: ''\n", id="pre-commit's own defaults"),
    pytest.param(
        ".pre-commit-config.yaml",
        "exclude: ^(?:(?P<x>docs)/a|src/(?P=x))\n",
        id="alternatives that need each other",
    ),
    pytest.param(
        "pyproject.toml", "[tool.ruff]\nexclude = ['/opt/x', '../x', '~/x']\n", id="outside the tree"
    ),
    pytest.param("third/CODEOWNERS", "/gone @a\n", id="CODEOWNERS elsewhere"),
    pytest.param("src/.pre-commit-config.yaml", "exclude: ^pkg/\n", id="nested, relative to its folder"),
    pytest.param("src/ruff.toml", "exclude = ['pkg/a.py']\n", id="nested ruff.toml"),
]


@pytest.mark.parametrize(("name", "text"), SILENT)
def test_silent(write: Write, name: str, text: str) -> None:
    assert said(write, name, text) == []


def test_ruff(write: Write) -> None:
    text = """\
[tool.ruff]
exclude = ["src/gone.py", "scripts/*.py"]
[tool.ruff.format]
exclude = ["docs/conf.py"]
[tool.ruff.lint.per-file-ignores]
"tests" = ["D"]
"tests/**" = ["D"]
"tests/unit/test_a.py" = ["D100"]
"src/pkg/old.py" = ["F401"]
"""
    assert said(write, "pyproject.toml", text) == [
        "2:12 IGN001 'src/gone.py' in ruff exclude does not exist; delete the entry",
        "2:27 IGN001 'scripts/*.py' in ruff exclude matches nothing: there is no 'scripts'; delete the entry",
        "4:12 IGN001 'docs/conf.py' in ruff format.exclude does not exist; delete the entry",
        (
            "6:1 IGN001 'tests' in ruff lint.per-file-ignores names a folder, and ruff compares it with files; "
            "write 'tests/**'"
        ),
        (
            "8:1 IGN004 'tests/unit/test_a.py' in ruff lint.per-file-ignores is already covered by 'tests/**' on line 7; "
            "delete it"
        ),
        "9:1 IGN001 'src/pkg/old.py' in ruff lint.per-file-ignores does not exist; delete the entry",
    ]


def test_ruff_toml_is_relative_to_its_folder(write: Write) -> None:
    assert said(write, "src/ruff.toml", 'extend-exclude = ["tests/unit"]\n') == [
        "1:19 IGN001 'tests/unit' in ruff extend-exclude does not exist below src; delete the entry"
    ]


def test_mypy(write: Write) -> None:
    text = """\
[tool.mypy]
exclude = '''(?x)(
    ^docs/
  | ^scripts/  # moved
)'''
[[tool.mypy.overrides]]
module = [
  "pkg.gone",
  "pkg.a",
  "pkg.*",
]
"""
    assert said(write, "pyproject.toml", text) == [
        "4:5 IGN001 '^scripts/' in mypy exclude does not exist; delete the entry",
        (
            "8:3 IGN001 'pkg.gone' in mypy overrides names no module of this repository, so the section does nothing; "
            "delete the entry"
        ),
        "9:3 IGN004 'pkg.a' in mypy overrides is already covered by 'pkg.*' on line 10; delete it",
    ]


def test_mypy_ini(write: Write) -> None:
    text = "[mypy]\nexclude = (?x)(\n  ^docs/\n  | ^scripts/b\\.py$\n  )\n[mypy-torch, pkg.gone]\nignore_errors = True\n"
    assert said(write, "mypy.ini", text) == [
        "4:5 IGN001 '^scripts/b\\\\.py$' in mypy exclude does not exist; delete the entry",
        (
            "6:14 IGN001 'pkg.gone' in mypy overrides names no module of this repository, so the section does nothing; "
            "delete the entry"
        ),
    ]


def test_pre_commit(write: Write) -> None:
    text = """\
exclude: |
  (?x)^(
    docs/|
    old/.*\\.md|
    docs/a\\.md
  )
repos:
  - repo: local
    hooks:
      - id: one
        files: ^srcs/
      - exclude: ^(src/pkg/a\\.py|src/b\\.py)$
        id: two
      - id: three
        exclude: "["
"""
    assert said(write, ".pre-commit-config.yaml", text) == [
        "4:5 IGN001 'old/.*\\\\.md' in exclude matches nothing: there is no 'old'; delete the entry",
        "5:5 IGN004 'docs/a\\\\.md' in exclude is already covered by 'docs/' on line 3; delete it",
        "11:16 IGN001 '^srcs/' in files of hook one does not exist, so nothing is looked at; delete the entry",
        "12:34 IGN001 'src/b\\\\.py' in exclude of hook two does not exist; delete the entry",
        (
            "15:18 IGN001 '[' in exclude of hook three is no valid pattern (unterminated character set at position 0), "
            "so it matches nothing"
        ),
    ]


def test_codeowners(write: Write) -> None:
    text = "/src/pkg/a.py @a\n/src @b\n/gone @c\n  docs\\ x/* @d\n!/src @e\n*.ipynb @f\n"
    assert said(write, "CODEOWNERS", text) == [
        (
            "1:1 IGN004 '/src/pkg/a.py' in CODEOWNERS never takes effect: '/src' on line 2 covers it, and the last match "
            "wins; move it below that line, or delete it"
        ),
        "3:1 IGN001 '/gone' in CODEOWNERS does not exist, so it assigns nothing; delete the entry",
        "4:3 IGN001 'docs\\\\ x/*' in CODEOWNERS matches none of the 7 files, so it assigns nothing; delete the entry",
        "6:1 IGN001 '*.ipynb' in CODEOWNERS matches none of the 7 files, so it assigns nothing; delete the entry",
    ]


def test_places_are_exact_where_the_text_is_odd(write: Write) -> None:
    yaml = "a: 1  # \U0001f600\n# \u2028# \x85# x\r\nexclude: 'é/x'\r\n"
    toml = '[tool.ruff.lint.per-file-ignores]\n"tab\\there/\\u00e9" = ["D"]\n'
    assert said(write, ".pre-commit-config.yaml", yaml)[0].startswith(
        "3:10 IGN001 'é/x' in exclude does not exist"
    )
    assert said(write, "ruff.toml", toml.replace("tool.ruff.", ""), {".pre-commit-config.yaml": ""})[
        0
    ].startswith("2:1 IGN001 'tab here/é' in ruff lint.per-file-ignores")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("pyproject.toml", "[tool.ruff]\nexclude = [\n", "not valid TOML"),
        (".pre-commit-config.yaml", "a: [\n", "not valid YAML"),
    ],
)
def test_what_cannot_be_read_is_said(write: Write, name: str, text: str, message: str) -> None:
    root = write({"src/pyproject.toml": text} if name == "pyproject.toml" else {name: text})
    (found,) = report(root, "ignores").findings
    assert (found.code, found.message.startswith(f"cannot read its ignore lists: {message}")) == (
        "SYS001",
        True,
    )
