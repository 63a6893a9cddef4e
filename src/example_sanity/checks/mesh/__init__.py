"""MSH: parallel mesh arithmetic, and the launcher's own guard."""

from __future__ import annotations

from example_sanity.checks.mesh.options import MeshOptions

OPTIONS = MeshOptions
