"""The command ``pr``: the rules on pull requests, over the one of an event or of the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from example_sanity import delivery, session
from example_sanity.checks.sources.options import SourcesOptions
from example_sanity.core.errors import UsageError
from example_sanity.core.textfiles import PULL_REQUEST_FILE

_TITLE, _BODY = "pr-title", "pr-body"


def check(
    *,
    title: str | None,
    body: str | None,
    body_file: Path | None,
    event: Path | None,
    form: str,
    **options: Any,
) -> int:
    """Judge title and text, and report. Returns the exit code; raises UsageError where there is neither."""
    if body is not None and body_file is not None:
        raise UsageError("--body and --body-file exclude each other")
    if body_file is not None:
        body = _read(body_file)
    if title is None and body is None:
        title, body = _from_event(event)
    run = session.open_run((), cache=False, **options)
    if run.options("sources", SourcesOptions).pull_request is None:
        raise UsageError(
            "nothing says what a pull request looks like: write [tool.example-sanity.sources.pull-request]"
        )
    given = [name for name, text in ((_TITLE, title), (_BODY, body)) if text is not None]
    run.config = msgspec.structs.replace(run.config, select=tuple(given))
    # As an editor would show it: findings then have lines, and all formats of reports work.
    text = "\n\n".join(((title or "").replace("\n", " "), body or ""))
    run.project.hold(PULL_REQUEST_FILE, text.encode("utf-8", "surrogateescape"))
    families = [run.registry.family("sources")]
    result = run.check(families, [run.project.root / PULL_REQUEST_FILE])
    wanted = form == "text" and delivery.wants_colour()
    view = delivery.view(run.project, result, lambda: (run, families), run.config.fail_on, wanted)
    delivery.deliver(view, form, None, ())
    return delivery.exit_code(result, run.config.fail_on, allow_empty=False)


def _read(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the text of the pull request from {path}: {error}") from error


def _from_event(path: Path | None) -> tuple[str, str]:
    if path is None:
        raise UsageError("which pull request? Give --title, --body or --body-file, or the event with --event")
    try:
        data = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"cannot read the event {path}: {error}") from error
    pull_request = data.get("pull_request") if isinstance(data, dict) else None
    if not isinstance(pull_request, dict) or not isinstance(pull_request.get("title"), str):
        raise UsageError(f"{path} is no event on a pull request: it has no pull_request.title")
    return pull_request["title"], pull_request.get("body") or ""
