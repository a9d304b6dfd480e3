"""Every symbol once, with its domain and its name in the papers. Import these objects; never recreate them by name."""

from typing import NamedTuple

import sympy as sp

alpha1, alpha2 = sp.symbols("alpha1 alpha2", real=True)
beta1, beta2 = sp.symbols("beta1 beta2", real=True)
n_tokens = sp.Symbol("n_tokens", positive=True)
sigma = sp.Symbol("sigma", positive=True)
slope = sp.Symbol("slope", nonnegative=True)
copy_slope = sp.Symbol("copy_slope", positive=True)
dim = sp.Symbol("dim", positive=True, integer=True)
rest_scores = sp.Symbol("rest_scores", nonnegative=True)
rest_logits = sp.Symbol("rest_logits", nonnegative=True)

PARAMETERS = (alpha1, alpha2, beta1, beta2)


class Meaning(NamedTuple):
    """What a symbol stands for, where it lives, and what each paper calls it."""

    text: str
    domain: str
    printed: str


MEANINGS = {
    alpha1: Meaning("key mixing, the token itself", "real", "alpha_1"),
    alpha2: Meaning("key mixing, the previous token", "real", "alpha_2"),
    beta1: Meaning("value mixing, the token itself", "real", "beta_1"),
    beta2: Meaning("value mixing, the previous token", "real", "beta_2"),
    n_tokens: Meaning("number of distinct tokens; the sentence has one more", ">= 2 (an interior position: >= 4)", "T"),
    sigma: Meaning("logit divisor", "> 0", "sigma"),
    slope: Meaning("ALiBi slope of the induction layer", ">= 0", "m, p^(2)"),
    copy_slope: Meaning("ALiBi slope of the copying first layer", "> 0", "p^(1)"),
    dim: Meaning("token dimension", "integer >= 1", "d"),
    rest_scores: Meaning("the O(T) inside S of Eq. 10", ">= 0; exactly T - 2", "O(T)"),
    rest_logits: Meaning("the O(T) in the denominator of Eq. 10", ">= 0; exactly (T - 4) e^{(b1 + b2)/S}", "O(T)"),
}
