"""The experience bank: what made operators faster before."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ascendopt.api.given import path_of, text_of
from ascendopt.api.shown import data_frame, html_table
from ci.model.amount import amount
from ci.model.errors import InputError
from ci.session.open_bank import default_bank, open_bank

if TYPE_CHECKING:
    import pandas

    from experience.bank.bank import BankStats
    from experience.bank.retrieve import Retrieved
    from experience.bank.tuple import ExperienceTuple


LONGEST_QUERY: Final = 20_000
"""Bytes of the words that a search compares: a page of them."""


class Bank:
    """Experience tuples: title, description, bottleneck, code diff, and the evidence for each.

    Example:
        ```python
        bank = ascendopt.Bank("bank.duckdb")
        for found in bank.search("vector pipe waits for loads", count=3):
            print(found.tuple.title)
        ```
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Open the bank at `path`, or the user's own; a new one begins with the shipped tuples.

        Raises InputError when the file cannot be opened.
        """
        self.path = default_bank() if path is None else path_of(path, "The bank")
        """The bank's file."""
        self._bank = open_bank(self.path)

    def search(
        self,
        bottleneck: str,
        *,
        count: int = 5,
        op_family: str = "",
        dtype: str = "",
        device: str = "",
    ) -> list[Retrieved]:
        """Return the tuples that fit a bottleneck in words best, the best first.

        These are `count` that helped, and at most as many that warn of what did not.
        """
        from experience.bank.retrieve import Query

        words = {"bottleneck": bottleneck, "op_family": op_family, "dtype": dtype, "soc": device}
        if not isinstance(count, int) or count < 1:
            raise InputError(f"count cannot be {count!r:.50}; it is a whole number from 1.")
        query = Query(**{k: text_of(v, k, LONGEST_QUERY) for k, v in words.items()})
        return self._bank.search(query, k=count)

    def get(self, tuple_id: str) -> ExperienceTuple:
        """Return one tuple; raises InputError when there is none of that id."""
        return self._bank.get(tuple_id)

    def tuples(self) -> list[ExperienceTuple]:
        """Return all tuples."""
        return self._bank.all()

    def stats(self) -> BankStats:
        """Return how many tuples there are, by kind."""
        return self._bank.stats()

    def __len__(self) -> int:
        return len(self._bank.all())

    def to_dataframe(self) -> pandas.DataFrame:
        """Return one row a tuple: id, title, bottleneck, operator, device, gain, status."""
        return data_frame(self._rows())

    def _rows(self) -> list[dict[str, object]]:
        return [
            {
                "id": t.id,
                "title": t.title,
                "bottleneck": t.bottleneck,
                "operator": t.operator,
                "device": t.soc,
                "speedup": t.evidence.speedup,
                "status": t.status,
            }
            for t in self._bank.all()
        ]

    def __repr__(self) -> str:
        return f"<ascendopt.Bank {self.path}: {amount(len(self), 'tuple')}>"

    def _repr_html_(self) -> str:
        head = ("id", "title", "operator", "speedup", "status")
        rows = [[row[name] for name in head] for row in self._rows()[:20]]
        return f"<p><b>{amount(len(self), 'tuple')}</b></p>" + html_table(head, rows)
