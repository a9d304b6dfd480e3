"""Claims that attack the corrected bounds: contexts found by ascent, models of two words, norms with an epsilon."""

from fractions import Fraction

from proofs_check.ledger.claim import SAMPLES, Claim, Control, Effort, Point, everywhere
from proofs_check.ledger.mathematical import exact, mathematical, sampled
from proofs_check.razor.scope import adversary_checks as c
from proofs_check.razor.scope.theorem1_checks import WITNESSES

THEOREM = "RazorAttention, Section 3.1, Theorem 1, corrected"


def _seeds(quick: int, full: int, heads: tuple[int, int]):
    """Points of some seeds, with fewer heads at quick effort."""

    def points(effort: Effort) -> list[Point]:
        count, each = (quick, heads[0]) if effort is Effort.QUICK else (full, heads[1])
        return [{"seed": seed, "count": each} for seed in range(count)]

    return points


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.adversary.bounds",
        THEOREM,
        "No context, random or found by ascent over the query's state with the best keys for it, exceeds the bounds on "
        "the weight at a distance (with D, with D and D_s, and masked) or on the mass beyond a window (any or finite "
        "length).",
        sampled(
            "LayerNorm and RMSNorm with and without biases, d = 2..16, three contexts a head; 10,080 at full effort",
            c.no_context_above,
            _seeds(4, 140, (6, 24)),
            Control("ranges 2 % lower", lambda **p: c.no_context_above(**p, factor=0.98)),
        ),
        formula=r"a_{m\to m-n}\le\frac{1}{1+e^{ln}(e^{-D_s}+e^{-D}\sum_{j<n}e^{-lj})}",
        coverage=SAMPLES,
        is_correction=True,
    ),
    mathematical(
        "razor.adversary.attained",
        THEOREM,
        "Where D_s = D the contexts found reach at least 99.9 % of the bounds on the weight and on the dropped mass.",
        sampled(
            "heads with W_K = -W_Q and no biases, LayerNorm and RMSNorm, contexts of any and of finite length",
            c.attained,
            _seeds(2, 40, (4, 16)),
            Control("ranges 2 % higher", lambda **p: c.attained(**p, factor=1.02)),
        ),
        formula=r"D_s=D\Rightarrow\sup a_{m\to m-n}=\frac{1}{1+e^{-D}\sum_{j=1}^{n}e^{lj}}",
        coverage=SAMPLES,
        is_correction=True,
    ),
    mathematical(
        "razor.adversary.three_states",
        THEOREM,
        "Three states are enough for the worst context: the query, its best key for the target and its worst for the "
        "others (logits s, alpha and beta); states that all move freely reach no more.",
        sampled(
            "four free states against one query with its best keys, weight at distance 2",
            c.free_states,
            _seeds(4, 40, (4, 16)),
            Control("99 % of it", lambda **p: c.free_states(**p, factor=0.99)),
        ),
        formula=r"\sup a_{m\to m-n}=\sup_{x_m}\frac{1}{1+e^{ln}(e^{s-\alpha}+e^{\beta-\alpha}\sum_{j<n}e^{-lj})}",
        coverage=SAMPLES,
        is_correction=True,
    ),
    mathematical(
        "razor.adversary.ranges",
        THEOREM,
        "The logit range D, and without biases the self gap D_s, are what ascent over the query's state reaches, "
        "to 1e-8.",
        sampled(
            "LayerNorm and RMSNorm, d = 2..16, differences over D",
            c.ranges,
            _seeds(4, 40, (3, 6)),
            Control("one millionth more", lambda **p: c.ranges(**p, factor=1 + 1e-6)),
        ),
        formula=r"D=\max_{x,y,y'}q(x)\cdot(k(y)-k(y')),\ D_s=\max_{x,y}q(x)\cdot(k(y)-k(x))",
        coverage=SAMPLES,
        is_correction=True,
    ),
    mathematical(
        "razor.adversary.two_words",
        THEOREM,
        "Torch models of one layer and two words, read on the sentence B A A ... A, have the attention to B that the "
        "balls certify, above eps and beyond the printed scope.",
        sampled(
            "six models with torch's RMSNorm or LayerNorm, within 1e-12 of the certified weight",
            c.two_words,
            tuple({"name": name} for name in WITNESSES),
            Control("one A more", lambda name: c.two_words(name, further=1)),
        ),
        formula=r"a_{m\to m-n}>\epsilon,\ n>L_h",
        coverage=SAMPLES,
        is_correction=True,
    ),
    mathematical(
        "razor.adversary.epsilon",
        THEOREM,
        "A positive epsilon under the norm's root leaves D as it is but not D_s: a query state of half the radius lies "
        "further below its best key than any on the sphere, so that only the bounds without D_s carry over.",
        exact(
            "d = 1, RMSNorm, W_Q^T W_K = c > 0, so D_s = 0: two tokens, the query's hidden state sqrt(eps/3); in balls",
            c.epsilon,
            tuple(
                {"inverse": inverse, "product": product, "slope": Fraction(1, 4)}
                for inverse in (10**5, 10**6)
                for product in (1, 8, 40)
            ),
            Control("the bound of D", lambda **p: c.epsilon(**p, bound="range")),
        ),
        formula=r"\sup_{\|z\|^2\le d}(\alpha-s)\ge\sup_{\|z\|^2=d}(\alpha-s)",
        coverage=everywhere("One exact head refutes the bound with D_s; D is the maximum of a convex function."),
        is_correction=True,
    ),
)
