"""Trees of one run share what they read, and each knows what its own outcome depends on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from example_sanity.schema.hydra.compose import Composer, _Files
from example_sanity.schema.hydra.model import ComposeError
from example_sanity.schema.hydra.roots import Roots
from example_sanity.schema.hydra.trees import LiveTree, Spec, Workshop
from helpers import Write

PROGRAM = {
    "app/__init__.py": "",
    "app/big.py": "@dataclass\nclass Big:\n    size: int = 1\n",
    "app/small.py": "@dataclass\nclass Small:\n    speed: float = 1\n",
    "app/config/one.yaml": "defaults:\n  - shared: base\n  - _self_\nnode:\n  _target_: app.big.Big\n  size: 2\n",
    "app/config/two.yaml": "defaults:\n  - shared: base\n  - _self_\nnode:\n  _target_: app.small.Small\n  speed: 2.5\n",
    "app/config/more.yaml": "hydra:\n  searchpath:\n    - file://{root}/further\ndefaults:\n  - shared: other\n  - _self_\n",
    "app/config/shared/base.yaml": "a: 1\n",
    "further/shared/other.yaml": "a: 2\n",
}


@pytest.fixture
def roots(write: Write) -> Roots:
    root = write(PROGRAM)
    file = root / "app/config/more.yaml"
    file.write_text(file.read_text().format(root=root))
    return Roots((root,))


def tree(roots: Roots, name: str, shared: Workshop | None = None) -> LiveTree:
    root = roots.folders[0]
    return LiveTree(roots, Spec(str(root / "app/config"), name), root / "app", None, shared)


def python(found: LiveTree) -> set[str]:
    return {Path(name).name for name in found.inputs if name.endswith(".py")}


def test_a_tree_depends_on_its_own_classes_alone(roots: Roots) -> None:
    workshop = Workshop()
    one, two, again = (tree(roots, name, workshop) for name in ("one", "two", "one"))
    for found in (one, two, again):
        found.compose([])
    assert (python(one), python(two), python(again)) == ({"big.py"}, {"small.py"}, {"big.py"})


@pytest.mark.parametrize("order", [("one", "more", "two"), ("more", "one", "two"), ("two", "one", "more")])
def test_what_is_composed_does_not_depend_on_who_shares(roots: Roots, order: Sequence[str]) -> None:
    workshop = Workshop()
    shared = {name: tree(roots, name, workshop) for name in order}
    for name, found in shared.items():
        alone = tree(roots, name)
        assert found.compose([]) == alone.compose([])
        assert found.options == alone.options
        assert found.inputs == alone.inputs
    assert shared["more"].compose([]).keys["shared.a"].value == 2
    assert shared["one"].options["shared"] == ["base"]
    assert shared["more"].options["shared"] == ["base", "other"]


def test_what_only_another_search_path_has_stays_unknown(roots: Roots) -> None:
    workshop = Workshop()
    tree(roots, "more", workshop).compose([])
    with pytest.raises(ComposeError, match="other"):
        tree(roots, "one", workshop).compose(["shared=other"])


def test_a_file_is_looked_for_and_read_for_hydra_once(roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: Counter[str] = Counter()
    original = _Files.load_config

    def load(self: _Files, config_path: str) -> object:
        loaded[str(self.file(config_path))] += 1
        return original(self, config_path)

    monkeypatch.setattr(_Files, "load_config", load)
    composer = Composer(roots, str(roots.folders[0] / "app/config"))
    for name in ("one", "two", "one"):
        composer.compose(name, [])
        composer.options(name)
    own = {name: count for name, count in loaded.items() if name.startswith(str(roots.folders[0]))}
    assert len(own) == 3
    assert set(own.values()) == {1}
