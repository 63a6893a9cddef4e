"""For the tests of rules: what one rule says of one file, in one line."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from example_sanity import checks
from example_sanity.core import config as configuration
from example_sanity.core import system
from example_sanity.core.finding import Finding
from example_sanity.core.project import Project
from example_sanity.core.registry import Registry, hookimpl
from example_sanity.core.rule import Contents, Example, Family, Rule
from example_sanity.core.runner import Run

_PATH = Example("").path


class _Alone:
    """Offers a rule that no plugin does."""

    def __init__(self, rule: type[Rule]) -> None:
        self._rule = rule

    @hookimpl
    def checks_rules(self) -> tuple[Family, ...]:
        return (Family("alone", "ALONE", "the rule of a test", lambda: Contents((self._rule,))),)


def check_rule(  # noqa: PLR0913  # what a test may want to say, by keyword
    rule: type[Rule],
    text: str | bytes,
    *,
    path: str = _PATH,
    files: Mapping[str, str | bytes] | None = None,
    options: Mapping[str, Any] | None = None,
    plugins: Iterable[object] = (),
) -> list[Finding]:
    """Return what ``rule`` finds in a project of the file ``path`` with ``text`` and of further ``files``.

    ``options`` is the configuration table of the rule's family. ``plugins`` are registered besides those that are
    installed; a rule that none of them offers is tried alone. Raises UsageError for options that the family does not
    have, and ValueError when the file could not be inspected: an uninspected file must not pass for a clean one.
    """
    registry = _registry(rule, plugins)
    family = next(family for family in registry.families if rule in family.rules)
    with tempfile.TemporaryDirectory(prefix="example-sanity-") as folder:
        root = Path(folder).resolve()
        _write(root, {**(files or {}), path: text})
        config = configuration.load(root, registry.families, registry.presets)
        if options is not None:
            table = configuration.convert(dict(options), family.options, family.name)
            config = msgspec.structs.replace(config, families={**config.families, family.name: table})
        run = Run(Project(root, config.exclude, config.include), config, registry)
        # A rule on suppressions speaks of the findings of all others.
        families = registry.families if rule.subject.is_afterwards else [family]
        findings = run.check(families).findings
    return _of(rule, findings)


def _registry(rule: type[Rule], plugins: Iterable[object]) -> Registry:
    plugins = tuple(plugins)
    found = checks.registry(plugins)
    return found if rule in found.rules.values() else checks.registry((*plugins, _Alone(rule)))


def _write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _of(rule: type[Rule], findings: Iterable[Finding]) -> list[Finding]:
    found = list(findings)
    for problem in found:
        if problem.code.startswith(system.FAMILY.prefix) and rule.code != problem.code:
            raise ValueError(f"{problem.path} could not be inspected: {problem.code} {problem.message}")
    return [finding for finding in found if finding.code == rule.code]
