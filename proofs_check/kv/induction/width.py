"""Width: how many inductions fit in parallel, the noise below that, and the latent size of latent attention."""

from proofs_check.kv.induction import width_checks as c
from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, symbolic

SOURCE = "KV shifting (both versions), Section 3.2, Various width"
APPENDIX_J = "KV shifting (final), Appendix J, 2nd paragraph"
LINEAR = "the first layer's states are linear in x_s and x_{s-1}, the second layer has no residual"
KERNEL = everywhere(
    "A linear map to fewer dimensions has a kernel, and either kind of kernel vector gives two inputs with the same "
    "states and different heads; no dimension enters."
)


# Fewer than 2 d dimensions confuse inputs that IH tells apart.
KERNEL_EVIDENCE = (
    symbolic(
        "the two kinds of kernel vector: x_2 moves at L = 3, the weight of x_2 moves at L = 4",
        c.kernel_vectors,
        ONCE,
        Control("no token moved", lambda: c.kernel_vectors(False)),
    ),
    exact(
        "integer states of width 2 d - 1 and 2 d - 2, d = 1..3, in rationals",
        c.confused,
        lambda effort: [
            {"dim": d, "width": width, "seed": seed}
            for d, width in ((1, 1), (2, 3), (2, 2), (3, 5), (3, 4))
            for seed in range(3 if effort is Effort.QUICK else 20)
        ],
        Control("width 2 d", lambda dim, width, seed: c.confused(dim, 2 * dim, seed)),
    ),
    exact(
        "the state that keeps x_s and all but one entry of x_{s-1}, d = 1..4",
        c.confused_copy,
        [{"dim": d, "keeps": d - 1} for d in range(1, 5)],
        Control("all of x_{s-1}", lambda dim, keeps: c.confused_copy(dim, dim)),
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
            c.noise_floor,
            ONCE,
            Control("one more", lambda: c.noise_floor(1)),
        ),
        exact(
            "reached by rows of a Hadamard matrix, N = 4, 8, D = 1..N-1",
            c.floor_reached,
            [{"order": k, "width": d} for k in (2, 3) for d in range(1, 2**k)],
            Control("one more", lambda order, width: c.floor_reached(order, width, 1)),
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
