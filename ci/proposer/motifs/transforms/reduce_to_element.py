"""Reduce straight into the element that the scalar unit would copy the result to."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci.proposer.motifs.match import Match
from ci.proposer.motifs.sequence import clean, dead_after, statement_range
from ci.source.cpp_source import Edit, Source, walk
from rules.api import load_api


def find(source: Source, parameters: Mapping[str, object]) -> list[Match]:
    """`ReduceX(s, …); y.SetValue(i, s.GetValue(0));` in one block, where s serves nothing else."""
    calls = source.statement_calls
    reductions = load_api().families["reduction"].names
    stores = {
        m.statement.start_byte: m
        for m in source.methods
        if m.name == "SetValue" and m.statement is not None and len(m.arguments) == 2
    }
    sites = []
    for block in walk(source.root):
        if block.type != "compound_statement":
            continue
        statements = block.named_children
        for one, two in zip(statements, statements[1:], strict=False):
            call, store = calls.get(one.start_byte), stores.get(two.start_byte)
            if call is None or store is None or call.name not in reductions:
                continue
            result = clean(call.arguments[0])
            if not re.fullmatch(r"\w+", result) or result == store.object:
                continue
            if clean(store.arguments[1]) != f"{result}.GetValue(0)":
                continue
            if not dead_after(source, result, one.start_byte, two.end_byte):
                continue
            start, end = statement_range(source, call)
            prefix = source.text[start : call.start]
            target = f"{store.object}[{store.arguments[0]}]"
            text = (
                f"{prefix}{call.name}{call.template}({', '.join((target, *call.arguments[1:]))});"
            )
            edits = (Edit(start, end, text), source.removal(two.start_byte, two.end_byte))
            sites.append(Match(start, edits, note=target))
    return sites
