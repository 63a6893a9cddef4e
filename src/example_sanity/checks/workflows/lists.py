"""WFL005: lists of files, in a matrix or in a suite, with entries that name no file."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from typing import TYPE_CHECKING, cast

from example_sanity.checks.workflows.paths import moved_to, submodules
from example_sanity.core.finding import Edit, Fix, Severity
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from example_sanity.checks.workflows.model import Item, Listing, Workflow
    from example_sanity.core.finding import Finding
    from example_sanity.core.project import Project

_FILE = regex(r"(?:\./)?(?:[\w.+@-]+/)*[\w.+@-]+\.(?:py|sh|bash|slurm|sbatch|ya?ml|toml|json|ipynb)")
_LIKE_FILES = 2  # so many entries must be files for a list to be one of files
_PATH = "tests/suites/nightly.txt"
_FILES = {"tests/suites/llm/run_a.sh": "", "tests/suites/llm/run_b.sh": "", "tests/suites/llm/run_c.sh": ""}


class StaleListEntry(Rule):
    """An entry of a list of files names no file.

    Lists that a job goes through, or leaves out, live longer than what they name: a column of a matrix
    (``test_file: [test_a.py, test_b.py]``), a text file with a test or a launcher on each line (see ``workflows.suites``). A
    missing entry fails the job, or disables nothing. A list is one of files when at least half of its entries, and two, name files
    from the root or from one folder; the others are judged. Patterns in the comments of such a text file
    (``# recipes/llm/run-*.sh``) must match something, too.

    Correct the entry, or delete it.
    """

    code = "WFL005"
    name = "stale-list-entry"
    summary = "an entry of a list of tests or launchers names no file"
    severity = Severity.WARNING
    subject = Subject.WORKFLOW
    source = "the files of the repository"
    bad = (
        Example(
            "tests/suites/llm/run_a.sh\ntests/suites/llm/run_b.sh\ntests/suites/llm/run_d.sh\n", _PATH, _FILES
        ),
        Example("# tests/suites/vlm/run_*.sh\ntests/suites/llm/run_a.sh\n", _PATH, _FILES),
    )
    good = (
        Example(
            "# tests/suites/llm/run_*.sh\ntests/suites/llm/run_a.sh\ntests/suites/llm/run_b.sh\n",
            _PATH,
            _FILES,
        ),
    )

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Judge every list, and the patterns of comments."""
        workflow = cast("Workflow", subject)
        project = context.project
        for listing in workflow.listings:
            base, number = base_of(listing, project)
            for item in stale(listing, project):
                others = (
                    f"{number} of its {len(listing.items)} entries name files of {base or 'the repository'}"
                )
                yield self.finding(
                    workflow.path,
                    item.text.span(),
                    f"{item.value!r} in {listing.label} names no file, while {others}{_nearby(item, base, project)}",
                    fix=_deletion(workflow, item),
                )
        for item in workflow.comments:
            if not _matches(item.value, project) and item.value.partition("/")[0] in project.folders:
                yield self.finding(
                    workflow.path, item.text.span(), f"{item.value!r} matches no file of the repository"
                )


def _deletion(workflow: Workflow, item: Item) -> Fix | None:
    """A line of a suite may be what is wrong, or it may want another name: only a person knows."""
    if workflow.kind != "suite" or item.removal is None:
        return None
    return Fix(f"delete {item.value!r} from the list", (Edit(workflow.path, item.removal, ""),), safe=False)


def stale(listing: Listing, project: Project) -> list[Item]:
    """Return the entries of a list of files that name none; nothing of a list of other things."""
    entries = [item for item in listing.items if _FILE.fullmatch(item.value)]
    base, number = base_of(listing, project)
    if number < max(_LIKE_FILES, len(entries) / 2) or 2 * len(entries) < len(listing.items):
        return []
    foreign = submodules(project)
    return [
        item
        for item in entries
        if not named(item.value, project)
        and not any(_join(base, item.value).startswith(f"{path}/") for path in foreign)
    ]


def base_of(listing: Listing, project: Project) -> tuple[str, int]:
    """Return the folder from which most entries name files, and how many do; the root wins where it ties."""
    counts = Counter(
        file[: len(file) - len(item.value.removeprefix("./"))].rstrip("/")
        for item in listing.items
        if _FILE.fullmatch(item.value)
        for file in named(item.value, project)
    )
    best = max(sorted(counts), key=lambda folder: (counts[folder], -len(folder)), default="")
    return best, counts[best]


def named(value: str, project: Project) -> Sequence[str]:
    """The files that an entry can name, from whatever folder."""
    bare = value.removeprefix("./")
    files = project.files_named(bare.rpartition("/")[2])
    return [file for file in files if file == bare or file.endswith(f"/{bare}")]


def _join(base: str, value: str) -> str:
    return f"{base}/{value}".lstrip("/")


def _matches(pattern: str, project: Project) -> bool:
    wanted = re.compile(fnmatch.translate(pattern)).match
    return any(wanted(path) for path in project.all_files)


def _nearby(item: Item, base: str, project: Project) -> str:
    best = moved_to(_join(base, item.value.removeprefix("./")), project)
    return f"; the nearest is {best}" if best else ""
