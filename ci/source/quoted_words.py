"""The words that an operator's host sources quote: what a string attribute may be."""

from __future__ import annotations

import re

from ci.model.operator import Operator
from ci.source.cpp_text import without_comments

_WORD = re.compile(r'"([A-Za-z_]\w{0,15})"')


def quoted_words(operator: Operator) -> tuple[str, ...]:
    """Each quoted word of the host's code once, in its order.

    Left out are comments, as the licence, and the names of what the operator declares.
    """
    tensors = (*operator.inputs, *operator.outputs)
    names = {operator.op_type, *(t.name for t in tensors), *(a.name for a in operator.attrs)}
    texts = (without_comments(operator.read(source)) for source in operator.host_sources)
    words = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    return tuple(word for word in words if word not in names)
