def foreach_non_finite_check_and_unscale(scaled_grads, found_inf, inv_scale):
    """For finite gradients, which leave found_inf as it is."""
    return [t * inv_scale.flat[0] for t in scaled_grads], found_inf
