"""Products of matrices and tensors: sums of products, on the vector unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ci.create.tracing.array import lifted, reshaped
from ci.create.tracing.functions import transpose
from ci.create.tracing.tape import Untraceable


def matmul(a: Any, b: Any) -> Any:
    """Return the matrix product, as a sum of products on the vector unit."""
    a, b = lifted((a, b))
    if not len(a.sizes) or not len(b.sizes):
        raise Untraceable("It takes the matrix product with a number; use *.")
    left = a[None, :] if len(a.sizes) == 1 else a
    right = b[:, None] if len(b.sizes) == 1 else b
    if left.sizes[-1] != right.sizes[-2]:
        raise Untraceable(
            f"It multiplies matrices of shapes {list(a.sizes)} and {list(b.sizes)}, which do not"
            " fit each other."
        )
    found = np.sum(left[..., :, :, None] * right[..., None, :, :], axis=-2)
    if len(b.sizes) == 1:
        found = found[..., 0]
    if len(a.sizes) > 1:
        return found
    return found[..., 0, :] if len(b.sizes) > 1 else found[..., 0]


def dot(a: Any, b: Any) -> Any:
    """numpy.dot."""
    a, b = lifted((a, b))
    if not len(a.sizes) or not len(b.sizes):
        return a * b
    if len(b.sizes) == 1:
        return np.sum(a * b, axis=-1)
    if len(a.sizes) <= 2 and len(b.sizes) == 2:
        return matmul(a, b)
    raise Untraceable("It calls numpy.dot of tensors with more than two axes; use numpy.matmul.")


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """numpy.tensordot."""
    a, b = lifted((a, b))
    if isinstance(axes, int):
        pairs = list(zip(range(len(a.sizes) - axes, len(a.sizes)), range(axes), strict=True))
    else:
        one, two = ([x] if isinstance(x, int) else list(x) for x in axes)
        pairs = [(x % len(a.sizes), y % len(b.sizes)) for x, y in zip(one, two, strict=True)]
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    left = [next(letters) for _ in range(len(a.sizes))]
    met = {y: left[x] for x, y in pairs}
    right = [met[k] if k in met else next(letters) for k in range(len(b.sizes))]
    summed = {left[x] for x, _ in pairs}
    rest = [c for c in (*left, *right) if c not in summed]
    return einsum(f"{''.join(left)},{''.join(right)}->{''.join(rest)}", a, b)


def einsum(formula: str, *operands: Any, **_: Any) -> Any:
    """numpy.einsum: products of what is broadcast, and sums over the letters that go."""
    if not isinstance(formula, str):
        raise Untraceable("It calls numpy.einsum with lists; write the formula as a text.")
    values = lifted(operands)
    given, arrow, out = formula.replace(" ", "").partition("->")
    terms = given.split(",")
    spare = "ZYXWVUTSRQ"
    widths = [len(v.sizes) - len(t.replace("...", "")) for t, v in zip(terms, values, strict=True)]
    most = max([w for t, w in zip(terms, widths, strict=True) if "..." in t], default=0)
    terms = [t.replace("...", spare[most - w : most]) for t, w in zip(terms, widths, strict=True)]
    if arrow:
        out = out.replace("...", spare[:most])
    else:
        once = [c for c in "".join(terms) if "".join(terms).count(c) == 1 and c not in spare]
        out = spare[:most] + "".join(sorted(once))
    order: list[str] = []
    for term in terms:
        if len(set(term)) != len(term):
            raise Untraceable("It takes a diagonal by numpy.einsum, which is not traced.")
        place = 0
        for letter in term:
            if letter in order:
                place = order.index(letter) + 1
            else:
                order.insert(place, letter)
                place += 1
    total: Any = None
    for term, value in zip(terms, values, strict=True):
        turned = transpose(value, [term.index(c) for c in order if c in term])
        sizes = iter(turned.shape)
        one = reshaped(turned, tuple(next(sizes) if c in term else 1 for c in order))
        total = one if total is None else total * one
    gone = tuple(k for k, c in enumerate(order) if c not in out)
    found = np.sum(total, axis=gone) if gone else total
    left = [c for c in order if c in out]
    return transpose(found, [left.index(c) for c in out])


def outer(a: Any, b: Any, **_: Any) -> Any:
    """numpy.outer."""
    a, b = lifted((a, b))
    return reshaped(a, (-1,))[:, None] * reshaped(b, (-1,))[None, :]


def kron(a: Any, b: Any) -> Any:
    """numpy.kron of vectors and matrices."""
    a, b = lifted((a, b))
    if len(a.sizes) != len(b.sizes) or len(a.sizes) > 2:
        raise Untraceable("It calls numpy.kron of tensors that are no two vectors or matrices.")
    if len(a.sizes) == 1:
        return reshaped(a[:, None] * b[None, :], (-1,))
    shape = tuple(n * m for n, m in zip(a.shape, b.shape, strict=True))
    return reshaped(a[:, None, :, None] * b[None, :, None, :], shape)
