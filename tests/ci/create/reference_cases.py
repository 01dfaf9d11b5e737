"""The cases of `references.py`: two of each function, of other lengths."""

from typing import Any


def _case(dtype: str = "float32", /, **inputs: Any) -> dict[str, Any]:
    """Inputs by their shapes, or by shape and what else a workload says of them."""
    found = {}
    for name, given in inputs.items():
        shape, more = given if isinstance(given, tuple) else (given, {})
        found[name] = {"shape": shape, "dtype": dtype, **more}
    return {"inputs": found}


def _cases(*cases: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"c{place}", **case} for place, case in enumerate(cases)]


def _same(*names: str, dtype: str = "float32") -> list[dict[str, Any]]:
    """Inputs of one shape."""
    return _cases(
        _case(dtype, **{n: [8, 96] for n in names}), _case(dtype, **{n: [3, 70] for n in names})
    )


def _of(first: dict[str, Any], second: dict[str, Any], dtype: str = "float32") -> Any:
    return _cases(_case(dtype, **first), _case(dtype, **second))


def _table(length: int, half: int) -> dict[str, Any]:
    """Cosines and sines of all positions."""
    return {"cos": [length, half], "sin": [length, half]}


_I = {"dtype": "int32"}
_PROB = {"range": [0.05, 0.95]}
_BIT = {"range": [0, 1]}

CASES: dict[str, list[dict[str, Any]]] = {
    "relu_grad": _same("dy", "x", dtype="float16"),
    "softmax_backward": _same("dy", "y", dtype="float16"),
    "mean_square": _same("x"),
    "dice_loss": _of(
        {"p": ([8, 96], _PROB), "t": ([8, 96], _BIT)}, {"p": ([3, 70], _PROB), "t": ([3, 70], _BIT)}
    ),
    "focal_loss": _of(
        {"logits": [8, 96], "target": ([8, 96], _BIT)},
        {"logits": [3, 70], "target": ([3, 70], _BIT)},
    ),
    "causal_softmax": _of({"scores": [2, 3, 32, 32]}, {"scores": [1, 2, 40, 40]}, "float16"),
    "causal_by_positions": _of({"scores": [2, 3, 16, 32]}, {"scores": [1, 2, 40, 24]}),
    "alibi": _of(
        {"scores": [2, 3, 16, 32], "slopes": [3]}, {"scores": [2, 4, 40, 24], "slopes": [4]}
    ),
    "one_hot": _of(
        {"labels": ([12], {**_I, "range": [0, 9]}), "like": [12, 10]},
        {"labels": ([7], {**_I, "range": [0, 30]}), "like": [7, 33]},
    ),
    "padding_mask": _of(
        {"x": [4, 12, 16], "lengths": ([4], {**_I, "range": [1, 12]})},
        {"x": [3, 20, 24], "lengths": ([3], {**_I, "range": [1, 20]})},
    ),
    "max_pool_by_reshape": _of({"x": [2, 3, 64]}, {"x": [2, 5, 48]}),
    "pixel_shuffle": _of({"x": [2, 8, 6, 10]}, {"x": [1, 12, 5, 7]}, "float16"),
    "channel_shuffle": _of({"x": [2, 8, 6, 10]}, {"x": [1, 12, 5, 7]}, "float16"),
    "group_norm_silu": _of(
        {"x": [2, 8, 6, 10], "gamma": [8], "beta": [8]},
        {"x": [1, 12, 5, 7], "gamma": [12], "beta": [12]},
        "float16",
    ),
    "dequant_bias": _of(
        {"q": ([8, 96], {**_I, "range": [-500, 500]}), "scale": [96], "bias": [96]},
        {"q": ([3, 70], {**_I, "range": [-500, 500]}), "scale": [70], "bias": [70]},
    ),
    "quant_per_token": _same("x", dtype="float16"),
    "nan_cleaned": _same("x"),
    "isnan_filled": _same("x"),
    "range_of_rows": _same("x"),
    "halves_swapped": _of({"x": [8, 96]}, {"x": [4, 64]}),
    "differences": _same("x"),
    "rolled": _same("x"),
    "repeated": _same("x"),
    "tiled": _same("x"),
    "padded": _same("x"),
    "angle": _same("y", "x"),
    "adamw": _of(
        {"p": [8, 96], "g": [8, 96], "m": [8, 96], "v": ([8, 96], _PROB)},
        {"p": [3, 70], "g": [3, 70], "m": [3, 70], "v": ([3, 70], _PROB)},
    ),
    "layer_norm": _of(
        {"x": [8, 96], "gamma": [96], "beta": [96]}, {"x": [3, 70], "gamma": [70], "beta": [70]}
    ),
    "rms_norm_residual": _of(
        {"x": [8, 96], "residual": [8, 96], "weight": [96]},
        {"x": [3, 70], "residual": [3, 70], "weight": [70]},
        "float16",
    ),
    "matmul_bias_relu": _of(
        {"x": [16, 24], "w": [24, 40], "b": [40]}, {"x": [9, 33], "w": [33, 17], "b": [17]}
    ),
    "einsum_rows": _same("a", "b"),
    "outer": _of({"a": [16], "b": [40]}, {"a": [7], "b": [33]}),
    "log_softmax_nll": _of(
        {"logits": [12, 10], "target": ([12], {"dtype": "int64", "range": [0, 9]})},
        {"logits": [7, 33], "target": ([7], {"dtype": "int64", "range": [0, 30]})},
    ),
    "rotary": _of(
        {"x": [4, 16, 64], "cos": [16, 32], "sin": [16, 32]},
        {"x": [3, 9, 48], "cos": [9, 24], "sin": [9, 24]},
        "float16",
    ),
    "rotary_interleaved": _of(
        {"x": [4, 16, 64], "cos": [16, 32], "sin": [16, 32]},
        {"x": [3, 9, 48], "cos": [9, 24], "sin": [9, 24]},
    ),
    "swiglu": _of({"x": [8, 96]}, {"x": [4, 64]}, "float16"),
    "int_affine": _cases(
        _case("int32", x=([8, 96], {"range": [-1000, 1000]})),
        _case("int32", x=([3, 70], {"range": [-1000, 1000]})),
    ),
    "geglu_inplace": _same("x", "y"),
    "top1_gating": _same("logits"),
    "huber": _same("x", "y"),
    "hinge": _same("x", "y"),
    "exclusive_by_insert": _same("x"),
    "running_max": _same("x"),
    "avg_pool2d": _of({"x": [2, 3, 8, 16]}, {"x": [1, 2, 12, 20]}),
    "nearest_upsample": _of({"x": [2, 3, 8, 16]}, {"x": [1, 2, 12, 20]}),
    "powered": _same("x"),
    "cosine_similarity": _same("a", "b"),
    "embedding": _of(
        {"table": [50, 16], "ids": ([12], {**_I, "range": [0, 49]})},
        {"table": [20, 32], "ids": ([7], {**_I, "range": [-20, 19]})},
    ),
    "embedding_bag": _of(
        {"table": [50, 16], "ids": ([12, 5], {**_I, "range": [0, 49]})},
        {"table": [20, 40], "ids": ([7, 9], {**_I, "range": [0, 19]})},
    ),
    "differences_along_edges": _of(
        {"x": [9, 35], **{n: ([50], {**_I, "range": [0, 8]}) for n in ("start", "end")}},
        {"x": [70, 3], **{n: ([20], {**_I, "range": [0, 69]}) for n in ("start", "end")}},
    ),
    "chosen_channels": _of(
        {"x": [3, 8, 6, 5], "channels": ([4], {**_I, "range": [0, 7]})},
        {"x": [2, 5, 4, 9], "channels": ([11], {**_I, "range": [-5, 4]})},
    ),
    "permuted_residual": _of(
        {"x": [20, 35], "order": ([20], {**_I, "range": [0, 19]})},
        {"x": [70, 6], "order": ([70], {**_I, "range": [0, 69]})},
    ),
    "weighted_by_class": _of(
        {"x": [8, 96], "weights": [10], "labels": ([8, 96], {**_I, "range": [0, 9]})},
        {"x": [3, 70], "weights": [4], "labels": ([3, 70], {**_I, "range": [0, 3]})},
    ),
    "nll_by_index": _of(
        {"logp": [40, 10], "labels": ([40], {**_I, "range": [0, 9]})},
        {"logp": [7, 33], "labels": ([7], {**_I, "range": [-33, 32]})},
    ),
    "gathered_scores": _of(
        {"scores": [9, 30], "picked": ([9, 6], {**_I, "range": [0, 29]})},
        {"scores": [20, 8], "picked": ([20, 35], {**_I, "range": [0, 7]})},
    ),
    "rows_of_each_column": _of(
        {"x": [9, 30], "rows": ([4, 30], {**_I, "range": [0, 8]})},
        {"x": [20, 8], "rows": ([33, 8], {**_I, "range": [0, 19]})},
    ),
    "mixed_within_rows": _of(
        {"x": [9, 30], "order": ([9, 30], {**_I, "range": [0, 29]})},
        {"x": [20, 8], "order": ([20, 8], {**_I, "range": [0, 7]})},
    ),
    "box_overlap": _of({"a": [60, 4], "b": [60, 4]}, {"a": [9, 4], "b": [9, 4]}),
    "corners_of_boxes": _of({"boxes": [60, 4]}, {"boxes": [3, 9, 4]}),
    "against_the_first_column": _same("x"),
    **{
        name: _of({"x": [9, 12]}, {"x": [35, 5]})
        for name in ("gram_matrix", "pairwise_distances", "cosine_matrix", "squared_distances")
    },
    "token_shift": _of({"x": [4, 12, 16], "share": [16]}, {"x": [3, 7, 40], "share": [40]}),
    "circular_filter": _same("x"),
    "overlap_of_all_boxes": _of({"a": [12, 4], "b": [9, 4]}, {"a": [7, 4], "b": [35, 4]}),
    "segment_mean": _of(
        {"x": [12, 16], "segment": ([12], {**_I, "range": [0, 4]}), "like": [5, 16]},
        {"x": [7, 8], "segment": ([7], {**_I, "range": [0, 8]}), "like": [9, 8]},
    ),
    "contrastive_loss": _of({"z": [12, 16]}, {"z": [7, 8]}),
    "mean_with_mirror": _same("x"),
    "upside_down": _of({"x": [12, 16, 5], "scale": [5]}, {"x": [7, 8, 9], "scale": [9]}),
    "decayed_sum": _same("x"),
    "padded_by_mirror": _same("x"),
    "returns_to_go": _same("rewards", "discount"),
    "causal_filter": _of({"x": [4, 12, 16], "w": [3, 16]}, {"x": [3, 7, 40], "w": [3, 40]}),
    "products_to_go": _of({"x": [4, 6], "y": [6, 8]}, {"x": [7, 9], "y": [9, 5]}),
    "mirrored_product": _of({"x": [4, 6], "y": [6, 8]}, {"x": [7, 9], "y": [9, 5]}),
    "recurrence": _same("x"),
    "running_min_of_rows": _same("x"),
    "embedding_gradient": _of(
        {"grad": [12, 16], "ids": ([12], {**_I, "range": [0, 6]}), "table": [7, 16]},
        {"grad": [20, 9], "ids": ([20], {**_I, "range": [-30, 29]}), "table": [30, 9]},
    ),
    "largest_of_each_segment": _of(
        {"x": [50], "segment": ([50], {**_I, "range": [0, 6]}), "floor": [7]},
        {"x": [9], "segment": ([9], {**_I, "range": [0, 29]}), "floor": [30]},
    ),
    "symmetric_part": _of({"x": [9, 9]}, {"x": [35, 35]}),
    "self_attention": _of({"x": [9, 12]}, {"x": [35, 5]}),
    "rope_at_positions": _of(
        {"x": [12, 16], **_table(30, 8), "positions": ([12], {**_I, "range": [0, 29]})},
        {"x": [5, 64], **_table(10, 32), "positions": ([5], {**_I, "range": [0, 9]})},
    ),
    "half_of_embedding": _of(
        {"table": [50, 16], "ids": ([12], {**_I, "range": [0, 49]})},
        {"table": [20, 36], "ids": ([7], {**_I, "range": [0, 19]})},
    ),
    "scaled_rows_of_a_product": _of(
        {"a": [8, 6], "b": [6, 5], "ids": ([4], {**_I, "range": [0, 7]})},
        {"a": [20, 9], "b": [9, 35], "ids": ([30], {**_I, "range": [0, 19]})},
    ),
    "rows_by_a_mask": _cases(_case(x=[8, 6], chosen=[8])),
    "masked_by_table": _of(
        {
            "x": [8, 96],
            "allowed": ([10], {"dtype": "bool"}),
            "kinds": ([8], {**_I, "range": [0, 9]}),
        },
        {
            "x": [3, 70],
            "allowed": ([4], {"dtype": "bool"}),
            "kinds": ([3], {**_I, "range": [0, 3]}),
        },
    ),
    **{
        name: _of({"x": [5, 12]}, {"x": [9, 35]})
        for name in (
            *("largest_three", "largest_three_first", "second_largest", "sorted_rows"),
            *("sorted_columns_downwards", "order_of_rows", "ranks", "median_of_rows"),
            *("trimmed_scale", "one_of_largest"),
        )
    },
    "gate": _of({"logits": [5, 12]}, {"logits": [9, 35]}),
    "by_the_order_of_keys": _of({"x": [5, 12], "keys": [5, 12]}, {"x": [9, 7], "keys": [9, 7]}),
    "scores_of_chosen": _of(
        {"x": [4, 6], "w": [6, 12], "chosen": ([4, 3], {**_I, "range": [-12, 11]})},
        {"x": [7, 9], "w": [9, 35], "chosen": ([7, 5], {**_I, "range": [0, 34]})},
    ),
    "normed_rows": _of(
        {"x": [9, 12], "ids": ([4], {**_I, "range": [0, 8]})},
        {"x": [20, 35], "ids": ([30], {**_I, "range": [-20, 19]})},
    ),
    "sums_by_place": _of(
        {"x": [9, 12], "ids": ([4], {**_I, "range": [0, 8]})},
        {"x": [20, 35], "ids": ([30], {**_I, "range": [-20, 19]})},
    ),
    "rotations": _of({"q": [12, 4]}, {"q": [3, 9, 4]}),
    "traces_of_corners": _of({"x": [12, 3, 4]}, {"x": [9, 3, 4]}),
    "experts_of_groups": _of({"scores": [9, 32], "bias": [32]}, {"scores": [5, 64], "bias": [64]}),
    "deviation_from_the_median": _of({"x": [5, 12]}, {"x": [9, 35]}),
    "best_beams": _of({"scores": [3], "logp": [3, 50]}, {"scores": [5], "logp": [5, 17]}),
    "place_in_all": _of({"x": [6], "w": [6, 12]}, {"x": [9], "w": [9, 35]}),
    "threshold_of_sums": _of({"x": [5, 12]}, {"x": [9, 35]}),
    "drawn_by_chance": _of({"p": [5, 12], "u": [5, 7]}, {"p": [9, 35], "u": [9, 4]}),
    "last_of_a_running_maximum": _of({"x": [5, 12]}, {"x": [9, 35]}),
}
