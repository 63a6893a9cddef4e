"""Makes the subjects of a shell script: its path, its structure, its evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core import system
from example_sanity.core.errors import Uninspectable
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Loaded, Subject

if TYPE_CHECKING:
    from example_sanity.core.finding import Finding
    from example_sanity.launch.command import Launch
    from example_sanity.launch.syntax import Script

_ANGLES = regex(r"(<[A-Za-z][\w ./-]*>)[ \t]*$")
_POSITION = regex(r"line (\d+), column (\d+): ")


class PathLoader:
    """The path of a shell script, unread."""

    subject = Subject.SCRIPT_PATH

    def matches(self, context: Context, path: str) -> bool:
        """Return whether the file is a shell script."""
        return context.project.is_shell(path)

    def load(self, context: Context, path: str) -> Loaded:
        """Return the path itself."""
        del context
        return Loaded((path,))


class ScriptLoader(PathLoader):
    """The structure of a shell script."""

    subject = Subject.SCRIPT

    def load(self, context: Context, path: str) -> Loaded:
        """Parse the script. Raises Uninspectable (SYS001, SYS002, SYS003; SYS004 for an empty one)."""
        from example_sanity.launch.syntax import parse

        _refuse_unlikely(context.project.text(path))
        script = parse(path, context.project.read(path))
        if script.errors:
            # tree-sitter stumbles over a few valid scripts, so bash's own grammar has the last word.
            from example_sanity.launch.evaluator import syntax_error

            if error := syntax_error(script):
                place = _place(error, script.errors[0])
                reason = _placeholder(script, place) or error
                raise Uninspectable("SYS003", f"bash cannot parse the script: {reason}", place)
        return Loaded((script,))


def _place(error: str, otherwise: Span) -> Span:
    """Where bash stops, as the error says: tree-sitter may stumble elsewhere, over text that bash takes."""
    match = _POSITION.match(error)
    return Span(int(match[1]), int(match[2]), int(match[1]), int(match[2]) + 1) if match else otherwise


def _placeholder(script: Script, place: Span) -> str | None:
    """Say what is wrong where bash stops behind a placeholder in angle brackets: it looks for one more file."""
    before = script.data.split(b"\n")[place.line - 1].decode("utf-8", "replace")[: place.column - 1]
    found = _ANGLES.search(before)
    return found and (
        f"it reads {found[1]} as redirections, and the second has no file; quote it, or take a variable that must be "
        "set (${NAME:?})"
    )


def _refuse_unlikely(text: str) -> None:
    """Raise Uninspectable for text that parses, but to nothing that its author meant."""
    if not text.strip():
        raise Uninspectable("SYS004", "the script is empty; write it, or delete the file")
    lines = text.count("\n")
    returns = text.count("\r\n")
    if returns * 2 > lines:
        message = (
            f"{returns} of {lines} lines end in CRLF: bash takes the carriage return as part of the last word; "
            "convert the file (sed -i 's/\\r$//' FILE)"
        )
        raise Uninspectable("SYS003", message)


class LaunchLoader(PathLoader):
    """The evaluations of a shell script, one for each scenario."""

    subject = Subject.LAUNCH

    def load(self, context: Context, path: str) -> Loaded:
        """Evaluate the script. A scenario that fails is a problem of its own; raises Uninspectable as ScriptLoader."""
        from example_sanity.launch import inputs
        from example_sanity.launch.explore import launches

        (script,) = context.load(Subject.SCRIPT, path)
        inputs.note(_as_script(script), context.project)
        evaluated = launches(
            _as_script(script), context.project.root, dict(context.environment), context.engine
        )
        return Loaded(
            tuple(launch for launch in evaluated if launch.failure is None),
            tuple(_problem(launch, path) for launch in evaluated if launch.failure is not None),
        )


class DefaultLaunchLoader(PathLoader):
    """The evaluation of a shell script in its default scenario."""

    subject = Subject.DEFAULT_LAUNCH

    def load(self, context: Context, path: str) -> Loaded:
        """Evaluate the script once. A failure is a problem; raises Uninspectable as ScriptLoader."""
        from example_sanity.launch import inputs
        from example_sanity.launch.explore import default_launch

        (script,) = context.load(Subject.SCRIPT, path)
        inputs.note(_as_script(script), context.project)
        launch = default_launch(
            _as_script(script), context.project.root, dict(context.environment), context.engine
        )
        return Loaded((launch,)) if launch.failure is None else Loaded((), (_problem(launch, path),))


def _as_script(subject: object) -> Script:
    from example_sanity.launch.syntax import Script

    assert isinstance(subject, Script)
    return subject


def _problem(launch: Launch, path: str) -> Finding:
    code = "SYS005" if launch.limit else "SYS004"
    hint = "; the usual reason is a loop that waits for something" if launch.limit else ""
    message = f"could not evaluate: {launch.failure}{hint}"
    return system.problem(code, path, message, scenario=launch.scenario.name)


LOADERS = (PathLoader(), ScriptLoader(), LaunchLoader(), DefaultLaunchLoader())
