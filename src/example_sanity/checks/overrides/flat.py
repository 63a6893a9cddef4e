"""The flat check: every override of a command line against the composed configuration, one root cause one issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import field
from msgspec.structs import replace

from example_sanity.checks.overrides import words
from example_sanity.checks.overrides.causes import find
from example_sanity.checks.overrides.issues import Issue
from example_sanity.checks.overrides.lacking import lacking
from example_sanity.checks.overrides.meaning import meant_field, nearest_key, replacement
from example_sanity.checks.overrides.state import State
from example_sanity.checks.overrides.values import judge
from example_sanity.core.errors import nearest
from example_sanity.schema.hydra.model import AbsentPackageError, ComposeError, Composition
from example_sanity.schema.hydra.shipped import NotShippedError
from example_sanity.schema.renames import Removed, fate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from example_sanity.launch.settings import Setting
    from example_sanity.launch.syntax import Script
    from example_sanity.schema.hydra.trees import Tree


class Check(msgspec.Struct):
    """The overrides of one entry against one tree; ``complete`` says that the program runs with nothing but them."""

    tree: Tree
    settings: Sequence[Setting]
    script: Script
    multirun: bool = False
    complete: bool = True
    issues: list[Issue] = field(default_factory=list)
    hidden: set[int] = field(default_factory=set)
    strange: dict[str, list[Setting]] = field(default_factory=dict)

    def run(self) -> list[Issue]:
        """Return everything that Hydra or the program would refuse, and what is likely a mistake."""
        sound, problems = words.sound(self.settings, self.script, self.multirun)
        self.issues += problems
        try:
            choices, plain = self._split(sound)
        except ComposeError as error:
            self._not_composed(error, [])  # not even the groups are known
            return self.issues
        if any(not item.stable for item in choices):
            return self.issues  # which configuration is composed depends on a placeholder
        composition = self._composed(choices)
        if composition is not None:
            self._apply(composition, choices, plain)
        return self.issues

    def composition(self) -> Composition | None:
        """Return what the group choices compose, None where they are not sound or depend on a placeholder."""
        try:
            choices, _ = self._split(words.sound(self.settings, self.script, self.multirun)[0])
        except ComposeError:
            return None
        return None if any(not item.stable for item in choices) else self._composed(choices)

    def _split(self, sound: Sequence[Setting]) -> tuple[list[Setting], list[Setting]]:
        """Part group choices from plain overrides (hydra/_internal/defaults_list.py, Overrides)."""
        choices, plain = [], []
        for item in sound:
            group = item.key.partition("@")[0]
            is_choice = group in self.tree.options and not isinstance(item.value, dict)
            if not is_choice:
                plain.append(item)
            elif item.operation == "delete" or isinstance(item.value, (str, list)):
                choices.append(item)
            else:
                message = f"{group} is a config group: it takes the name of an option, not {item.raw}"
                self.issues.append(Issue("OVR012", item, message))
        return choices, plain

    def _composed(self, choices: Sequence[Setting]) -> Composition | None:
        known = [meant for item in choices if (meant := self._meant_choice(item)) is not None]
        base = self._base(known)
        if base is None:
            return None
        fitting = [item for item in known if self._is_in_defaults(item, known, base)]
        return self._compose([_word(item) for item in fitting])

    def _base(self, known: Sequence[Setting]) -> Composition | None:
        """Return what composes without the choices; where an entry wants one (``- db: ???``), with them."""
        try:
            return self.tree.compose([])
        except ComposeError:
            return self._compose([_word(item) for item in known])

    def _compose(self, chosen: list[str]) -> Composition | None:
        try:
            return self.tree.compose(chosen)
        except NotShippedError:
            return None
        except ComposeError as error:
            self._not_composed(error, chosen)
            return None

    def _not_composed(self, error: ComposeError, chosen: Sequence[str]) -> None:
        if isinstance(error, AbsentPackageError):
            message = (
                f"{self.tree.label} has package {error.package} in its search path, which is neither in the project, "
                "in source-roots nor installed, and does not compose without it: the overrides are not checked"
            )
            self.issues.append(Issue("OVR017", None, message))
            return
        reason = str(error).strip().split("\n")[0]
        with_choices = f" with {' '.join(chosen)}" if chosen else ""
        message = f"Hydra cannot compose {self.tree.label}{with_choices}: {reason}"
        self.issues.append(Issue("OVR007", None, message))

    def _meant_choice(self, item: Setting) -> Setting | None:
        """Return a choice that can be composed: with the option that was probably meant where there is none of the name."""
        group = item.key.partition("@")[0]
        names = self.tree.options[group]
        wanted = item.value if isinstance(item.value, list) else [item.value]
        for name in wanted:
            if item.operation == "delete" or not isinstance(name, str) or name in names:
                continue
            folder, _, last = name.rpartition("/")
            if folder and last in self.tree.options.get(f"{group}/{folder}", ()):
                continue
            near = nearest(name, names)
            hint = f"; did you mean {near}?" if near else ""
            message = f"config group {group} has no option {name}{hint} There are: {', '.join(names)}"
            self.issues.append(Issue("OVR012", item, message))
            # What follows from the right option is no mistake of its own.
            return replace(item, value=near, raw=near) if near and name == item.value else None
        return item

    def _is_in_defaults(self, item: Setting, known: Sequence[Setting], base: Composition) -> bool:
        """Whether the defaults list has what a choice replaces; options that are chosen beside it may bring it in."""
        if item.operation == "add" or item.key in base.groups:
            return True
        others = [_word(other) for other in known if other is not item and other.key in base.groups]
        try:
            if item.key in self.tree.compose(others).groups:
                return True
        except ComposeError:
            return True
        group = item.key.partition("@")[0]
        entries = [key for key in base.groups if key.partition("@")[0] == group]
        hint = f": write {entries[0]}={item.raw}" if entries else f": append it with +{item.key}={item.raw}"
        self.issues.append(Issue("OVR012", item, f"the defaults list has no entry {item.key}{hint}"))
        return False

    def _apply(self, composition: Composition, choices: Sequence[Setting], plain: Sequence[Setting]) -> None:
        composition = self._rooted(composition, choices, plain)
        state = State(composition)
        nodes: dict[str, tuple[Setting, list[Setting]]] = {}
        for item in plain:
            if id(item) in self.hidden:
                continue
            node = state.missing_node(item.key) if item.operation == "set" else None
            if node is not None and item.operation == "set":
                nodes.setdefault(node, (item, []))[1].append(item)
                continue
            self._one(item, state)
        for node, (first, items) in nodes.items():
            self._missing_node(node, first, items, state)
        self._unknown_fields(state)
        if self.complete and not self.issues and all(item.stable for item in plain):
            built = [node for node in state.needed if self._is_built(node, state)]
            self.issues += lacking(state, plain, built)

    def _rooted(
        self, composition: Composition, choices: Sequence[Setting], plain: Sequence[Setting]
    ) -> Composition:
        """Return the composition that the author had in mind, if one group choice explains what does not exist."""
        cause = find(self.tree, composition, [_word(item) for item in choices], plain)
        if cause is None:
            return composition
        self._explain(cause.word, cause.explained, cause.misplaced, composition)
        return cause.composition

    def _explain(
        self, word: str, explained: Sequence[Setting], misplaced: Sequence[Setting], composition: Composition
    ) -> None:
        group = word.partition("=")[0]
        root = next((item for item in misplaced if item.key.rpartition(".")[2] == group), None)
        many = f"{len(explained)} overrides" if len(explained) > 1 else "1 override"
        example = explained[0].key
        if root is not None:
            message = (
                f"{root.key} is no key; {group} is a config group at the top: write {word}. "
                f"{many} below, such as {example}, exist only with it"
            )
            self.issues.append(
                Issue("OVR001", root, message, replace=(f"{root.key}=", f"{group}="), safe=False)
            )
        else:
            others = len(explained) - 1
            more = f" and {others} other override{'s' if others > 1 else ''} exist" if others else " exists"
            composed = f"{group}={composition.groups.get(group)}"
            message = f"{example}{more} only with {word}, but {composed} is composed; choose {word}"
            self.issues.append(Issue("OVR001", explained[0], message))
        self.hidden = {id(item) for item in misplaced if root and item.key.rpartition(".")[2] == group}

    def _missing_node(self, node: str, first: Setting, items: Sequence[Setting], state: State) -> None:
        """One issue for all overrides below a node that does not exist."""
        if len(items) == 1:
            self._unknown(first, state)
            return
        near = nearest_key(node, state.keys)
        hint = f"; did you mean {near}?" if near and near != node else ""
        message = (
            f"{node} does not exist in {self.tree.label}, and {len(items)} overrides set keys below it{hint}"
        )
        self.issues.append(Issue("OVR001", first, message))

    def _one(self, item: Setting, state: State) -> None:
        if state.refuses(item):
            self._refused(item, state)
            return
        if item.operation in ("add", "force"):
            self._added(item, state)
        elif item.operation != "delete":
            self._judge(item, state)
        state.apply(item)

    def _refused(self, item: Setting, state: State) -> None:
        if "@" in item.key:
            message = f"{item.key.partition('@')[0]} is no config group of {self.tree.label}"
            self.issues.append(Issue("OVR012", item, message))
        elif item.operation == "delete":
            self.issues.append(
                Issue("OVR001", item, f"~{item.key}: there is nothing to delete at {item.key}")
            )
        elif item.operation == "add":
            self._superfluous(item, state)
        else:
            self._unknown(item, state)

    def _superfluous(self, item: Setting, state: State) -> None:
        leaf = state.keys[item.key]
        where = f" ({leaf.where})" if leaf.where else ""
        message = f"{item.key} exists already{where}, so Hydra refuses +{item.key}: drop the plus"
        if item.key in state.added:
            message = f"{item.key} was added before, so Hydra refuses a second +{item.key}: drop the plus"
        self.issues.append(Issue("OVR003", item, message, replace=(f"+{item.key}", item.key)))
        self._judge(item, state)
        state.put(item)

    def _added(self, item: Setting, state: State) -> None:
        top = item.key.partition(".")[0]
        if item.key in state.keys:
            self._judge(item, state)
        elif (gone := fate(item.key, self.tree.removed)) and self._is_unread(item.key, state):
            self._readded(item, gone)
        elif top not in state.keys and "." in item.key and not self.tree.mentions(top):
            self._unread(item, top, state)
        else:
            self._new_field(item, state)

    def _unread(self, item: Setting, top: str, state: State) -> None:
        near = nearest_key(item.key, [key for key in state.keys if key not in state.added])
        hint = f"; did you mean {near}?" if near else ""
        message = f"{self.tree.label} has no {top}, and nothing in the program reads one: {item.key} has no effect{hint}"
        self.issues.append(Issue("OVR021", item, message))

    def _is_unread(self, key: str, state: State) -> bool:
        """Whether nothing can read a key that a release took away: no dict is handed on, no source at hand names it.

        The source at hand may be older than that release.
        """
        parent, _, name = key.rpartition(".")
        return not _is_open(parent, state) and (not self.tree.at_hand or not self.tree.mentions(name))

    def _readded(self, item: Setting, gone: Removed) -> None:
        hint = f"it is {gone.name} now" if gone.name else "nothing reads it any more"
        message = f"{item.key} was removed from the configuration in {gone}: {hint}"
        self.issues.append(Issue("OVR008", item, message))

    def _new_field(self, item: Setting, state: State) -> None:
        """Note a key that is added to a dict of which the program makes an object whose class has no such field."""
        node, _, name = item.key.rpartition(".")
        fields = state.closed.get(node)
        if fields and name not in fields and name != "_target_" and self._is_built(node, state):
            self.strange.setdefault(node, []).append(item)

    def _unknown_fields(self, state: State) -> None:
        """One issue for all keys that are added to one object."""
        for node, items in self.strange.items():
            names = [item.key.rpartition(".")[2] for item in items]
            meant = [meant_field(item.key, node, state) for item in items]
            hint = f"; did you mean {', '.join(filter(None, meant))}?" if any(meant) else ""
            message = f"{node} becomes an object whose class has no field {' or '.join(names)}: its construction fails{hint}"
            self.issues.append(Issue("OVR013", items[0], message))

    def _is_built(self, node: str, state: State) -> bool:
        """Whether the program makes an object of a node, or of one around it."""
        while node in state.closed:
            if node.rpartition(".")[2] in self.tree.built:
                return True
            node = node.rpartition(".")[0]
        return False

    def _judge(self, item: Setting, state: State) -> None:
        leaf = state.keys.get(item.key)
        if leaf is None or item.key in state.added:
            return
        self.issues += judge(item, leaf)
        if leaf.note and item.value != leaf.value:
            instead = replacement(item.key, state.keys)
            hint = f"; {instead} probably replaces it" if instead else ""
            message = f"{item.key} is deprecated, as the class that takes it says{hint}"
            self.issues.append(Issue("OVR009", item, message))

    def _unknown(self, item: Setting, state: State) -> None:
        parent, _, name = item.key.rpartition(".")
        fields = state.closed.get(parent, ())
        if name in fields or _is_open(parent, state):
            why = (
                "its class has such a field, but the configuration does not list it"
                if name in fields
                else f"{parent} is empty"
            )
            message = f"{item.key} is not in the configuration ({why}): Hydra wants +{item.key}={item.raw}"
            self.issues.append(Issue("OVR002", item, message, replace=(item.key, f"+{item.key}")))
            return
        self.issues.append(self._no_key(item, state))

    def _no_key(self, item: Setting, state: State) -> Issue:
        if isinstance(item.value, dict) and item.key in state.keys:
            return Issue("OVR001", item, f"{item.key} has no such members as {item.raw}")
        gone = fate(item.key, self.tree.removed)
        near: str | None
        if gone is not None and gone.name in state.keys:
            near, hint = gone.name, f": renamed in {gone}: use {gone.name}"
        else:
            near = None if gone else nearest_key(item.key, state.keys)
            hint = f": removed in {gone}" if gone else f"; did you mean {near}?" if near else ""
        message = f"{item.key} is no key of {self.tree.label}{' any more' if gone else ''}{hint}"
        replace = (f"{item.key}=", f"{near}=") if near else None
        return Issue("OVR001", item, message, replace=replace, safe=False)


def _word(item: Setting) -> str:
    sign = {"add": "+", "delete": "~"}.get(item.operation, "")
    return (
        f"{sign}{item.key}" if item.operation == "delete" and not item.raw else f"{sign}{item.key}={item.raw}"
    )


def _is_open(node: str, state: State) -> bool:
    """Whether a dict is there to be filled: null, or nothing in it."""
    leaf = state.keys.get(node)
    if leaf is None or not (leaf.value is None or isinstance(leaf.value, dict)):
        return False
    below = f"{node}."
    return not any(key.startswith(below) and key not in state.added for key in state.keys)
