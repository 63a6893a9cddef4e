"""The flat check against Hydra itself, override by override, over the launchers of real repositories.

Run with ``pytest --corpus DIR``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hydra._internal import defaults_list as algorithm
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.defaults_list import create_defaults_list
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import OmegaConf

from example_sanity import session
from example_sanity.checks.overrides.flat import Check
from example_sanity.checks.overrides.resolving import resolver
from example_sanity.checks.overrides.state import State
from example_sanity.core.errors import Uninspectable
from example_sanity.core.rule import Subject
from example_sanity.launch.command import Launch
from example_sanity.launch.settings import Setting, settings
from example_sanity.schema.hydra import compose
from example_sanity.schema.hydra.trees import LiveTree

pytestmark = pytest.mark.corpus


def checks(corpus: Path) -> Iterator[tuple[str, Check, Launch, Sequence[str]]]:
    """Yield every Hydra launch of a repository whose configuration is in its files."""
    run = session.open_run((), root=corpus, cache=False)
    for path in run.project.files:
        if not run.project.is_shell(path):
            continue
        try:
            launches = [cast("Launch", item) for item in run.load(Subject.LAUNCH, path)]
        except Uninspectable:
            continue
        for launch in launches:
            for entry in launch.entries:
                given = settings(entry)
                tree = resolver(run).resolve(entry, given).tree
                if isinstance(tree, LiveTree):
                    argv = [entry.command.argv[item.word] for item in given]
                    yield path, Check(tree, given.items, launch.script), launch, argv


def hydras(tree: LiveTree, choices: list[str]) -> Any:
    """Return the configuration that Hydra and OmegaConf make, nothing of ours but the places of files."""
    spec, roots = tree._spec, tree._roots
    composer = compose.Composer(roots, spec.folder, spec.searchpath, spec.further)
    with compose._private(roots):
        algorithm._create_interpolation_map = compose._whole_map
        loader = ConfigLoaderImpl(composer._path)
        repository = composer._repository(spec.name)
        defaults = create_defaults_list(
            repo=repository,
            config_name=spec.name,
            overrides_list=composer._parsed(choices),
            prepend_hydra=True,
            skip_missing=False,
        )
        return loader._compose_config_from_defaults_list(defaults=defaults.defaults, repo=repository)


def refused(config: Any, word: str) -> bool:
    try:
        ConfigLoaderImpl._apply_overrides_to_config(OverridesParser.create().parse_overrides([word]), config)
    except HydraException:
        return True
    return False


def test_every_override_gets_the_verdict_that_hydra_gives(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bases: dict[tuple[int, tuple[str, ...]], Any] = {}
    seen: set[tuple[object, ...]] = set()
    wrong: list[tuple[str, str, bool, bool]] = []
    compared = 0
    for path, check, _, argv in checks(corpus):
        key = (id(check.tree), tuple(argv))
        if key in seen:
            continue
        seen.add(key)
        composition = check.composition()
        tree = check.tree
        assert isinstance(tree, LiveTree)
        if composition is None:
            continue
        sound = [item for item in check.settings if item.style == "hydra" and item.error is None]
        choices, plain = check._split(sound)
        words = [_word(item, check.settings, argv) for item in choices]
        at = (id(tree), tuple(words))
        if at not in bases:
            with monkeypatch.context() as patch:
                patch.setattr(compose, "_steering", lambda data: data if data is not None else {})
                bases[at] = hydras(tree, words)
            theirs = OmegaConf.to_container(bases[at], resolve=False)
            assert _flat(theirs) == {key: leaf.value for key, leaf in composition.keys.items()}, path
        config = bases[at].copy()
        OmegaConf.set_struct(config, True)
        state = State(composition)
        for item in plain:
            word = _word(item, check.settings, argv)
            mine, real = state.refuses(item), refused(config, word)
            compared += 1
            if mine != real:
                wrong.append((path, word, mine, real))
            if not mine:
                state.apply(item)
    print(f"{corpus.name}: {len(seen)} command lines, {len(bases)} configurations, {compared} overrides")
    assert wrong == []
    assert compared or corpus.name != "verl"


def _word(item: Setting, given: Sequence[Setting], argv: Sequence[str]) -> str:
    return argv[next(place for place, other in enumerate(given) if other is item)]


def _flat(node: Any, prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in node.items():
        found[f"{prefix}{name}"] = {} if isinstance(value, dict) else value
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}.")
    return found
