"""numpy's functions that are not traced, each with the sentence that says why and what to write."""

from __future__ import annotations

from typing import Final

_SORTS: Final = (
    "sorts or searches by values in a way that is not traced. numpy.sort, numpy.argsort and"
    " numpy.median are."
)
_SHAPE: Final = (
    "gives a result whose shape depends on values. Compute a mask and use numpy.where, or sum it."
)
_PLACES: Final = (
    "reads or writes elements at places that are values. x[index], numpy.take and"
    " numpy.take_along_axis are traced, and so is a mask by numpy.arange(n) == index."
)
_BITS: Final = "works on bits of numbers; kernels compute in float32."
_ALGEBRA: Final = "solves or decomposes a matrix, which is not lowered."
_COMPLEX: Final = "is for complex numbers; give real and imaginary parts as two inputs."
_FILES: Final = "writes a text or a file, which a kernel cannot."
ORDER: Final = (
    "computes each element from the one before; running sums, products, maxima and minima are"
    " traced."
)
_VALUE: Final = "gives one answer about values, by which a kernel cannot decide."
_STEPS: Final = "calls a Python function element by element; write it on whole arrays."
_POLY: Final = "takes coefficients in arrays; numpy.polyval with numbers is traced."
_MAKES: Final = "makes an array of constants; make it an input, or count with numpy.arange."
_WINDOW: Final = "goes over windows; numpy.lib.stride_tricks.sliding_window_view is traced."
_WRITES: Final = "writes into an array in place; use numpy.where, or assign to a range."

_BY_REASON: Final = {
    _SORTS: (
        "partition argpartition lexsort searchsorted"
        " digitize histogram histogram2d histogramdd histogram_bin_edges nanmedian nanpercentile"
        " nanquantile sort_complex bincount interp isin"
    ),
    _SHAPE: (
        "argwhere compress extract flatnonzero nonzero intersect1d setdiff1d setxor1d union1d"
        " unique unique_all unique_counts unique_inverse unique_values trim_zeros delete insert"
    ),
    _PLACES: "choose put ix_ ravel_multi_index unravel_index diag_indices_from"
    " tril_indices_from triu_indices_from",
    _BITS: "bitwise_count bitwise_xor left_shift right_shift bitwise_left_shift"
    " bitwise_right_shift gcd lcm frexp nextafter spacing packbits unpackbits",
    _ALGEBRA: "cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_power matrix_rank pinv"
    " qr slogdet solve svd svdvals tensorinv tensorsolve corrcoef cov",
    _COMPLEX: "angle imag iscomplex real_if_close unwrap",
    _FILES: "array2string array_repr array_str save savetxt savez savez_compressed"
    " datetime_as_string",
    _VALUE: "allclose array_equal array_equiv may_share_memory shares_memory min_scalar_type isnat",
    _STEPS: "apply_along_axis apply_over_axes",
    _POLY: "poly polyadd polyder polydiv polyfit polyint polymul polysub roots vander i0",
    _MAKES: "busday_count busday_offset is_busday geomspace logspace linspace einsum_path",
    _WINDOW: "convolve correlate",
    _WRITES: "copyto fill_diagonal place putmask resize",
    "makes a matrix of a diagonal; numpy.diag of one axis does, too.": "diagflat",
    "puts nested lists together; use numpy.concatenate.": "block",
    "was removed by numpy 2; write what takes its place there.": (
        "alltrue asfarray cumproduct in1d msort product round_ sometrue trapz"
    ),
}

REFUSED: Final = {name: why for why, names in _BY_REASON.items() for name in names.split()}


def said(name: str) -> str:
    """Why a function of numpy is not traced."""
    why = REFUSED.get(name)
    if why is None:
        return f"It calls numpy.{name}, which is not traced."
    return f"It calls numpy.{name}, which {why}"
