import numpy as np


def feeds_repeat(feeds, feeds_repeat_times, output_feeds_size):
    y = np.zeros((output_feeds_size, *feeds.shape[1:]), dtype=feeds.dtype)
    repeated = np.repeat(feeds, feeds_repeat_times, axis=0)
    y[: len(repeated)] = repeated
    return y
