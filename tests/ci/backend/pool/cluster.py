"""A Ray cluster of two nodes on this host, and small."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ci.backend.pool.leases import VISIBLE

SMALL = {
    "num_cpus": 1,
    "object_store_memory": 80 << 20,
    "include_dashboard": False,
}


NPUS = 1000 + 2 * os.getpid(), 1001 + 2 * os.getpid()
"""Numbers of devices that the second node is shown, which nobody has; another run has others."""


@contextmanager
def started_cluster(patch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The cluster; its `second` node can be removed."""
    from ray.cluster_utils import Cluster

    patch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("PYTHONPATH", os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")]))
    cluster = Cluster(initialize_head=True, head_node_args=SMALL)
    try:
        patch.setenv(VISIBLE, f"{NPUS[0]},{NPUS[1]}")
        cluster.second = cluster.add_node(**SMALL, resources={"NPU": 2})
        patch.delenv(VISIBLE)
        yield cluster
    finally:
        cluster.shutdown()
