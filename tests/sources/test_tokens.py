"""SRC003 and SRC012: banned identifiers, code for one accelerator, and the fixes."""

from __future__ import annotations

from typing import Any

import pytest

from example_sanity.checks.sources.tokens import BannedToken, HardCodedDevice
from example_sanity.testing import check_rule
from helpers import Write, cli


def banned(text: str, path: str = "engine/a.py", **more: Any) -> list[int]:
    table = {"names": ["DataProto", "torch.load"], "paths": ["/engine/"], **more}
    return [item.span.line for item in check_rule(BannedToken, text, path=path, options={"banned": [table]})]


@pytest.mark.parametrize(
    "text",
    [
        "# DataProto is not used\n",
        '"""DataProto is not used."""\n',
        "x = 'DataProto'\n",
        "DataProtoLike = 1\n",
        "import torch\ntorch.loads()\n",
        "load()\nother.load()\n",
    ],
)
def test_text_and_longer_names_are_no_use(text: str) -> None:
    assert banned(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "from p import DataProto\n",
        "import DataProto\n",
        "x = p.DataProto.concat([])\n",
        "def f(x: DataProto): pass\n",
        "def f(x: 'list[DataProto]'): pass\n",
        "def f() -> 'DataProto': pass\n",
        "x: 'DataProto'\n",
        "f(DataProto=1)\n",
        "class DataProto: pass\n",
        "x = f'{DataProto}'\n",
        "torch.load(x)\n",
        "from torch import load\n",
        "a.torch.load.b\n",
    ],
)
def test_every_kind_of_use_is_found(text: str) -> None:
    assert banned(text) == [1]


def test_a_path_that_only_holds_the_words_of_an_exemption_is_not_exempt() -> None:
    use = "from p import DataProto\n"

    assert banned(use, path="other/a.py") == []
    assert banned(use, exclude=["/engine/base/"], path="engine/base/a.py") == []
    assert banned(use, exclude=["/engine/base/"], path="engine/x/engine/base/a.py") == [1]


def test_text_counts_where_that_is_asked_for() -> None:
    text = "# DataProto\nx = 'a DataProto'\n"

    assert banned(text, "engine/a.py", **{"in-comments": True}) == [1]
    assert banned(text, "engine/a.py", **{"in-strings": True}) == [2]


DEVICES: dict[str, Any] = {"paths": ["/pkg/"], "exclude": ["/pkg/device.py"], "message": "ask pkg.device"}


def devices(text: str, path: str = "pkg/a.py") -> list[str]:
    return [
        item.message for item in check_rule(HardCodedDevice, text, path=path, options={"devices": DEVICES})
    ]


@pytest.mark.parametrize(
    "text",
    [
        '"""Works without torch.cuda."""\n',
        "# x.cuda()\n",
        "config.cudagraph_sizes\n",
        "cuda = 1\nprint(cuda)\n",
        "os.environ['CUDA_VISIBLE_DEVICES']\n",
        "x = 'cuda is one of them'\n",
        "x = 'cudart'\n",
        "x = '<nccl>'\n",
    ],
)
def test_mentions_and_longer_names_work_everywhere(text: str) -> None:
    assert devices(text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x.cuda()\n", "x.cuda"),
        ("f(x).cuda()\n", "cuda"),
        ("torch.cuda.synchronize()\n", "torch.cuda.synchronize"),
        ("import torch.cuda\n", "torch.cuda"),
        ("from torch.cuda import Stream\n", "torch.cuda.Stream"),
        ('d = "cuda"\n', "'cuda'"),
        ("d = 'cuda'\n", "'cuda'"),
        ("d = 'cuda:0'\n", "'cuda:0'"),
        ("d = f'cuda:{i}'\n", "'cuda:{}'"),
        ("init(backend='nccl')\n", "'nccl'"),
    ],
)
def test_one_accelerator_is_found_whatever_the_quotes(text: str, said: str) -> None:
    assert devices(text) == [f"{said} works on one kind of accelerator only: ask pkg.device"]


def test_exempt_files_are_those_at_the_very_path() -> None:
    assert devices("x.cuda()\n", path="pkg/device.py") == []
    assert len(devices("x.cuda()\n", path="pkg/sub/pkg/device.py")) == 1


CONFIG = """\
[sources.devices]
paths = ["/pkg/"]
rewrites = [
    { find = "X.cuda()", replace = "X.to(device_name())", imports = "from pkg.device import device_name" },
    { find = "'cuda'", replace = "device_name()", imports = "from pkg.device import device_name" },
]
"""
BEFORE = '''\
"""Moves."""

from __future__ import annotations

import torch

def move(batch):
    kept = (batch
            .cuda())
    return kept, torch.zeros(3, device="cuda"), batch.x.cuda()
'''
AFTER = '''\
"""Moves."""

from __future__ import annotations

import torch
from pkg.device import device_name

def move(batch):
    kept = (batch.to(device_name()))
    return kept, torch.zeros(3, device=device_name()), batch.x.to(device_name())
'''


def test_unsafe_fixes_write_each_use_anew_and_import_once(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write({"pkg/a.py": BEFORE, "example-sanity.toml": CONFIG})

    assert cli(capsys, "sources", str(root), "--select", "SRC012", "--fix")[0] == 1
    assert (root / "pkg/a.py").read_text() == BEFORE
    assert cli(capsys, "sources", str(root), "--select", "SRC012", "--fix", "--unsafe-fixes")[0] == 0
    assert (root / "pkg/a.py").read_text() == AFTER


def test_a_fix_that_would_lose_a_comment_is_not_made(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "x = (batch  # all of it\n     .cuda())\n"
    root = write({"pkg/a.py": text, "example-sanity.toml": CONFIG})

    assert cli(capsys, "sources", str(root), "--select", "SRC012", "--fix", "--unsafe-fixes")[0] == 1
    assert (root / "pkg/a.py").read_text() == text


def test_a_rewrite_that_is_no_expression_is_a_wrong_configuration(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    config = CONFIG.replace('"X.cuda()"', '"X.cuda("')
    root = write({"pkg/a.py": BEFORE, "example-sanity.toml": config})

    code, _, err = cli(capsys, "sources", str(root), "--select", "SRC012")

    assert code == 2
    assert "sources: 'X.cuda(' is no Python expression" in err


def test_a_banned_name_with_a_replacement_is_replaced(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    config = '[[sources.banned]]\nnames = ["torch.load"]\nreplacement = "safe_load"\nimports = "from pkg.io import safe_load"\n'
    root = write({"a.py": "import torch\nx = torch.load(1)\n", "example-sanity.toml": config})

    assert cli(capsys, "sources", str(root), "--select", "SRC003", "--fix", "--unsafe-fixes")[0] == 0
    assert (root / "a.py").read_text() == "import torch\nfrom pkg.io import safe_load\nx = safe_load(1)\n"


@pytest.mark.parametrize(
    "text",
    [
        "x.cuda()\n",
        "x = (\n    y.\n    cuda()\n)\n",
        "y = x. \\\n  cuda()\n",
        "from torch import (\n    nn,\n    cuda,\n)\n",
        "from torch import nn, \\\n  cuda\n",
        "x = '''cuda'''\n",
        "x = rb'' or f\"cuda:{i}\"\n",
        "x = 'nccl'\n",
        "x = '\\\ncuda'\n",
    ],
)
def test_a_device_is_found_however_it_is_written(text: str) -> None:
    assert (
        len(check_rule(HardCodedDevice, text, path="pkg/a.py", options={"devices": {"paths": ["/pkg/"]}}))
        == 1
    )
