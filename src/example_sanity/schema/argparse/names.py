"""What names mean: in a function, around it, in a module that is only looked at, or in one that it imports from."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from example_sanity.schema.argparse.statements import Statements
from example_sanity.schema.argparse.values import (
    UNKNOWN,
    Choice,
    Deferred,
    External,
    ModuleValue,
    Scope,
    Value,
    choice,
)

if TYPE_CHECKING:
    from example_sanity.schema.argparse.modules import Module, Sources


class Names(Statements):
    """Looks names up; of a module that was not run, only the statements that bind a name are run."""

    def __init__(self, sources: Sources) -> None:
        super().__init__()
        self.sources = sources
        self.modules: dict[str, Scope] = {}
        self._resolving: set[tuple[str, str]] = set()

    def scope_of(self, module: Module) -> Scope:
        """Return the names of a module, none where it was not run."""
        return self.modules.setdefault(module.name, Scope(module))

    def name(self, name: str, scope: Scope) -> Value:
        """Return what a name means: in the function, around it, in the module, or as a builtin."""
        current: Scope | None = scope
        while current is not None:
            if name in current.names:
                return self._settled(current.names[name])
            current = current.parent
        if name == "__name__":
            return scope.module.name
        found = self.global_name(name, scope.module)
        return External(f"builtins.{name}") if found is None else found

    def _settled(self, value: Value) -> Value:
        if isinstance(value, Deferred):
            return self.imported(value.module, value.attribute)
        if isinstance(value, Choice) and any(isinstance(option, Deferred) for option in value.options):
            return choice([self._settled(option) for option in value.options])
        return value

    def global_name(self, name: str, module: Module) -> Value | None:
        """Return a name of a module that was not run, None when it has no such name."""
        key = (module.name, name)
        if key in self._resolving:
            return UNKNOWN
        self._resolving.add(key)
        try:
            scope = self.scope_of(module)
            if name in scope.names:
                return self._settled(scope.names[name])
            return self._defined(name, module, scope)
        finally:
            self._resolving.discard(key)

    def _defined(self, name: str, module: Module, scope: Scope) -> Value | None:
        bindings = module.bindings.get(name, [])
        if any(
            "ArgumentParser(" in module.segment(node) for node in bindings if isinstance(node, ast.Assign)
        ):
            # Other statements of the module fill that parser.
            self.block(module.tree.body, scope)
            return self._settled(scope.names.get(name, UNKNOWN))
        if bindings:
            for node in bindings:
                assert isinstance(node, ast.stmt)
                before = scope.names.pop(name, None)
                self.statement(node, scope)
                if before is not None:
                    scope.names[name] = choice([before, scope.names.get(name, UNKNOWN)])
            return self._settled(scope.names.get(name, UNKNOWN))
        for star in module.stars:
            inner = self.sources.find(module.absolute(star.module, star.level))
            found = None if inner is None else self.global_name(name, inner)
            if found is not None:
                return found
        return None

    def imported(self, module: str, attribute: str | None) -> Value:
        """Return what an import gives."""
        if attribute is None:
            here = self.sources.find(module) or self.sources.is_package(module)
            return ModuleValue(module) if here else External(module)
        found = self.sources.find(module)
        if found is not None:
            value = self.global_name(attribute, found)
            if value is not None:
                return value
        if found is not None or self.sources.is_package(module):
            inner = f"{module}.{attribute}"
            if self.sources.find(inner) or self.sources.is_package(inner):
                return ModuleValue(inner)
        return External(f"{module}.{attribute}")
