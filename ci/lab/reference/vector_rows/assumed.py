"""What the machine assumes of element-by-element instructions where no public document tells."""

from __future__ import annotations

_BY_PREFIX: tuple[tuple[str, str], ...] = (
    # The first that fits counts.
    ("vconv_f162s", "NaN converts to 0"),
    ("vconv_f162u", "NaN converts to 0"),
    ("vconv_f322s", "NaN converts to 0"),
    ("vconv_bf162s", "NaN converts to 0"),
    ("vconv_f322f16", "a magnitude that does not fit becomes infinity in every rounding mode"),
    ("vconv_", ""),
    ("vaddreluconv", "the sum is rounded to the source type first"),
    ("vsubreluconv", "the difference is rounded to the source type first"),
    ("vmulconv", "the product is rounded to the source type first"),
    ("vaddrelu", "the sum is rounded before the comparison with 0"),
    ("vsubrelu", "the difference is rounded before the comparison with 0"),
    ("vmax", "a NaN wins"),
    ("vmin", "a NaN wins"),
    ("vmla", "the product is not rounded on its own"),
    ("vmadd", "the product is not rounded on its own"),
    ("vaxpy", "the product is not rounded on its own"),
    ("vexp", "within one unit in the last place"),
    ("vln", "within one unit in the last place"),
    ("vrec", "eight fraction bits: the documents only say how bad it may be"),
    ("vrsqrt", "eight fraction bits: the documents only say how bad it may be"),
    ("vshr", "unsigned elements are never rounded"),
    ("vshl", "distances of the width or more leave nothing but the sign"),
)

_INTEGERS_WRAP = "integers wrap unless CTRL[53] is set"
_WRAPPING = ("vadd", "vsub", "vmul")


def assumption_of(mnemonic: str, dst: str, src: str) -> str:
    """In words; '' when the documents leave nothing open."""
    words = next((text for prefix, text in _BY_PREFIX if mnemonic.startswith(prefix)), "")
    if not words and mnemonic.startswith(_WRAPPING) and "int" in dst and dst == src:
        return _INTEGERS_WRAP
    return words
