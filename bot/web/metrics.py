"""`/metrics`: what a Prometheus server may ask of the bot."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.server.queue import Queue


class Metrics:
    """Counters of this process and gauges over the queue."""

    def __init__(self, queue: Queue) -> None:
        self._registry = CollectorRegistry()
        self._deliveries = Counter(
            "ascendopt_webhook_deliveries",
            "Webhook deliveries since the start, by what became of them.",
            ("forge", "outcome"),
            registry=self._registry,
        )
        self._registry.register(_QueueCollector(queue))

    def delivery(self, forge: str, outcome: str) -> None:
        """Count a delivery."""
        self._deliveries.labels(forge=forge, outcome=outcome).inc()

    def exposition(self) -> tuple[bytes, str]:
        """The text format with its content type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST


class _QueueCollector(Collector):
    """Reads the queue when asked."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def collect(self) -> Iterable[Metric]:
        """Events and jobs by state, and the oldest job that waits."""
        counts = self._queue.counts()
        for table in ("events", "jobs"):
            family = GaugeMetricFamily(
                f"ascendopt_{table}", f"The queue's {table} by state.", labels=["state"]
            )
            for state, number in sorted(counts[table].items()):
                family.add_metric([state], number)
            yield family
        waiting = self._queue.jobs(states=("queued",), limit=10_000)
        oldest = GaugeMetricFamily(
            "ascendopt_oldest_queued_job_created_seconds",
            "Unix time at which the oldest waiting job was queued; 0 when none waits.",
        )
        oldest.add_metric([], min((r.created for r in waiting), default=0.0))
        yield oldest
