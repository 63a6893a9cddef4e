"""Run in a process of its own: print the flags of Megatron-LM's add_megatron_arguments, heavy imports stubbed.

Usage: python real_parser.py REPOSITORY. The output is JSON: option string to number of values, type, and choices.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import json
import sys
import types
import typing
from collections.abc import Sequence
from typing import Any, Protocol

_KEPT = ("megatron", "packaging")
_FOUND = frozenset({*_KEPT, *sys.stdlib_module_names, *sys.builtin_module_names})
# Parts of the repository that need more of pydantic than a stub has, and add no flags.
_HEAVY = ("megatron.rl",)


class _Meta(type(Protocol)):  # type: ignore[misc]
    """A class of which every attribute is another stub."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith(("__", "_is_", "_abc", "_proto")):
            raise AttributeError(name)
        return _Meta(name, (Stub,), {})

    def __or__(cls, other: Any) -> Any:
        return cls

    def __ror__(cls, other: Any) -> Any:
        return cls


class Stub(metaclass=_Meta):
    """Stands for a class, a function or a decorator of a package that is not installed."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and callable(args[0]) and not kwargs:
            return args[0]
        return super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        pass

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __iter__(self) -> Any:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *args: object) -> None:
        pass


def _itself(self: Any, *_: Any) -> Any:
    return self


for _operator in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Stub, f"__{_operator}__", _itself)
    setattr(Stub, f"__r{_operator}__", _itself)


for _comparison in ("lt", "le", "gt", "ge"):
    setattr(Stub, f"__{_comparison}__", lambda self, other: False)


class _Module(types.ModuleType):
    __version__ = "2.8.0"
    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Meta(name, (Stub,), {})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds everything that nothing else finds."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname.partition(".")[0] in _FOUND and fullname not in _HEAVY:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _described(action: argparse.Action) -> dict[str, Any]:
    choices = (
        None if action.choices is None else [getattr(item, "name", str(item)) for item in action.choices]
    )
    return {
        "nargs": 1 if action.nargs is None else action.nargs,
        "type": getattr(action.type, "__name__", None),
        "choices": choices,
    }


def main(repository: str) -> None:
    """Import the arguments module of the repository and print what its parser holds."""
    if not hasattr(typing, "override"):
        typing.override = lambda function: function  # type: ignore[attr-defined]  # Python 3.12 has it
    sys.path.insert(0, repository)
    sys.meta_path.insert(0, _Finder())
    from megatron.training.arguments import add_megatron_arguments  # type: ignore[import-not-found]

    parser = add_megatron_arguments(argparse.ArgumentParser(add_help=False))
    flags = {name: _described(action) for action in parser._actions for name in action.option_strings}
    sys.stdout.write("\n" + json.dumps(flags) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
