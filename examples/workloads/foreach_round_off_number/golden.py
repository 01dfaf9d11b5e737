import numpy as np

# By the number of the rounding mode, as the vector unit counts them.
MODES = {1: np.rint, 2: np.floor, 3: np.ceil, 5: np.trunc, 7: lambda t: t - np.trunc(t)}


def foreach_round_off_number(x, roundMode):  # noqa: N803, the definition's name
    return [MODES[int(roundMode.flat[0])](t) for t in x]
