"""What the rules on constraints share: each reports the constraints of its code that a launch breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from example_sanity.checks.mesh.bridge import LaunchMesh, launch_plans
from example_sanity.checks.mesh.repository import Repository
from example_sanity.core.finding import Finding
from example_sanity.core.rule import Context, Rule, Subject
from example_sanity.launch.command import Launch


class ConstraintRule(Rule):
    """Reports the constraints of one code that a launch breaks."""

    subject = Subject.LAUNCH

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Yield a finding for each broken constraint of each mesh."""
        launch = cast("Launch", subject)
        for shown in planned(launch, context):
            for violation in shown.mesh.violations:
                constraint = violation.constraint
                if constraint.code == self.code:
                    origin = shown.origin_of(violation)
                    yield self.finding(
                        origin.path,
                        origin.span,
                        f"{violation.text(shown.names)} ({shown.mesh.backend.title}: {constraint.outcome}; "
                        f"{constraint.id} in {constraint.source})",
                        severity=constraint.severity,
                        scenarios=(launch.scenario.name,),
                        related=shown.related(violation, origin),
                    )


def planned(launch: Launch, context: Context) -> Sequence[LaunchMesh]:
    """Return the meshes of a launch with what the repository knows of them, worked out once a run."""
    found: Sequence[LaunchMesh] = context.once(
        f"meshes of {launch.script.path} in {launch.scenario.name}",
        lambda: launch_plans(launch, Repository.of(context)),
    )
    return found
