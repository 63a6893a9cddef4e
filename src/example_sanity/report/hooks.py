"""The manifest for pre-commit, ``.pre-commit-hooks.yaml``: one hook for everything and one for each rule family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core.rule import Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from example_sanity.core.rule import Family

# A script without a suffix is known by its first line, which only the tool reads.
_SHELL = r"\.(sh|bash|slurm|sbatch)$|(^|/)[^./]+$"
_LISTS = (
    r"(^|/)(pyproject\.toml|example-sanity\.toml|\.?ruff\.toml|\.?mypy\.ini|setup\.cfg|\.pre-commit-config\.yaml)$"
    r"|^(\.github/|\.gitlab/|docs/)?CODEOWNERS$"
)
_TEXT = (
    r"\.(py|pyi|sh|bash|slurm|sbatch|ya?ml|toml|cfg|ini|md|rst|txt|c|cc|cpp|cu|cuh|h|hpp|go|rs|js|ts|cmake)$"
    r"|(^|/)(Dockerfile[^/]*|Makefile|CMakeLists\.txt)$"
)
FILES = {
    Subject.SCRIPT_PATH: _SHELL,
    Subject.SCRIPT: _SHELL,
    Subject.LAUNCH: _SHELL,
    Subject.DEFAULT_LAUNCH: _SHELL,
    Subject.DOCUMENT: r"\.(md|markdown|rst|rest|ipynb)$",
    Subject.WORKFLOW: r"^\.github/workflows/[^/]+\.ya?ml$|(^|/)action\.ya?ml$",
    Subject.PYTHON_SOURCE: r"\.py$",
    Subject.TEXT: _TEXT,
    Subject.CONFIG_ENTRY: _LISTS,
}

# Without Hydra the overrides of a launcher are not checked, and a hook has an environment of its own.
_NEEDS = "hydra-core>=1.3,<1.4"

_HEAD = """\
# Made by `example-sanity rules --format pre-commit`; a test keeps it current.
# A hook judges the files of the commit. Excludes of the configuration hold for them, too.
"""


def manifest(families: Sequence[Family]) -> str:
    """Return the manifest."""
    hooks = [_hook("check", "all rules", families)]
    hooks += [_hook(family.name, family.title, [family]) for family in families]
    return "\n".join([_HEAD, *hooks])


def pattern(families: Iterable[Family]) -> str:
    """Return the regular expression of the files that families look at."""
    subjects = (rule.subject for family in families for rule in family.rules)
    return "|".join(dict.fromkeys(FILES[subject] for subject in subjects if subject in FILES))


def _hook(command: str, title: str, families: Sequence[Family]) -> str:
    name = "example-sanity" if command == "check" else f"example-sanity-{command}"
    return f"""\
- id: {name}
  name: {name}
  description: '{title}'
  entry: example-sanity {command} --allow-empty --keep-roots
  language: python
  additional_dependencies: ['{_NEEDS}']
  types: [text]
  files: '{pattern(families)}'
  require_serial: true
"""
