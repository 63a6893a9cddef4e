"""What the commands do, apart from parsing their arguments."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from example_sanity import __version__, checks
from example_sanity.core import config as configuration
from example_sanity.core import workers
from example_sanity.core.cache import Cache, folder_of, key_of, sources_of
from example_sanity.core.errors import ExitCode, UsageError
from example_sanity.core.inputs import Digests
from example_sanity.core.project import Project, locate
from example_sanity.core.rule import Example, Rule, iterate_rules
from example_sanity.core.runner import Run


def open_run(  # noqa: PLR0913  # the options of every command, by keyword
    paths: Sequence[Path] = (),
    *,
    root: Path | None = None,
    config: Path | None = None,
    preset: str | None = None,
    environment: Mapping[str, str] | None = None,
    cache: bool = True,
    jobs: int = 1,
    allow_local_rules: bool = False,
    allow_commands: bool = False,
    engine: str = "bashkit",
    known: Project | None = None,
) -> Run:
    """Find the project that ``paths`` belong to, read its configuration and prepare a run. Raises UsageError.

    ``cache`` says whether to use what earlier runs found, ``jobs`` is the number of processes (0: one a processor).
    ``engine`` evaluates launchers: ``bashkit``, or ``bash``, the real one. ``known`` is the project as
    far as it was looked at already. ``allow_local_rules`` lets rules of the repository be imported, which executes them,
    ``allow_commands`` commands of the configuration be run.
    """
    found = locate(paths, root, config)
    where, local = configuration.local_rules(found, config)
    registry = checks.registry(_local_plugins(found, local, where, allow_local_rules))
    settings = configuration.load(found, registry.families, registry.presets, file=config, preset=preset)
    project = Project(found, settings.exclude, settings.include, known)
    run = Run(project, settings, registry, environment)
    run.engine = engine
    run.commands_allowed = allow_commands
    run.jobs = jobs or workers.available()
    if cache:
        code = [(found / name).read_text("utf-8") for name in local]
        code += sources_of(plugin for plugin, _ in registry.manager.list_plugin_distinfo())
        key = key_of(str(found), msgspec.to_builtins(settings), run.environment, engine, code, allow_commands)
        run.store = Cache(folder_of(found), key, Digests(run))
    return run


def _local_plugins(root: Path, names: Sequence[str], where: str, allowed: bool) -> list[object]:
    if not names:
        return []
    from example_sanity.core import localrules

    return localrules.load(root, names, where, allowed=allowed)


def progress() -> Callable[[int, int], None]:
    """Return a function that tells on stderr how far a run is: once a second on a terminal, in a log once in ten."""
    last = time.monotonic()
    pause = 1 if sys.stderr.isatty() else 10

    def show(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= pause and done < total:
            last = time.monotonic()
            click.echo(f"example-sanity: {done} of {total} files", err=True)

    return show


def versions() -> list[str]:
    """Return the lines of ``--version``: ours, and those of the distributions whose plugins are loaded."""
    plugins = {
        f"plugin {distribution.project_name}, version {distribution.version}"
        for _, distribution in checks.registry().manager.list_plugin_distinfo()
    }
    return [f"example-sanity, version {__version__}", *sorted(plugins)]


def explain(word: str) -> int:
    """Print what a rule means. Raises UsageError for an unknown one."""
    registry = checks.registry()
    codes = sorted(registry.resolve(word, "explain"))
    if len(codes) > 1:
        raise UsageError(f"{word} is a family; name one of its rules: {', '.join(codes)}")
    rule = registry.rules[codes[0]]
    click.echo("\n".join(_explanation(rule)))
    return ExitCode.CLEAN


def _explanation(rule: type[Rule]) -> list[str]:
    import inspect

    lines = [f"{rule.code} {rule.name} ({rule.severity.value}, since {rule.since})", ""]
    lines += [inspect.getdoc(rule) or rule.summary, ""]
    if rule.source:
        lines += [f"Source: {rule.source}", ""]
    for title, examples in (("Bad", rule.bad), ("Good", rule.good)):
        for example in examples:
            lines += [f"{title}, {example.path}:", *_indented(example), ""]
    return lines[:-1]


def _indented(example: Example) -> list[str]:
    return [f"    {line}".rstrip() for line in example.text.rstrip("\n").split("\n")]


def list_rules(form: str) -> int:
    """Print all rules: one a line, as JSON, as the page of the documentation, or as hooks of pre-commit."""
    registry = checks.registry()
    if form == "pre-commit":
        from example_sanity.report.hooks import manifest

        ours = [family for family in registry.families if family.name in checks.FAMILIES]
        click.echo(manifest(ours), nl=False)
        return ExitCode.CLEAN
    if form == "markdown":
        from example_sanity.report.rules import page

        click.echo(page(registry.families), nl=False)
        return ExitCode.CLEAN
    rows = [
        {
            "code": r.code,
            "name": r.name,
            "family": f.name,
            "severity": r.severity.value,
            "summary": r.summary,
            "since": r.since,
        }
        for f, r in iterate_rules(registry.families)
    ]
    if form == "json":
        from example_sanity.report.json import encode

        click.echo(encode({"version": 1, "rules": rows}), nl=False)
        return ExitCode.CLEAN
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        click.echo(f"{row['code']}  {row['name']:{width}}  {row['severity']:7}  {row['summary']}")
    return ExitCode.CLEAN


def show(script: Path, form: str, diff_defaults: bool, **options: Any) -> int:
    """Print the launch plan of a script. Returns 1 when a scenario could not be evaluated."""
    from example_sanity import show as view
    from example_sanity.report.show import show_text

    run = open_run([script], **options)
    data = view.show_data(*view.evaluate(run, script), run)
    if diff_defaults:
        data = view.without_defaults(data)
    _print(data, show_text, form)
    return ExitCode.FINDINGS if data["problems"] else ExitCode.CLEAN


def plan(  # noqa: PLR0913  # the options of the command, by keyword
    *,
    script: Path,
    form: str,
    draw: bool,
    suggest: bool,
    gpus: int | None,
    gpus_per_node: int | None,
    **options: Any,
) -> int:
    """Print the meshes of a script and the verdict on its guard. Returns 1 for an illegal mesh or a wrong guard."""
    from example_sanity import show as view
    from example_sanity.report.show import plan_text
    from example_sanity.report.suggestions import More

    run = open_run([script], **options)
    if (gpus or gpus_per_node) and not suggest:
        raise UsageError(
            "--gpus and --gpus-per-node need --suggest, which says 'nothing changed' where the mesh is legal as it is; "
            "a variable of the launcher does it as well, such as -e NNODES=8"
        )
    more = More(draw, suggest, gpus, gpus_per_node)
    data = view.plan_data(*view.evaluate(run, script), run, more)
    _print(data, plan_text, form)
    return ExitCode.FINDINGS if data["problems"] or view.fails(data) else ExitCode.CLEAN


def _print(data: dict[str, Any], text: Callable[[dict[str, Any]], Iterator[str]], form: str) -> None:
    if form == "json":
        from example_sanity.report.json import encode

        click.echo(encode(data), nl=False)
    else:
        click.echo("\n".join(text(data)))
