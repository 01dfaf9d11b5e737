"""References as people write them: numpy functions that tests trace, fate by fate."""

import numpy as np


def relu_grad(dy, x):
    return np.where(x > 0, dy, 0).astype(dy.dtype)


def softmax_backward(dy, y):
    dy32, y32 = dy.astype(np.float32), y.astype(np.float32)
    inner = (dy32 * y32).sum(axis=-1, keepdims=True)
    return ((dy32 - inner) * y32).astype(dy.dtype)


def mean_square(x):
    return np.mean(x.astype(np.float32) ** 2)


def dice_loss(p, t, smooth: float = 1.0):
    p, t = p.astype(np.float32).ravel(), t.astype(np.float32).ravel()
    return np.float32(1) - (2 * np.sum(p * t) + smooth) / (np.sum(p) + np.sum(t) + smooth)


def focal_loss(logits, target, gamma: float = 2.0, alpha: float = 0.25):
    x = logits.astype(np.float32)
    t = target.astype(np.float32)
    p = 1.0 / (1.0 + np.exp(-x))
    ce = np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x)))
    pt = p * t + (1 - p) * (1 - t)
    return (alpha * (1 - pt) ** gamma * ce).mean()


def causal_softmax(scores):
    s = scores.astype(np.float32)
    n = s.shape[-1]
    mask = np.tril(np.ones((n, n), dtype=bool))
    s = np.where(mask, s, -np.inf)
    s = s - s.max(axis=-1, keepdims=True)
    e = np.exp(s)
    return (e / e.sum(axis=-1, keepdims=True)).astype(scores.dtype)


def causal_by_positions(scores):
    q, k = scores.shape[-2:]
    pos = np.arange(k)
    keep = pos[None, :] <= np.arange(q)[:, None]
    return np.where(keep, scores, -10000.0).astype(scores.dtype)


def alibi(scores, slopes):
    h, q, k = scores.shape[1:]
    distance = np.arange(k)[None, :] - np.arange(q)[:, None]
    bias = slopes.reshape(1, h, 1, 1) * distance
    return (scores + bias).astype(scores.dtype)


def one_hot(labels, like):
    classes = like.shape[-1]
    return (labels[:, None] == np.arange(classes)).astype(np.float32) * like


def padding_mask(x, lengths):
    n = x.shape[1]
    valid = np.arange(n)[None, :] < lengths[:, None]
    return x * valid[:, :, None].astype(x.dtype)


def max_pool_by_reshape(x):
    n, c, length = x.shape
    return x.reshape(n, c, length // 2, 2).max(axis=-1)


def pixel_shuffle(x, r: int = 2):
    n, c, h, w = x.shape
    y = x.reshape(n, c // (r * r), r, r, h, w)
    return y.transpose(0, 1, 4, 2, 5, 3).reshape(n, c // (r * r), h * r, w * r)


def channel_shuffle(x, groups: int = 4):
    n, c, h, w = x.shape
    return x.reshape(n, groups, c // groups, h, w).transpose(0, 2, 1, 3, 4).reshape(n, c, h, w)


def group_norm_silu(x, gamma, beta, groups: int = 4, eps: float = 1e-5):
    n, c, h, w = x.shape
    v = x.astype(np.float32).reshape(n, groups, c // groups, h, w)
    mean = v.mean(axis=(2, 3, 4), keepdims=True)
    var = v.var(axis=(2, 3, 4), keepdims=True)
    y = ((v - mean) / np.sqrt(var + eps)).reshape(n, c, h, w)
    y = y * gamma.reshape(1, c, 1, 1) + beta.reshape(1, c, 1, 1)
    return (y / (1 + np.exp(-y))).astype(x.dtype)


def dequant_bias(q, scale, bias):
    return (q.astype(np.float32) * scale + bias).astype(np.float16)


def quant_per_token(x):
    v = x.astype(np.float32)
    scale = np.abs(v).max(axis=-1, keepdims=True) / 127.0
    q = np.clip(np.rint(v / scale), -128, 127).astype(np.int8)
    return q, scale[..., 0]


def nan_cleaned(x):
    return np.nan_to_num(x, nan=0.0, posinf=10.0, neginf=-10.0)


def isnan_filled(x, fill: float = 0.0):
    return np.where(np.isnan(x) | np.isinf(x), np.float32(fill), x).astype(x.dtype)


def range_of_rows(x):
    return np.ptp(x, axis=-1)


def halves_swapped(x):
    a, b = np.split(x, 2, axis=-1)
    return np.hstack([b, -a])


def differences(x):
    return np.diff(x, axis=-1)


def rolled(x):
    return np.roll(x, 1, axis=-1)


def repeated(x):
    return np.repeat(x, 2, axis=1)


def tiled(x):
    return np.tile(x, (1, 2))


def padded(x):
    return np.pad(x, ((0, 0), (1, 1)))


def angle(y, x):
    return np.arctan2(y, x)


def adamw(
    p,
    g,
    m,
    v,
    lr: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    decay: float = 0.01,
):
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    p = p - lr * decay * p
    p -= lr * m / (np.sqrt(v) + eps)
    return p, m, v


def layer_norm(x, gamma, beta, eps: float = 1e-5):
    x32 = x.astype(np.float32)
    mu = x32.mean(-1, keepdims=True)
    var = ((x32 - mu) ** 2).mean(-1, keepdims=True)
    return ((x32 - mu) / np.sqrt(var + eps) * gamma.astype(np.float32) + beta).astype(x.dtype)


def rms_norm_residual(x, residual, weight, eps: float = 1e-6):
    h = x.astype(np.float32) + residual.astype(np.float32)
    rstd = 1.0 / np.sqrt(np.mean(np.square(h), axis=-1, keepdims=True) + eps)
    return (h * rstd * weight.astype(np.float32)).astype(x.dtype), h.astype(x.dtype)


def matmul_bias_relu(x, w, b):
    return np.maximum(x.astype(np.float32) @ w.astype(np.float32) + b, 0).astype(x.dtype)


def einsum_rows(a, b):
    return np.einsum("bi,bi->b", a.astype(np.float32), b.astype(np.float32))


def outer(a, b):
    return np.einsum("i,j->ij", a, b)


def log_softmax_nll(logits, target):
    x = logits.astype(np.float32)
    m = x.max(axis=-1, keepdims=True)
    lse = np.log(np.exp(x - m).sum(axis=-1, keepdims=True)) + m
    picked = np.take_along_axis(x - lse, target[:, None], axis=-1)
    return -picked.mean()


def rotary(x, cos, sin):
    d = x.shape[-1] // 2
    x1, x2 = x[..., :d], x[..., d:]
    out = np.empty_like(x)
    out[..., :d] = x1 * cos - x2 * sin
    out[..., d:] = x2 * cos + x1 * sin
    return out


def rotary_interleaved(x, cos, sin):
    out = np.zeros_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
    return out


def swiglu(x):
    gate, up = np.split(x.astype(np.float32), 2, axis=-1)
    return (gate / (1 + np.exp(-gate)) * up).astype(x.dtype)


def int_affine(x):
    return x * 3 + 1


def geglu_inplace(x, y):
    x = x.copy()
    x *= y
    x += 1
    return x


def top1_gating(logits):
    e = np.exp(logits - logits.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    return p.max(-1), p.argmax(-1).astype(np.int32)


def huber(x, y, delta: float = 1.0):
    e = np.abs(x - y)
    return np.mean(np.where(e < delta, 0.5 * e * e, delta * (e - 0.5 * delta)))


def hinge(x, y):
    return np.clip(1 - x * y, 0, None).mean(dtype=np.float32)


def exclusive_by_insert(x):
    return np.cumsum(x, axis=-1) - x


def running_max(x):
    return np.maximum.accumulate(x, axis=-1)


def avg_pool2d(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).mean(axis=(3, 5))


def nearest_upsample(x):
    return x.repeat(2, axis=2).repeat(2, axis=3)


def cosine_similarity(a, b):
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    return np.sum(a * b, axis=-1)


def embedding(table, ids):
    return table[ids]


def embedding_bag(table, ids):
    return (table * 0.5)[ids].mean(axis=1)


def differences_along_edges(x, start, end):
    return x[start] - x[end]


def chosen_channels(x, channels):
    return x[:, channels] + 1.0


def permuted_residual(x, order):
    return x + x[order]


def weighted_by_class(x, weights, labels):
    return x * weights[labels]


def nll_by_index(logp, labels):
    return -logp[np.arange(logp.shape[0]), labels].mean()


def gathered_scores(scores, picked):
    return np.take_along_axis(scores, picked, axis=-1)


def rows_of_each_column(x, rows):
    return np.take_along_axis(x, rows, axis=0)


def mixed_within_rows(x, order):
    return x + np.take_along_axis(x, order, axis=-1)


def box_overlap(a, b):
    left, top = np.maximum(a[:, 0], b[:, 0]), np.maximum(a[:, 1], b[:, 1])
    right, bottom = np.minimum(a[:, 2], b[:, 2]), np.minimum(a[:, 3], b[:, 3])
    return np.maximum(right - left, 0) * np.maximum(bottom - top, 0)


def corners_of_boxes(boxes):
    x, y, w, h = boxes[..., 0], boxes[..., 1], boxes[..., 2], boxes[..., 3]
    return np.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], axis=-1)


def against_the_first_column(x):
    return x - x[:, :1]


def recurrence(x):
    return np.subtract.accumulate(x, axis=-1)


def running_min_of_rows(x):
    return np.minimum.accumulate(x, axis=0)


def embedding_gradient(grad, ids, table):
    out = np.zeros_like(table)
    np.add.at(out, ids, grad)
    return out


def largest_of_each_segment(x, segment, floor):
    out = floor + 0.0
    np.maximum.at(out, segment, x)
    return out


def token_shift(x, share):
    before = np.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]
    return x * share + before * (1 - share)


def circular_filter(x):
    return 0.25 * np.roll(x, 1, axis=-1) + 0.5 * x + 0.25 * np.roll(x, -1, axis=-1)


def overlap_of_all_boxes(a, b):
    left = np.maximum(a[:, None, 0], b[None, :, 0])
    right = np.minimum(a[:, None, 2], b[None, :, 2])
    top = np.maximum(a[:, None, 1], b[None, :, 1])
    bottom = np.minimum(a[:, None, 3], b[None, :, 3])
    return np.maximum(right - left, 0) * np.maximum(bottom - top, 0)


def segment_mean(x, segment, like):
    total, count = np.zeros_like(like), np.zeros_like(like[:, 0])
    np.add.at(total, segment, x)
    np.add.at(count, segment, 1.0)
    return total / np.maximum(count, 1)[:, None]


def contrastive_loss(z):
    z = z / np.linalg.norm(z, axis=-1, keepdims=True)
    scores = z @ z.T / 0.1
    most = scores.max(-1, keepdims=True)
    return np.log(np.exp(scores - most).sum(-1)) + most[:, 0]


def mean_with_mirror(x):
    return (x + x[:, ::-1]) / 2


def upside_down(x, scale):
    return np.flip(x * scale, axis=1)


def padded_by_mirror(x):
    return np.pad(x, ((0, 0), (2, 3)), mode="symmetric") - np.pad(
        x, ((0, 0), (2, 3)), mode="reflect"
    )


def decayed_sum(x):
    return (x * 0.9 ** np.arange(x.shape[-1])[::-1]).sum(-1)


def returns_to_go(rewards, discount):
    return np.cumsum(rewards[:, ::-1] * discount, axis=1)[:, ::-1]


def causal_filter(x, w):
    padded, n = np.pad(x, ((0, 0), (2, 0), (0, 0))), x.shape[1]
    return padded[:, :n] * w[0] + padded[:, 1 : n + 1] * w[1] + padded[:, 2 : n + 2] * w[2]


def products_to_go(x, y):
    return np.flip(np.cumsum(np.flip(x @ y, 1), axis=1), 1)


def mirrored_product(x, y):
    return (x @ y)[:, ::-1]


def gram_matrix(x):
    return x @ x.T


def symmetric_part(x):
    return (x + x.T) / 2


def pairwise_distances(x):
    return np.sqrt(((x[:, None, :] - x[None, :, :]) ** 2).sum(-1))


def cosine_matrix(x):
    z = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return z @ z.T


def self_attention(x):
    scores = x @ np.swapaxes(x, -1, -2) / np.sqrt(x.shape[-1])
    power = np.exp(scores - scores.max(-1, keepdims=True))
    return (power / power.sum(-1, keepdims=True)) @ x


def squared_distances(x):
    square = (x * x).sum(-1)
    return square[:, None] + square[None, :] - 2 * x @ x.T


def rope_at_positions(x, cos, sin, positions):
    c, s = cos[positions], sin[positions]
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


def scaled_rows_of_a_product(a, b, ids):
    return (a @ b)[ids]


def rows_by_a_mask(x, chosen):
    return x[chosen > 0]


def half_of_embedding(table, ids):
    return table[:, : table.shape[1] // 2][ids]


def masked_by_table(x, allowed, kinds):
    return np.where(allowed[kinds][:, None], x, 0.0)


def powered(x, gamma: float = 2.0):
    return np.power(x, gamma) + x**3.0


def gate(logits):
    scores = np.exp(logits - logits.max(axis=-1, keepdims=True))
    scores = scores / scores.sum(axis=-1, keepdims=True)
    experts = np.argsort(-scores, axis=-1, kind="stable")[:, :2]
    weights = np.take_along_axis(scores, experts, axis=-1)
    return weights / weights.sum(axis=-1, keepdims=True), experts.astype(np.int32)


def largest_three(x):
    return np.sort(x, axis=-1)[..., -3:]


def largest_three_first(x):
    return np.sort(x, axis=-1)[..., ::-1][..., :3]


def second_largest(x):
    return np.sort(x, axis=-1)[..., -2]


def sorted_rows(x):
    return np.sort(x, axis=-1)


def sorted_columns_downwards(x):
    return -np.sort(-x, axis=0)


def order_of_rows(x):
    return np.argsort(x, axis=-1, kind="stable").astype(np.int32)


def ranks(x):
    return np.argsort(np.argsort(x, axis=-1), axis=-1).astype(np.float32)


def median_of_rows(x):
    return np.median(x, axis=-1)


def trimmed_scale(x):
    low, high = np.percentile(x, 25, axis=-1), np.quantile(x, 0.75, axis=-1)
    middle = np.median(x, axis=-1, keepdims=True)
    return (x - middle) / (high - low)[..., None]


def one_of_largest(x, k: int = 3):
    chosen = np.argsort(-x, axis=-1, kind="stable")[:, :k]
    mask = np.zeros_like(x)
    np.put_along_axis(mask, chosen, 1.0, axis=-1)
    return np.where(mask > 0, x, -np.inf)


def by_the_order_of_keys(x, keys):
    return np.take_along_axis(x, np.argsort(keys, axis=-1, kind="stable"), axis=-1)


def scores_of_chosen(x, w, chosen):
    return np.take_along_axis(x @ w, chosen, axis=-1)


def normed_rows(x, ids):
    centred = x - x.mean(axis=-1, keepdims=True)
    return (centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5))[ids]


def sums_by_place(x, ids):
    return np.cumsum(x.sum(-1))[ids]


def rotations(q):
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    rows = [
        *(1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        *(2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        *(2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    ]
    return np.stack(rows, axis=-1).reshape(*q.shape[:-1], 3, 3)


def traces_of_corners(x):
    return x[:, 0, 0] + x[:, 1, 2] * x[:, 2, 1]


def experts_of_groups(scores, bias):
    weights = 1 / (1 + np.exp(-scores))
    groups = (weights + bias).reshape(len(scores), 4, -1)
    best = np.sort(groups, axis=-1)[..., -2:].sum(-1)
    kept = np.zeros_like(best)
    np.put_along_axis(kept, np.argsort(-best, axis=-1, kind="stable")[:, :2], 1.0, axis=-1)
    masked = np.where(kept[:, :, None] > 0, groups, -np.inf).reshape(scores.shape)
    experts = np.argsort(-masked, axis=-1, kind="stable")[:, :4]
    chosen = np.take_along_axis(weights, experts, axis=-1)
    return experts.astype(np.int32), chosen / chosen.sum(-1, keepdims=True)


def deviation_from_the_median(x):
    return np.median(np.abs(x - np.median(x, axis=-1, keepdims=True)), axis=-1)


def best_beams(scores, logp):
    flat = (scores[:, None] + logp).reshape(-1)
    best = np.argsort(-flat, kind="stable")[:4]
    return flat[best], (best // logp.shape[1]).astype(np.int32)


def place_in_all(x, w):
    return np.argmax(np.tanh(x)[:, None] * w)


def threshold_of_sums(x):
    return (x - np.cumsum(x, axis=-1)[..., :3].sum(-1, keepdims=True)).max(-1)


def drawn_by_chance(p, u):
    total = np.cumsum(p, axis=-1)
    return (total[:, None, :] < u[:, :, None] * total[:, None, -1:]).sum(-1).astype(np.float32)


def last_of_a_running_maximum(x):
    top = np.maximum.accumulate(x, axis=1)
    return top[:, -1] - np.cumsum(x[:, ::-1], axis=1)[:, ::-1][:, 0]
