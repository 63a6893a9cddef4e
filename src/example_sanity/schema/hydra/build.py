"""Makes a schema that ships: every configuration of a source tree, composed with each group choice beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from example_sanity.schema.hydra.classes import Classes
from example_sanity.schema.hydra.compose import Composer
from example_sanity.schema.hydra.flatten import built_names, flatten
from example_sanity.schema.hydra.mains import hydra_main
from example_sanity.schema.hydra.model import ComposeError, Composition, Delta, difference
from example_sanity.schema.hydra.roots import Roots
from example_sanity.schema.hydra.shipped import Forest, Schema, Source


class Builder:
    """Builds one schema from folders; nothing in them is imported."""

    def __init__(self, folders: Sequence[Path], packages: Sequence[str], searchpath: Sequence[str]) -> None:
        """Read ``packages`` below ``folders``; ``searchpath`` is laid after the folder of each configuration."""
        self._roots = Roots(tuple(folder.resolve() for folder in folders))
        self._packages = packages
        self._searchpath = tuple(searchpath) or None
        self._classes = Classes(self._roots)

    def build(self, source: Source) -> Schema:
        """Return the schema."""
        modules = sorted(self._modules())
        entries = dict(self._entries(modules))
        forests: dict[str, Forest] = {}
        for folder in sorted({folder for folder, _ in entries.values()}):
            for name in self._names(folder):
                forest = self._forest(folder, name)
                if forest is not None:
                    forests[f"{folder}/{name}"] = forest
        found = [path for name in self._packages if (path := self._roots.folder(name))]
        built = {name for path in found for name in built_names(path)}
        return Schema(
            source=source,
            modules=tuple(modules),
            entries=entries,
            packages=self._searchpath or (),
            built=tuple(sorted(built)),
            removed={},
            forests={key: msgspec.Raw(msgspec.json.encode(forest)) for key, forest in forests.items()},
        )

    def _modules(self) -> Iterator[str]:
        for package in self._packages:
            folder = self._roots.folder(package)
            for path in folder.rglob("*.py") if folder else ():
                parts = path.relative_to(folder.parent if folder else path).with_suffix("").parts
                name = ".".join(parts)
                if all(part.isidentifier() for part in parts):
                    yield name.removesuffix(".__init__").removesuffix(".__main__")

    def _entries(self, modules: Iterable[str]) -> Iterator[tuple[str, tuple[str, str]]]:
        for module in modules:
            file = self._roots.module(module)
            main = hydra_main(file) if file else None
            if main and main.folder and main.name:
                shown = main.folder if "://" in main.folder else self._roots.shown(Path(main.folder))
                if not shown.startswith("/"):
                    yield module, (f"pkg://{shown.removeprefix('pkg://').replace('/', '.')}", main.name)

    def _names(self, folder: str) -> list[str]:
        path = self._roots.folder(folder.removeprefix("pkg://"))
        found = sorted(item.stem for item in path.glob("*.yaml")) if path else []
        return [name for name in found if not name.startswith("_")]

    def _forest(self, folder: str, name: str) -> Forest | None:
        composer = Composer(self._roots, folder, self._searchpath)
        trunk = _Trunk(composer, name, self._roots, self._classes)
        base = trunk.compose([])
        if base is None or not any(not key.startswith("hydra") for key in base.keys):
            return None
        options = composer.options(name)
        forest = Forest(base, options, {})
        for word in _words(base, options):
            other = trunk.compose([word])
            if other is None:
                continue
            forest.choices[word] = difference(base, other)
            forest.choices.update(_followers(trunk, word, base, other, options))
        return forest


class _Trunk:
    """One configuration, flattened for any choices."""

    def __init__(self, composer: Composer, name: str, roots: Roots, classes: Classes) -> None:
        self._composer, self._name, self._roots, self._classes = composer, name, roots, classes

    def compose(self, words: list[str]) -> Composition | None:
        """Return the flat form, or None where Hydra refuses."""
        try:
            return flatten(self._composer.compose(self._name, words), self._roots, self._classes)
        except ComposeError:
            return None


def _is_ours(group: str) -> bool:
    # What stands in nested defaults lists cannot be chosen by a name that anybody would write.
    return not group.startswith("hydra/") and ".." not in group


def _words(composition: Composition, options: dict[str, list[str]]) -> list[str]:
    """Return each choice that changes something."""
    groups = [group for group in composition.groups if _is_ours(group)]
    return [
        f"{group}={option}"
        for group in groups
        for option in options.get(group.partition("@")[0], ())
        if composition.groups[group] != option
    ]


def _followers(
    trunk: _Trunk, word: str, base: Composition, other: Composition, options: dict[str, list[str]]
) -> Iterator[tuple[str, Delta]]:
    """Yield the second choices that mean something else after ``word``: those of groups that it changes or brings."""
    followed = {key for key, name in other.groups.items() if base.groups.get(key) != name}
    followed.discard(word.lstrip("+").partition("=")[0])
    for group in sorted(filter(_is_ours, followed)):
        for option in options.get(group.partition("@")[0], ()):
            second = f"{group}={option}"
            after = trunk.compose([word, second]) if option != other.groups[group] else other
            if after is not None:
                yield f"{word} {second}", difference(other, after)
