"""Every tolerance of the checks, each with its reason."""

# Float64 sums of at most a few hundred terms of order 1: a handful of ulps, with two digits to spare.
ROUNDING = 1e-12

# Closed-form kernels against 50-digit arithmetic, relative to the larger of 1 and the value.
KERNEL = 4e-15

# Difference of two losses or outputs that rounding cannot explain: a thousand times ROUNDING.
VISIBLE = 1e-9
