"""Configurations read without importing their program: composed, flattened, typed, kept, and built to be shipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra._internal.sources_registry import SourcesRegistry
from omegaconf import OmegaConf

from example_sanity.schema.hydra import build, shipped
from example_sanity.schema.hydra.classes import Classes
from example_sanity.schema.hydra.compose import merge
from example_sanity.schema.hydra.flatten import built_names
from example_sanity.schema.hydra.mains import hydra_main
from example_sanity.schema.hydra.model import ComposeError, changed, difference
from example_sanity.schema.hydra.roots import Roots
from example_sanity.schema.hydra.trees import LiveTree, Spec
from helpers import Write, cli
from overrides.program import FILES

CHOICES: list[list[str]] = [
    [],
    ["engine=mega"],
    ["actor=mega_actor"],
    ["engine=mega", "actor=dp_actor"],
    ["actor=dp_actor", "engine=mega"],
]


@pytest.fixture
def roots(write: Write) -> Roots:
    return Roots((write(FILES),))


def live(roots: Roots, cache: Path | None = None) -> LiveTree:
    root = roots.folders[0]
    return LiveTree(roots, Spec(str(root / "app/config"), "train"), root / "app", cache)


def test_the_program_is_found_and_its_decorator_read(roots: Roots) -> None:
    file = roots.module("app.train")
    assert file == roots.folders[0] / "app/train.py"
    main = hydra_main(file)
    assert main is not None
    assert (main.line, main.path, main.name) == (4, "config", "train")
    assert main.folder == str(roots.folders[0] / "app/config")
    assert hydra_main(roots.folders[0] / "app/tool.py") is None
    assert roots.module("app.nothing") is None
    assert roots.top("nowhere") is None


def test_a_configuration_is_flat_with_defaults_types_and_places(roots: Roots) -> None:
    found = live(roots).compose([])

    nnodes, lr = found.keys["trainer.nnodes"], found.keys["actor.lr"]
    assert (nnodes.value, nnodes.kinds, nnodes.where, nnodes.declared) == (
        1,
        ("int",),
        "app/config/train.yaml:7",
        False,
    )
    assert (lr.value, lr.kinds, lr.where, lr.declared) == (
        1e-6,
        ("float",),
        "app/config/actor/actor.yaml:2",
        True,
    )
    assert found.keys["actor.kind"].choices == ("a", "b")
    assert found.keys["actor.mode"].choices == ("async", "sync")
    assert found.keys["actor.files"].kinds == ("str", "list", "null")
    assert found.keys["actor.old"].note == "deprecated"
    assert found.keys["actor.fsdp"].kinds == ("dict",)
    assert found.keys["actor.length"].kinds == ()
    assert (found.groups["engine"], found.groups["actor"]) == ("dp", "dp_actor")
    assert found.closed["actor.loss"] == ("clip", "mode")


def test_groups_and_what_hydra_refuses(roots: Roots) -> None:
    tree = live(roots)
    assert {key: names for key, names in tree.options.items() if not key.startswith("hydra")} == {
        "actor": ["actor", "dp_actor", "mega_actor"],
        "engine": ["dp", "mega"],
    }
    with pytest.raises(ComposeError, match="mego"):
        tree.compose(["engine=mego"])


def test_hydra_is_left_as_it_was(roots: Roots) -> None:
    before = dict(SourcesRegistry.instance().types)
    live(roots).compose(["engine=mega"])
    assert SourcesRegistry.instance().types == before


@pytest.mark.parametrize(
    ("target", "source"),
    [
        ({"a": {"b": 1}}, {"a": {"c": 2}}),
        ({"a": [1, 2]}, {"a": [3]}),
        ({"a": {"b": 1}}, {"a": None}),
        ({"a": None}, {"a": {"b": 1}}),
        ({"a": 1}, {"a": {"b": 1}}),
        ({"a": 1}, {"a": "???"}),
        ({}, {"a": "???"}),
        ({"a": {"b": 1}}, {"a": {}}),
        ({"a": "${b}"}, {"a": {"c": 1}, "b": {"d": 2}}),
    ],
)
def test_the_merge_is_that_of_omegaconf(target: dict[str, object], source: dict[str, object]) -> None:
    theirs = OmegaConf.to_container(OmegaConf.merge(target, source))
    merge(target, source)
    assert target == theirs


def test_compositions_are_kept_until_a_file_changes(roots: Roots, tmp_path: Path) -> None:
    cache = tmp_path / "cache/hydra"
    first = live(roots, cache).compose(["engine=mega"])
    assert len(list(cache.iterdir())) == 1
    assert live(roots, cache).compose(["engine=mega"]) == first

    options = roots.folders[0] / "app/options.py"
    options.write_text(options.read_text().replace('["sync", "async"]', '["sync", "async", "both"]'))

    assert live(roots, cache).compose(["engine=mega"]).keys["actor.mode"].choices == ("async", "both", "sync")


def test_a_cache_that_is_broken_or_cannot_be_written_costs_time_only(roots: Roots, tmp_path: Path) -> None:
    cache = tmp_path / "cache/hydra"
    live(roots, cache).compose([])
    (kept,) = cache.iterdir()
    kept.write_text("{")
    assert live(roots, cache).compose([]).groups["engine"] == "dp"
    (tmp_path / "file").write_text("")
    assert live(roots, tmp_path / "file/hydra").compose([]).groups["engine"] == "dp"


def test_classes_are_followed_through_imports_bases_and_packages(write: Write) -> None:
    root = write(
        {
            "lib/__init__.py": "from .inner import *\nfrom lib.other import Renamed as Mine\n",
            "lib/inner.py": "from lib.base import Base\n@dataclass\nclass Child(Base):\n    b: 'int | None' = 1\n",
            "lib/base.py": "@dataclass\nclass Base:\n    a: Optional[Literal['x', 'y']] = None\n    c: ClassVar[int] = 1\n",
            "lib/other.py": "@dataclass\nclass Renamed(Unknown):\n    d: dict[str, int] = None\n    e: bool = field(init=False)\n",
        }
    )
    classes = Classes(Roots((root,)))

    child, mine = classes.get("lib.Child"), classes.get("lib.Mine")

    assert child is not None
    assert {name: item.kinds for name, item in child.fields.items()} == {
        "a": ("str", "null"),
        "b": ("int", "null"),
    }
    assert child.fields["a"].choices == ("x", "y", None)
    assert child.whole
    assert mine is not None
    assert (list(mine.fields), mine.whole) == (["d"], False)
    assert classes.get("lib.Nothing") is None
    assert classes.get("Nothing") is None


def test_what_the_program_builds_is_read_from_its_calls(roots: Roots) -> None:
    assert built_names(roots.folders[0] / "app") == {"actor"}


def schema(roots: Roots) -> shipped.Schema:
    source = shipped.Source("small", "https://example.invalid", "abc", "Apache-2.0", 1)
    return build.Builder(roots.folders, ["app"], []).build(source)


@pytest.mark.parametrize("choices", CHOICES, ids=" ".join)
def test_a_shipped_schema_composes_what_the_source_does(roots: Roots, choices: list[str]) -> None:
    stored = shipped.decode(shipped.encode(schema(roots)))
    tree = shipped.ShippedTree(stored, "pkg://app.config/train")

    assert tree.compose(choices) == live(roots).compose(choices)
    assert tree.options == live(roots).options
    assert stored.entries == {"app.train": ("pkg://app.config", "train")}
    assert stored.modules == ("app", "app.options", "app.tool", "app.train")


def test_the_index_tells_what_the_shipped_schemas_are_about() -> None:
    """``example-sanity schema`` writes it anew where it writes one of them."""
    assert shipped.INDEX.read_bytes() == shipped.indexed()
    assert list(shipped.index()) == shipped.names()


@pytest.mark.parametrize(
    ("module", "needed", "name"),
    [
        ("verl.trainer.main_ppo", (), "verl-main"),
        ("verl.trainer.main_ppo", ("recipe",), None),
        ("app.train", (), None),
    ],
)
def test_of_the_shipped_schemas_one_is_unpacked(
    module: str, needed: tuple[str, ...], name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    load = shipped.load.__wrapped__

    def noting(name: str) -> shipped.Schema:
        loaded.append(name)
        return load(name)

    monkeypatch.setattr(shipped, "load", noting)
    found = shipped.choose(module, needed)

    assert loaded == ([] if name is None else [name])
    assert (found and found.source.name) == (found and load(name or "").source.name)


def test_what_a_shipped_schema_does_not_know_is_no_answer(roots: Roots) -> None:
    tree = shipped.ShippedTree(schema(roots), "pkg://app.config/train")
    with pytest.raises(shipped.NotShippedError):
        tree.compose(["+engine@other=mega"])


def test_differences_are_undone_by_their_change(roots: Roots) -> None:
    one, other = live(roots).compose([]), live(roots).compose(["engine=mega"])
    assert changed(one, difference(one, other)) == other
    assert changed(other, difference(other, one)) == one
    assert changed(one, difference(one, one)) == one


def test_schema_build_writes_what_the_configuration_may_name(
    roots: Roots, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "small.json.xz"
    arguments = ["--root", str(roots.folders[0]), "--package", "app", "--licence", "MIT", "-o", str(output)]

    code, out, _ = cli(capsys, "schema", "build", "small", *arguments)

    assert code == 0
    assert "1 programs, 1 configurations" in out
    assert shipped.load(str(output)).source.licence == "MIT"
    assert cli(capsys, "schema", "build", "x", "--root", "/nowhere", "--package", "a")[0] == 2
    assert cli(capsys, "schema", "build", "x", "--root", str(tmp_path), "--package", "plug")[0] == 2


@pytest.mark.parametrize("name", shipped.names())
def test_every_shipped_schema_says_where_it_is_from(name: str) -> None:
    found = shipped.load(name)
    assert found.source.name == name
    assert found.source.url.startswith("https://")
    assert len(found.source.commit) == 40
    assert found.source.licence == "Apache-2.0"
    notice = (shipped.FOLDER / "NOTICE.md").read_text()
    assert name in notice
    assert found.source.commit in notice
    # With a search path of its own a schema leaves out what Hydra does not compose there.
    if not found.packages:
        assert found.forests.keys() >= {f"{folder}/{main}" for folder, main in found.entries.values()}
