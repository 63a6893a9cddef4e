"""DOC003-005 and DOC010-013: keys, flags, defaults, imports, dates and names that documents claim."""

from __future__ import annotations

import datetime

import pytest

from example_sanity import session
from example_sanity.checks.docs import dates
from example_sanity.checks.docs.conventions import DocumentedBadName
from example_sanity.checks.docs.dates import BadDate, MissingDate
from example_sanity.checks.docs.defaults import DocWrongDefault
from example_sanity.checks.docs.flags import DocUnknownFlag
from example_sanity.checks.docs.keys import DocUnknownKey
from example_sanity.checks.docs.snippets import UnimportableSnippet
from example_sanity.checks.docs.sources import DanglingConfigPath
from example_sanity.core.rule import Rule
from example_sanity.core.trace import TODAY
from example_sanity.testing import check_rule
from helpers import Write, brief, report

FILES = {
    "app/__init__.py": "",
    "app/config/train.yaml": (
        "defaults:\n  - model@actor.model: hf\n  - _self_\n\ntrainer:\n  nnodes: 1\n  steps: 10\n  tags: [a]\n"
        "actor:\n  lr: 1e-6\n"
    ),
    "app/config/model/hf.yaml": "external_lib: null\npath: ???\n",
    "app/options.py": "from dataclasses import dataclass\n\n\n@dataclass\nclass Options:\n    warmup: int = 0\n",
    "app/train.py": (
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--micro-batch-size', type=int, default=4)\n"
        "parser.add_argument('--use-flash', action='store_true')\n"
    ),
    "app/lazy.py": "def __getattr__(name): ...\n",
    "app/names.py": "try:\n    import x as y\nexcept ImportError:\n    A = 1\n\n\nclass B: ...\n",
    "examples/ppo/run_a_fsdp.sh": "NNODES=${NNODES:-1}\nLR=${LR:-1e-6}\nDIR=${DIR:-$PWD}\npython3 train.py $NNODES $LR $DIR\n",
}


def said(rule: type[Rule], text: str, path: str = "README.md", **more: str) -> list[str]:
    items = check_rule(rule, text, path=path, files={**FILES, **more})
    return [f"{item.span.line}:{item.span.column} {item.message}" for item in items]


@pytest.mark.parametrize(
    "text",
    [
        "`trainer.nnodes=2`, `actor.model.external_lib`, `actor.warmup`",
        "`trainer.fit()`, `trainer.fit`, `trainer.py`, `other.nnode`, `trainer.nnode.x()`",
        "`trainer.nnode` was removed; `trainer.nnode` -> `trainer.nnodes`",
        "`+trainer.nnode=2`",
        "```python\ntrainer.nnode = 2\n```",
    ],
)
def test_keys_that_are_known_or_none_are_silent(text: str) -> None:
    assert said(DocUnknownKey, text) == []


def test_keys_that_no_configuration_has() -> None:
    assert said(DocUnknownKey, "Set ``trainer.nnode``.\n", "docs/a.rst") == [
        "1:7 no configuration has a key nnode: trainer.nnode; the nearest is trainer.nnodes"
    ]
    assert said(DocUnknownKey, "| Key |\n|---|\n| `actor.model.external_libs` |\n") == [
        "3:4 no configuration has a key external_libs: actor.model.external_libs; the nearest is actor.model.external_lib"
    ]
    assert said(DocUnknownKey, "```bash\ntrainer.step=5 \\\n  trainer.nnodes=2\n```\n") == [
        "2:1 no configuration has a key step: trainer.step; the nearest is trainer.steps"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "`--micro-batch-size 4`",
        "`--micro_batch_size`",
        "`--no-use-flash`",
        "`pip install --no-deps`",
        "`--micro-batch-*`",
    ],
)
def test_flags_that_are_known_or_of_other_tools_are_silent(text: str) -> None:
    assert said(DocUnknownFlag, text) == []


def test_flags_that_no_program_has() -> None:
    assert said(DocUnknownFlag, "Set `--micro-batchsize 4`.") == [
        "1:6 no program of the repository has a flag --micro-batchsize; the nearest is --micro-batch-size"
    ]


def table(name: str, default: str) -> str:
    return f"| Name | Default |\n|---|---|\n| `{name}` | {default} |\n"


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("NNODES", "`1`"),
        ("NNODES", "1"),
        ("NNODES", "*(required)*"),
        ("LR", "`0.000001`"),
        ("DIR", "`here`"),
        ("OTHER", "`2`"),
        ("trainer.steps", "`10`"),
        ("trainer.steps", "`10` or `20`"),
        ("trainer.tags", "`b`"),
        ("actor.model.path", "`x`"),
        ("actor.model.external_lib", "None"),
        ("--micro-batch-size", "4"),
        ("--use-flash", "off"),
        ("--other", "1"),
    ],
)
def test_defaults_that_agree_or_cannot_be_told_are_silent(name: str, default: str) -> None:
    assert said(DocWrongDefault, table(name, default), "examples/ppo/README.md") == []


@pytest.mark.parametrize(
    ("name", "default", "right"),
    [
        ("NNODES", "`2`", "1, not 2"),
        ("trainer.steps", "`100`", "10, not 100"),
        ("--micro-batch-size", "`1`", "4, not 1"),
        ("--use-flash", "`True`", "False, not True"),
    ],
)
def test_defaults_that_the_sources_do_not_have(name: str, default: str, right: str) -> None:
    column = len(f"| `{name}` | ") + 1
    assert said(DocWrongDefault, table(name, default), "examples/ppo/README.md") == [
        f"3:{column} the default of {name} is {right}"
    ]


def python(text: str) -> str:
    return f"```python\n{text}\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        "from app.names import A, B, y\nimport app.train, numpy",
        "from app.lazy import anything",
        "from app import names",
        ">>> from app.names import (\n...     A,\n... )",
        "from .names import C",
        "x = 'from app.gone import y'",
    ],
)
def test_imports_that_resolve_are_silent(text: str) -> None:
    assert said(UnimportableSnippet, python(text)) == []


def test_imports_that_do_not_resolve() -> None:
    assert said(UnimportableSnippet, python("...\nfrom app.names import A, C")) == ["3:1 app.names has no C"]
    assert said(UnimportableSnippet, python("import app.trian")) == [
        "2:1 there is no module app.trian in the repository (did you mean 'app.train'?)"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "07/29/2024",
        "29/07/2024",
        "2024-07-29",
        "2024/07/29 (by hand)",
        "July 29, 2024",
        "29 Jul 2024",
        "soon",
        "v1.2",
    ],
)
def test_dates_that_are_right_or_none_are_silent(text: str) -> None:
    assert said(BadDate, f"**Last updated:** {text}.\n") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("99/99/0000", "99/99/0000 is no date"),
        ("02/30/2024.", "02/30/2024 is no date"),
        ("2999-01-01", "2999-01-01 lies in the future"),
    ],
)
def test_dates_that_cannot_be(text: str, message: str) -> None:
    assert said(BadDate, f"Last updated: {text}\n") == [f"1:15 {message}"]


def test_tomorrow_is_not_the_future() -> None:
    today = datetime.date(2024, 7, 29)
    assert dates._problem("07/30/2024", today) is None
    assert dates._problem("07/31/2024", today) == "07/31/2024 lies in the future"


def test_dates_that_are_missing() -> None:
    config = {"example-sanity.toml": '[docs]\ndated = ["/docs/**"]\nundated = ["/docs/b.md"]\n'}
    assert said(MissingDate, "# A\n", "docs/a.md", **config) == [
        '1:1 there is no line "Last updated: MM/DD/YYYY"'
    ]
    assert said(MissingDate, "Last updated: never\n", "docs/a.md", **config) != []
    assert said(MissingDate, "Last updated: 07/29/2024\n", "docs/a.md", **config) == []
    assert said(MissingDate, "# B\n", "docs/b.md", **config) == []
    assert said(MissingDate, "# C\n", "README.md", **config) == []


@pytest.mark.parametrize(
    "text",
    [
        "Name it `run_<model>_<train-backend>.sh`.",
        "```\nrun_{model}_{backend}.sh\n```",
        "`<backend>` is one of `fsdp`, `fsdp2` or `megatron_lite`. `vllm` is none.",
        "Do not add `_npu`.",
        "Never write `run_qwen3_8b_fsdp_npu.sh`; `run_x_vllm.sh` was renamed.",
        "`run_a_fsdp.sh` and `run_b_fsdp.sh`",
        "`<model>` is one of `qwen3_8b`.",
    ],
)
def test_names_that_the_rules_accept_are_silent(text: str) -> None:
    assert said(DocumentedBadName, text, "examples/README.md") == []


def test_names_that_the_rules_refuse() -> None:
    (message,) = said(DocumentedBadName, "`run_<model>_<infer-engine>_<backend>.sh`", "examples/README.md")
    assert message.startswith("1:2 the naming rules refuse run_<model>_<infer-engine>_<backend>.sh: ")
    assert "'vllm'" in message
    (message,) = said(
        DocumentedBadName, "- `<train-backend>`: one of `fsdp`,\n  `vllm`.", "examples/README.md"
    )
    assert message.startswith("2:4 the naming rules know no backend vllm, only fsdp, ")
    assert said(DocumentedBadName, "`run_<model>_<engine>.sh`", "docs/a.md") == []
    (message,) = said(
        DocumentedBadName, "Demos (e.g. `run_qwen3_8b_fsdp_gb200.sh`) keep a suffix.", "examples/README.md"
    )
    assert message.startswith("1:14 the naming rules refuse run_qwen3_8b_fsdp_gb200.sh: ")
    off = {"example-sanity.toml": 'ignore = ["naming"]\n'}
    assert said(DocumentedBadName, "`run_<model>_<engine>.sh`", "examples/README.md", **off) == []


def test_a_document_elsewhere_is_not_judged_by_naming_when_it_is_named_either(write: Write) -> None:
    root = write({"docs/a.md": "`run_<model>_<engine>.sh`\n", "examples/run_a_fsdp.sh": "python3 train.py\n"})

    assert brief(report(root, "docs", "docs/a.md").findings) == []


YAML = {"configs/rewards/rule.py": "", "configs/a.json": "{}\n"}


@pytest.mark.parametrize(
    "text",
    [
        "reward: configs/rewards/rule.py\nbeside: rewards/rule.py\nlist:\n  - configs/a.json\n",
        "output_dir: configs/new.json\nsave: configs/new.yaml\n",
        "path: /data/configs/gone.py\nurl: https://x.org/configs/gone.py\nmodel: Qwen/Qwen3-8B\nother: elsewhere/gone.py\n",
        "text: see configs/gone.py for more\n# configs/gone.py\n",
    ],
)
def test_configurations_that_name_what_is_there_are_silent(text: str) -> None:
    assert said(DanglingConfigPath, text, "configs/a.yaml", **YAML) == []


def test_configurations_that_name_missing_files() -> None:
    assert said(
        DanglingConfigPath, "reward:\n  path: 'configs/rewards/rules.py'  # here\n", "configs/a.yaml", **YAML
    ) == ["2:10 configs/rewards/rules.py does not exist; the nearest is configs/rewards/rule.py"]
    assert said(DanglingConfigPath, "- configs/gone/a.json\n", "examples/b.yaml", **YAML) == [
        "1:3 configs/gone/a.json does not exist; the nearest is configs/a.json"
    ]


def test_data_that_one_downloads_need_not_be_there() -> None:
    files = {**YAML, "data/tiny.json": "[]\n"}
    assert said(DanglingConfigPath, "- ./data/large.json\n", "configs/a.yaml", **files) == []
    assert len(said(DanglingConfigPath, "- data/reader.py\n", "configs/a.yaml", **files)) == 1


def test_a_date_in_the_future_is_looked_at_again_tomorrow(write: Write) -> None:
    root = write(
        {
            "a.md": "Last updated: 2999-01-01\n",
            "b.md": "Last updated: 2024-01-01\n",
            "c.md": "Last updated: 99/99/2024\n",
        }
    )
    run = session.open_run((), root=root)
    assert [TODAY in run.outcome(BadDate, path).inputs for path in ("a.md", "b.md", "c.md")] == [
        True,
        False,
        False,
    ]
