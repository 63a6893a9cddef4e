"""SRC009: imports inside the repository that lead nowhere, and the many that only seem to."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from example_sanity.checks.sources.imports import UnimportableModule
from example_sanity.checks.sources.names import imports, plain_imports
from example_sanity.testing import check_rule

PACKAGE = {
    "pkg/__init__.py": "from .core import train\n",
    "pkg/core.py": "LIMIT = 3\n\n\ndef train():\n    pass\n\n\nclass Trainer:\n    pass\n",
    "pkg/ops/__init__.py": "from .kernels import *\nfor name in range(3):\n    pass\n",
    "pkg/ops/kernels.py": "def fused():\n    pass\n",
    "pkg/plain/rules.py": "A = 1\n",
}


def found(
    text: str, path: str = "pkg/a.py", files: dict[str, str] | None = None, **options: Any
) -> list[str]:
    more = {**PACKAGE, **(files or {})}
    return [
        item.message for item in check_rule(UnimportableModule, text, path=path, files=more, options=options)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "import pkg.core\n",
        "import pkg.ops.kernels as k\n",
        "from pkg import core, train\n",
        "from pkg.core import LIMIT, Trainer\n",
        "from pkg.ops import fused, name, kernels\n",
        "from . import core, ops\n",
        "from .core import train\n",
        "from .ops.kernels import *\n",
        "from pkg.plain import rules\n",
        "from pkg.plain.rules import A\n",
        "import numpy.linalg\nfrom torch.nn import Linear\n",
        "import tests.helpers\n",
    ],
)
def test_what_resolves_or_is_not_of_this_repository_is_silent(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import pkg.fast\nexcept ImportError:\n    pass\n",
        "try:\n    import pkg.fast\nexcept (ModuleNotFoundError, OSError):\n    pass\n",
        "try:\n    import pkg.core\nexcept ImportError:\n    import pkg.old\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg.fast import T\n",
        "import contextlib\nwith contextlib.suppress(ImportError):\n    import pkg.fast\n",
        "import pytest\npytest.importorskip('pkg.fast')\nimport pkg.fast.ops\n",
    ],
)
def test_what_expects_to_fail_is_silent(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "files",
    [
        {"setup.py": "Extension('pkg.helpers_cpp', [])\n"},
        {"pkg/helpers_cpp.pyx": ""},
        {"pkg/helpers_cpp.cpp": ""},
        {"pkg/helpers_cpp.pyi": ""},
        {".gitignore": "pkg/helpers_cpp.py\n"},
        {"pkg/__init__.py": "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"},
    ],
    ids=["setup.py", "pyx", "cpp", "pyi", "ignored", "extended path"],
)
def test_what_a_build_makes_or_another_part_may_hold_is_silent(files: dict[str, str]) -> None:
    assert found("import pkg.helpers_cpp\n", files=files) == []


def test_a_module_that_the_configuration_says_is_built_is_silent() -> None:
    assert found("import pkg.helpers_cpp\n", built=["pkg.helpers_cpp"]) == []


@pytest.mark.parametrize(
    ("path", "text", "files", "count"),
    [
        ("examples/bench/a.py", "import bench.far\n", {"examples/bench/__init__.py": ""}, 1),
        (
            "examples/bench/a.py",
            "import bench.far\n",
            {"examples/bench/__init__.py": "", "examples/bench/requirements.txt": "bench>=2\n"},
            0,
        ),
        (
            "examples/a_bench/a.py",
            "import a_bench.far\n",
            {
                "examples/a_bench/__init__.py": "",
                "pyproject.toml": "[project]\ndependencies = ['a-bench[x]==1']\n",
            },
            0,
        ),
        ("tools/runner.py", "from runner.config import C\n", {}, 0),
        ("pkg/a.py", "import pkg.far\n", {"requirements.txt": "pkg\nfar\n"}, 1),
    ],
)
def test_a_name_that_may_be_that_of_an_installed_distribution_is_silent(
    path: str, text: str, files: dict[str, str], count: int
) -> None:
    assert len(found(text, path, files)) == count


@pytest.mark.parametrize(
    "files",
    [
        {"pkg/core.py": "def __getattr__(name):\n    return 1\n"},
        {"pkg/core.py": "globals()['later'] = 1\n"},
        {"pkg/core.py": "from numpy import *\n"},
    ],
    ids=["getattr", "globals", "star from outside"],
)
def test_a_module_that_makes_names_is_silent(files: dict[str, str]) -> None:
    assert found("from pkg.core import later\n", files=files) == []


def test_a_folder_without_init_may_have_more_portions() -> None:
    files = {"space/one/__init__.py": ""}

    assert found("import space.two\nfrom space import three\n", files=files) == []
    assert found("import space.one.two\n", files=files) == ["there is no module space.one.two in space/one/"]


def test_a_script_finds_the_modules_beside_it_first() -> None:
    files = {"tools/utils.py": "def here():\n    pass\n", "other/utils.py": "def there():\n    pass\n"}

    assert found("from utils import here\n", path="tools/run.py", files=files) == []
    # Another folder may have been put on the path.
    assert found("from utils import there\n", path="tools/run.py", files=files) == []
    assert found("from utils import nowhere\n", path="tools/run.py", files=files) == [
        "tools/utils.py has neither a name nor a module 'nowhere'"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import pkg.cores\n", "there is no module pkg.cores in pkg/ (did you mean 'core'?)"),
        (
            "def f():\n    from pkg.fused_kernels import fused\n",
            "there is no module pkg.fused_kernels in pkg/ (pkg/ops/kernels.py is pkg.ops.kernels)",
        ),
        (
            "from .kernels import fused\n",
            "there is no module .kernels in pkg/ (pkg/ops/kernels.py is pkg.ops.kernels)",
        ),
        ("from . import gone\n", "pkg/__init__.py has neither a name nor a module 'gone'"),
        (
            "from pkg.core import trian\n",
            "pkg/core.py has neither a name nor a module 'trian' (did you mean 'train'?)",
        ),
        (
            "import pkg.core.deep\n",
            "there is no module pkg.core.deep: pkg/core.py is a module and no package",
        ),
        ("from pkg.ops import lost\n", "pkg/ops/__init__.py has neither a name nor a module 'lost'"),
        ("from pkg.plain import ruels\n", "there is no module 'ruels' in pkg/plain/"),
        ("try:\n    import pkg.gone\nexcept ValueError:\n    pass\n", "there is no module pkg.gone in pkg/"),
        ("if not TYPE_CHECKING:\n    import pkg.gone\n", "there is no module pkg.gone in pkg/"),
    ],
)
def test_what_leads_nowhere_is_found_with_the_nearest(text: str, message: str) -> None:
    assert found(text) == [message]


def test_a_module_that_moved_into_a_package_inside_a_plain_folder_is_found() -> None:
    """What Megatron Lite met when kernels of Megatron-Core moved."""
    files = {
        "mega/core/__init__.py": "",
        "mega/core/variant/utils/__init__.py": "",
        "mega/core/variant/utils/layout_kernels.py": "",
        "experimental/lite/mega/lite/__init__.py": "",
    }
    text = "from mega.core.variant import (\n    csa_layout_kernels,\n    utils,\n)\n"

    (finding,) = check_rule(
        UnimportableModule, text, path="experimental/lite/mega/lite/attention.py", files=files
    )

    assert finding.message == (
        "there is no module 'csa_layout_kernels' in mega/core/variant/ "
        "(mega/core/variant/utils/layout_kernels.py is mega.core.variant.utils.layout_kernels)"
    )
    assert (finding.span.line, finding.span.column, finding.span.end_column) == (2, 5, 23)


@pytest.mark.parametrize(
    ("more", "hint"),
    [
        ({}, "(mega/core/ops/attention.py is mega.core.ops.attention)"),
        ({"mega/core/ops/other.py": "def attend(): ...\ndef Top(): ...\n"}, "(did you mean 'dsa_kernels'?)"),
        ({"mega/core/ops/attention.py": "def attend(): ...\n"}, "(did you mean 'dsa_kernels'?)"),
    ],
)
def test_the_one_module_with_the_names_is_meant_before_one_of_a_like_name(
    more: dict[str, str], hint: str
) -> None:
    files = {
        "mega/core/__init__.py": "",
        "mega/core/dsa_kernels.py": "def other(): ...\n",
        "mega/core/ops/__init__.py": "",
        "mega/core/ops/attention.py": "def attend(): ...\nclass Top: ...\n",
        **more,
    }
    assert found("from mega.core.csa_kernels import Top, attend\n", path="run.py", files=files) == [
        f"there is no module mega.core.csa_kernels in mega/core/ {hint}"
    ]


def test_further_roots_come_from_the_configuration() -> None:
    files = {"lib/deep/extra/__init__.py": "", "example-sanity.toml": "source-roots = ['lib/deep']\n"}

    assert found("import extra.gone\n", files=files) == ["there is no module extra.gone in lib/deep/extra/"]
    assert found("import extra.gone\n", files={"lib/deep/extra/__init__.py": ""}) == []


@pytest.mark.parametrize(
    "text",
    [
        "import a.b as c, d\nfrom . import e\nfrom ..f.g import h as i, j  # k\n",
        "from a import (\n    b,  # with )\n    c as d,\n)\nfrom e import *\n\n\ndef f():\n    import g\n",
        "x = 1\n",
        "# import a\nimport a\n",
    ],
)
def test_plain_imports_are_those_of_the_tree(text: str) -> None:
    plain = plain_imports(text)
    assert plain is not None
    assert [ast.unparse(node) for node in plain] == [
        ast.unparse(node) for node, _ in imports(ast.parse(text))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "x = 1; import a\n",
        "if x: from a import b\n",
        "from a \\\n  import b\n",
        "from a import b, \\\n  c\n",
        "x = 1; \\\nimport a\n",
        "from a.\\\n b import c\n",
        "import a\rimport b\n",
        "import a . b\n",
        "from a import(b)\n",
        "from a import b; import c\n",
        '"""Text\nfrom somewhere else\n"""\n',
    ],
)
def test_imports_that_are_written_in_another_way_are_not_guessed(text: str) -> None:
    assert plain_imports(text) is None
