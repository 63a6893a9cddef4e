"""DOC002: commands in documents that would not do what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.docs.base import DocumentRule
from example_sanity.checks.docs.evaluating import judge
from example_sanity.core.finding import Related
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document
    from example_sanity.core.finding import Finding

_MAIN = "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--steps', type=int)\nparser.parse_args()\n"
_FILES = {"train.py": _MAIN}


class WrongCommand(DocumentRule):
    """A command that a document quotes would fail, or do something else than it says.

    The command is evaluated like a launcher, in the environment that stands in front of it, and the launch is judged by
    the rules on meshes, batches, overrides and flags; the message begins with the code of the rule that speaks.
    Variables and placeholders that the reader is to fill in are not judged, nor is what a script that is run says
    without the document.
    """

    code = "DOC002"
    name = "wrong-command"
    summary = "a quoted command would fail"
    bad = (Example("```bash\npython3 train.py --step 5 --lr 1\n```\n", "README.md", _FILES),)
    good = (Example("```bash\npython3 train.py --steps $STEPS\n```\n", "README.md", _FILES),)

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        for block in document.blocks:
            for item in judge(document, block, context):
                finding = item.finding
                own = finding.path == document.path
                related = () if own else (Related(finding.path, finding.span, finding.name),)
                yield self.finding(
                    document.path,
                    item.span,
                    f"{finding.code} {finding.name}: {finding.message}",
                    severity=finding.severity,
                    related=related,
                )
