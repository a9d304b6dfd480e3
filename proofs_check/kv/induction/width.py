"""Width: how many inductions fit in parallel, the noise below that, and the latent size of latent attention.

Two vanilla layers: the first leaves at place s a state h_s = H (x_s, x_{s-1}) of width D, the second attends to
{2..L-1} with any scores and passes on any function of the states it attends to. For D < 2d some (a, b) != 0 has
H (a, b) = 0. If a != 0, then at L = 3, where only place 2 is attended to, x_2 + a and x_1 + b leave h_2 as it was, and
IH = x_2 moves. If a = 0, then at L = 4 x_1 + b leaves every state as it was, and IH moves, as its weight on x_2 grows
with x_4 . x_1. So such layers need D >= 2d for IH on tokens of R^d, while KV shifting has IH on {2..L-1} at D = d. The
same holds for m features of d dimensions each (m d for d), and for the latent of latent attention as the state.
"""

from fractions import Fraction

import numpy as np
import sympy as sp
from scipy.linalg import hadamard

from proofs_check.evidence.margin import Margin, different, identity, same, worst
from proofs_check.kv.induction.exact_heads import induction_head, rational
from proofs_check.kv.induction.general_checks import positive
from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic

SOURCE = "KV shifting (both versions), Section 3.2, Various width"
APPENDIX_J = "KV shifting (final), Appendix J, 2nd paragraph"
LINEAR = "the first layer's states are linear in x_s and x_{s-1}, the second layer has no residual"
KERNEL = everywhere(
    "A linear map to fewer dimensions has a kernel, and either kind of kernel vector gives two inputs with the same "
    "states and different heads; no dimension enters."
)
MATCH, DECAY = Fraction(3), Fraction(1, 2)  # e^{1/sigma} and e^{-m}


def kernel_vectors(moved: int = 1) -> Margin:
    """What the two kinds of kernel vector move.

    L = 3: IH is x_2, whatever the weight, and x_2 + a is another value for a != 0. L = 4, x_4 = b: x_1 + b multiplies
    the weight of x_2 by e^{|b|^2/sigma} = 1 + gain, so that it gains share.
    """
    change, first, second, gain = sp.symbols("a w_2 w_3 gain", positive=True)
    lifted = first * (1 + gain * moved)
    return worst([positive(change * moved), positive(lifted / (lifted + second) - first / (first + second))])


def _whole(vector: sp.Matrix) -> list[int]:
    """The multiple of a rational vector that has whole entries."""
    scale = sp.ilcm(*(entry.q for entry in vector))
    return [int(entry * scale) for entry in vector]


def confused(dim: int, width: int, seed: int) -> Margin:
    """A random state of a width: two inputs with the same states that IH tells apart."""
    return told_apart(sp.Matrix(np.random.default_rng([dim, width, seed]).integers(-4, 5, (width, 2 * dim))))


def told_apart(state: sp.Matrix) -> Margin:
    """IH on two inputs between which no attended state h_s = state (x_s, x_{s-1}) tells."""
    dim = state.cols // 2
    kernel = state.nullspace()
    if not kernel:
        return Margin(-1.0, "no two inputs", "two inputs with the same states")
    a, b = (_whole(kernel[0])[k * dim : (k + 1) * dim] for k in (0, 1))
    x = np.array([[1] * dim, [2] * dim, [3] * dim] + ([] if any(a) else [b]))
    other = np.vstack([x[0] + b, x[1] + a, x[2:]])
    # The places 2 .. L - 1 and, where a = 0, the query's too.
    attended = [np.hstack([rows[1:], rows[:-1]])[: 1 if any(a) else 3] @ np.array(state).T for rows in (x, other)]
    alike = same(*(states.tolist() for states in attended))
    heads = [tuple(induction_head(rows.tolist(), rational(MATCH, DECAY))) for rows in (x, other)]
    return worst([alike, different(*heads)])


def noise_floor(plant: int = 0) -> Margin:
    """N numbers in D < N dimensions, read with unit gain by P = F E: mean interference ||P||^2/N - 1 >= N/D - 1.

    A change of basis gives E orthonormal rows, so that ||F E|| = ||F||, ||E||^2 = D and tr P = <F, E^T> = N. Then
    0 <= ||F - c E^T||^2 = ||F||^2 - 2 c N + c^2 D, and c = N/D leaves ||F||^2 >= N^2/D. Interference is what is left of
    ||P||^2 without the N gains, over N.
    """
    squared, number, dims, c = sp.symbols("F2 N D c", positive=True)
    square = squared - 2 * c * number + c**2 * dims
    interference = (squared - number) / number
    least = interference - (number / dims - 1) + plant
    return identity(least, square.subs(c, number / dims) / number)


def _interference(store: sp.Matrix, read: sp.Matrix) -> sp.Expr:
    """Mean square error that the other stored numbers, independent of variance 1, cause in one that is read."""
    product = read * store
    gains = [product[k, k] for k in range(product.rows)]
    noise = sp.diag(*gains).inv() * product - sp.eye(len(gains))
    return (noise * noise.T).trace() / len(gains)


def floor_reached(order: int, width: int, plant: int = 0) -> Margin:
    """Rows of a Hadamard matrix, read by their transpose: the mean interference is N/D - 1 exactly."""
    store = sp.Matrix(hadamard(2**order)[:width])
    return same(_interference(store, store.T), sp.Rational(2**order, width) - 1 + plant)


# Fewer than 2 d dimensions confuse inputs that IH tells apart.
KERNEL_EVIDENCE = (
    symbolic(
        "the two kinds of kernel vector: x_2 moves at L = 3, the weight of x_2 moves at L = 4",
        kernel_vectors,
        ONCE,
        Control("no token moved", lambda: kernel_vectors(moved=0)),
    ),
    exact(
        "integer states of width 2 d - 1 and 2 d - 2, d = 1..3, in rationals",
        confused,
        lambda effort: [
            {"dim": d, "width": width, "seed": seed}
            for d, width in ((1, 1), (2, 3), (2, 2), (3, 5), (3, 4))
            for seed in range(3 if effort is Effort.QUICK else 20)
        ],
        Control("width 2 d", lambda dim, width, seed: confused(dim, 2 * dim, seed)),
    ),
    exact(
        "the state that keeps x_s and all but one entry of x_{s-1}, d = 1..4",
        lambda dim, lacking=1: told_apart(sp.eye(2 * dim)[: 2 * dim - lacking, :]),
        [{"dim": dim} for dim in range(1, 5)],
        Control("all of x_{s-1}", points=[{"dim": dim, "lacking": 0} for dim in range(1, 5)]),
    ),
)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.sec2.1.width",
        "KV shifting (both versions), Section 2.1, after Property 1",
        "The induction mechanism imposes certain requirements on the dimensionality of the hidden states.",
        *KERNEL_EVIDENCE,
        reading=f"The mechanism is two vanilla layers without MLP, as Eq. 1 has them, that compute IH: {LINEAR}.",
        coverage=KERNEL,
        note="Which width is required is not said: 2d for tokens of R^d (kv.sec2.1.width.linear), while d is enough "
        "for one-hot tokens in the hard limit (kv.sec2.1.width.superposition).",
        formula=r"D<D_0(d)\Rightarrow\mathrm{TF}\ne\mathrm{IH}",
    ),
    mathematical(
        "kv.sec2.1.width.linear",
        "KV shifting (both versions), Section 2.1, after Property 1, our addition",
        "Two vanilla layers whose first leaves states linear in x_s and x_{s-1} give IH exactly on tokens of R^d only "
        "with states of width D >= 2d, whatever the second layer does on {2..L-1}; D = 2d keeps both tokens.",
        *KERNEL_EVIDENCE,
        is_correction=True,
        coverage=KERNEL,
        hypotheses=(LINEAR, "attention of the second layer on {2..L-1}"),
        formula=r"D\ge2d,\quad h_s=H(x_s,x_{s-1})",
    ),
    mathematical(
        "kv.sec3.2.parallel",
        SOURCE,
        "Without noise a limited width limits how many different inductions a model considers in parallel.",
        *KERNEL_EVIDENCE,
        reading="A token carries a feature for each induction, and two vanilla layers run them all at once, exactly: "
        f"{LINEAR}.",
        coverage=KERNEL,
        note="How many is not said: kv.sec2.1.width.linear on tokens of m features of dimension d asks for D >= 2 m d. "
        "Features in superposition bring noise (kv.sec3.2.superposition). That language models run such inductions is "
        "not ruled on.",
        formula=r"D<D_0(md)\Rightarrow\mathrm{TF}\ne\mathrm{IH}",
    ),
    mathematical(
        "kv.sec3.2.superposition",
        SOURCE,
        "What is kept beyond the width, in superposition, introduces noise.",
        symbolic(
            "a square: any N, D and any linear maps in and out",
            noise_floor,
            ONCE,
            Control("one more", lambda: noise_floor(1)),
        ),
        exact(
            "reached by rows of a Hadamard matrix, N = 4, 8, D = 1..N-1",
            floor_reached,
            [{"order": k, "width": d} for k in (2, 3) for d in range(1, 2**k)],
            Control("one more", lambda order, width: floor_reached(order, width, 1)),
        ),
        reading="N > D numbers, independent and of unit variance, are kept and read linearly, each with gain 1; noise "
        "is what the others add to a reading.",
        coverage=everywhere("Cauchy-Schwarz as a square in free symbols, after a change of basis."),
        note="How much is not said: at least N/D - 1 in mean square. At D = m d that is 1, as much as the signal, for "
        "the 2 m d numbers of two vanilla layers, and 0 for the m d of KV shifting.",
        formula=r"\frac{1}{N}\sum_{j\ne k}P_{jk}^2>0,\quad P=FE,\quad P_{kk}=1,\quad N>D",
    ),
    mathematical(
        "kv.appJ.bottleneck",
        APPENDIX_J,
        "The projection of latent attention brings the bottleneck of width to the size of the latent space.",
        *KERNEL_EVIDENCE,
        reading="Keys and values of all heads are linear in one latent of size r, which takes the part of the state: "
        f"{LINEAR}.",
        coverage=KERNEL,
        note="Which size is needed is not said: r >= 2d by kv.sec2.1.width.linear, whatever the model's width, where "
        "r = d is enough with shifted keys (kv.thm3.3.corrected).",
        formula=r"r<D_0(d)\Rightarrow\mathrm{TF}\ne\mathrm{IH}",
    ),
)
