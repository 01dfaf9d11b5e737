"""Stage II of Algorithm 1: rewrite the kernel K with retrieved experience, T as it is."""

from __future__ import annotations

from pydantic import TypeAdapter

from ci.model.diagnosis import Diagnosis
from ci.model.operator import Operator
from ci.model.result import UsedTuple
from ci.model.trial import Trial
from ci.proposer.base import ProposalRejected, Proposer, Step
from ci.search.search import Search
from experience.bank.bank import Bank
from experience.bank.retrieve import Query, Retrieved

_RETRIEVED = TypeAdapter(tuple[Retrieved, ...])


def rewrite_kernel(
    search: Search,
    operator: Operator,
    proposer: Proposer,
    bank: Bank | None,
    steps: int,
    top_k: int,
    seed: int,
    used: list[UsedTuple],
) -> bool:
    """Up to `steps` kernel candidates; whether anything is left. Adds to the tuples that were used.

    What a step is offered is stored, so that a resumed run is not asked a bank that learnt since.
    """
    search.stage = "kernel"
    for step in range(steps):
        diagnosis = proposer.diagnose(operator, search.best)
        retrieved = _retrieve(search, operator, proposer, bank, diagnosis, step, top_k)
        replayed = search.replaying
        try:
            at = Step(operator, search.best, search.history, seed)
            candidate = proposer.rewrite(at, diagnosis, retrieved)
        except ProposalRejected as problem:
            search.refuse(problem.candidate, str(problem))
            continue
        if candidate is None:
            search.tell("note", text="No kernel rewrite is left to try for this tiling.")
            return False
        host = set(operator.host_sources)
        if {p: t for p, t in candidate.files.items() if p in host} != {
            p: t for p, t in search.best.candidate.files.items() if p in host
        }:
            search.refuse(candidate, "A kernel step must leave the host tiling as it is.")
            continue
        trial = search.attempt(candidate)
        if trial is None:
            return True
        won = search.won(trial)
        offered = [r for r in retrieved if r.tuple.id in candidate.tuple_ids]
        used += [_use(r, trial, won) for r in offered]
        if bank is not None and offered and not replayed:
            bank.credit([r.tuple.id for r in offered], won=won)
    return True


def _retrieve(
    search: Search,
    operator: Operator,
    proposer: Proposer,
    bank: Bank | None,
    diagnosis: Diagnosis,
    step: int,
    top_k: int,
) -> tuple[Retrieved, ...]:
    key = f"retrieval {search.round}.{step}"
    stored = search.store.recall(key)
    if stored is not None:
        return _RETRIEVED.validate_json(stored)
    found: tuple[Retrieved, ...] = ()
    if bank is not None and top_k > 0:
        measured = search.best.measurement
        found = tuple(
            bank.search(
                Query(
                    bottleneck=diagnosis.bottleneck,
                    classes=diagnosis.classes,
                    op_family=operator.category or "other",
                    dtype=operator.inputs[0].dtypes[0] if operator.inputs else "",
                    soc=measured.fingerprint.device if measured else "",
                    applicable=proposer.applicable(Step(operator, search.best, search.history)),
                ),
                k=top_k,
            )
        )
    search.store.remember(key, _RETRIEVED.dump_json(found).decode())
    return found


def _use(retrieved: Retrieved, trial: Trial, won: bool) -> UsedTuple:
    return UsedTuple(
        id=retrieved.tuple.id,
        title=retrieved.tuple.title,
        bottleneck=retrieved.tuple.bottleneck,
        similarity=retrieved.similarity,
        why=retrieved.why,
        trial=trial.number,
        won=won,
    )
