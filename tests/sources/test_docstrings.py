"""SRC002 and SRC014: names that need a docstring, by file, by export and by import; exports that there are none of."""

from __future__ import annotations

from typing import Any

import pytest

from example_sanity.checks.sources.docstrings import MissingDocstring, UndefinedExport
from example_sanity.testing import check_rule


def found(text: str, path: str = "pkg/a.py", files: dict[str, str] | None = None, **table: Any) -> list[str]:
    options = {"docstrings": table or {"files": ["/pkg/a.py"]}}
    findings = check_rule(MissingDocstring, text, path=path, files=files, options=options)
    return [item.message for item in findings]


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    '''Do it.'''\n",
        "def _f():\n    pass\n",
        "def f():\n    '''Do it.'''\n    def inner():\n        pass\n    class Inner:\n        pass\n",
        "class C:\n    '''One.'''\n    def _m(self):\n        pass\n    def __init__(self):\n        pass\n",
        "class C:\n    '''One.'''\n    @property\n    def p(self):\n        '''It.'''\n    @p.setter\n    def p(self, v):\n        pass\n",
        "from typing import overload\n@overload\ndef f(x: int): ...\ndef f(x):\n    '''Do it.'''\n",
    ],
)
def test_documented_private_inner_and_repeated_names_are_silent(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f():\n    pass\n", "function f has no docstring"),
        ("async def f():\n    pass\n", "function f has no docstring"),
        ("def f():\n    ''\n", "function f has no docstring"),
        ("def f():\n    '''  \n    '''\n", "function f has no docstring"),
        ("class C:\n    pass\n", "class C has no docstring"),
        ("class C:\n    '''One.'''\n    def m(self):\n        pass\n", "function C.m has no docstring"),
        ("if True:\n    def f():\n        pass\n", "function f has no docstring"),
        ("try:\n    pass\nexcept OSError:\n    def f():\n        pass\n", "function f has no docstring"),
    ],
)
def test_public_names_of_listed_files_need_one(text: str, message: str) -> None:
    assert found(text) == [message]


def test_other_files_need_none() -> None:
    assert found("def f():\n    pass\n", path="pkg/b.py") == []
    assert check_rule(MissingDocstring, "def f():\n    pass\n", path="pkg/a.py") == []


MODULES = {
    "pkg/__init__.py": "",
    "pkg/deep.py": "class Base:\n    '''A base.'''\n\n\nclass Bare(Base):\n    pass\n\n\ndef bare():\n    pass\n",
    "pkg/passing.py": "from pkg.deep import bare as passed\n",
}


def test_exports_are_followed_to_their_definition() -> None:
    text = "from .deep import Bare, Base\nfrom .passing import passed\n__all__ = ['Bare', 'Base']\n__all__ += ['passed']\n"

    assert found(text, "pkg/api.py", MODULES, exports=["/pkg/"]) == [
        "class pkg.api.Bare is exported and has no docstring",
        "function pkg.api.passed is exported and has no docstring",
    ]


def test_what_is_allowed_or_inherited_may_do_without() -> None:
    text = "from .deep import Bare\nfrom .passing import passed\n__all__ = ['Bare', 'passed']\n"

    table: dict[str, Any] = {"exports": ["/pkg/"], "inherited": True, "allow": ["pkg.api.passed"]}

    assert found(text, "pkg/api.py", MODULES, **table) == []


def test_what_listed_modules_import_needs_one_relative_imports_included() -> None:
    text = "import numpy\nfrom numpy import zeros\nfrom .deep import Base, bare\n"

    assert found(text, "pkg/main.py", MODULES, **{"imported-by": ["/pkg/main.py"]}) == [
        "function pkg.deep.bare is imported here and has no docstring"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "__all__ = ['a', 'b', 'c', 'd']\nimport a.x\nfrom m import b\nc = 1\ndef d(): pass\n",
        "__all__ = ['a']\ntry:\n    a = 1\nexcept OSError:\n    pass\n",
        "__all__ = ['a']\nwith open('x') as a:\n    pass\n",
        "__all__ = ['a']\ndef __getattr__(name):\n    return 1\n",
        "__all__ = ['a']\nfrom m import *\n",
        "__all__ = ['a'] + other\n",
        "__all__ = ['a']\n__all__.remove('a')\n",
        "__all__ = ['__version__']\n",
        "names = ['a']\n",
    ],
)
def test_exports_that_are_or_may_be_there_are_silent(text: str) -> None:
    assert check_rule(UndefinedExport, text, path="pkg/a.py") == []


def test_a_package_exports_its_modules() -> None:
    assert (
        check_rule(UndefinedExport, "__all__ = ['core']\n", path="pkg/__init__.py", files={"pkg/core.py": ""})
        == []
    )


def test_an_export_that_is_not_there_is_found() -> None:
    (finding,) = check_rule(UndefinedExport, "__all__ = ['trian']\ndef train(): pass\n", path="pkg/a.py")

    assert finding.message == "__all__ names 'trian', and the module has no such name (did you mean 'train'?)"
    assert finding.span.column == 12
