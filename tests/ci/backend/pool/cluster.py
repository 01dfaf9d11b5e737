"""A Ray cluster of two nodes on this host, and small."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SMALL = {
    "num_cpus": 1,
    "object_store_memory": 80 << 20,
    "include_dashboard": False,
}


@contextmanager
def started_cluster(patch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The cluster; its `second` node can be removed."""
    from ray.cluster_utils import Cluster

    patch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("PYTHONPATH", os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")]))
    cluster = Cluster(initialize_head=True, head_node_args=SMALL)
    try:
        cluster.second = cluster.add_node(**SMALL)
        yield cluster
    finally:
        cluster.shutdown()
