"""Appendix J of the KV-shifting paper: latent attention, whose scores are taken from cached latents, and the shift."""

from functools import cache

import sympy as sp

from proofs_check.evidence.margin import Margin, identity
from proofs_check.ledger.claim import INSTANCES, Claim, Control, Nature, Severity, Verdict, everywhere
from proofs_check.ledger.mathematical import ONCE, identities, mathematical, symbolic
from theory.shift.algebra import mixing_matrix, softmax, tokens
from theory.symbols import alpha1, alpha2, beta1, beta2

SOURCE = "KV shifting (final), Appendix J"
OURS = f"{SOURCE}, our addition"
angle = sp.Symbol("theta", real=True)
here, there = sp.symbols("t s", positive=True, integer=True)
QUERY, LATENT, PROJECTION = tokens(2, name="q"), tokens(3, name="c"), tokens(2, 3, "w")
KEY = PROJECTION * LATENT
NORM = sp.sqrt(KEY.dot(KEY))


def _turn(place: sp.Expr | int) -> sp.Matrix:
    """Rotary embedding of one pair of components at a place."""
    return sp.rot_ccw_axis3(place * angle)[:2, :2]


def _absorbed(scale: int = 1) -> Margin:
    """q . (W c) = (W^T q) . c: the projection moves to the query, once for all latents."""
    return identity(QUERY.dot(KEY), scale * (PROJECTION.T * QUERY).dot(LATENT))


def _scale_free(norm: sp.Expr = NORM) -> Margin:
    """A score with a normalised key is the same for r c as for c; an absorbed one, u . c, is r times as large."""
    score = QUERY.dot(KEY) / norm
    return identity(score.subs({c: sp.Symbol("r", positive=True) * c for c in LATENT}), score)


def _with_cached_norm(cached: sp.Expr = NORM) -> Margin:
    return identity(QUERY.dot(KEY) / NORM, (PROJECTION.T * QUERY).dot(LATENT) / cached)


def _rotation_moves(angle_of_step: sp.Expr = angle) -> Margin:
    """|(R_{s+1-t} - R_{s-t}) w|^2 = (2 - 2 cos theta) |w|^2: a distance further the absorbed column is another one."""
    column = tokens(2, name="w")
    step = (_turn(there + 1 - here) - _turn(there - here)) * column
    return identity(step.dot(step), (2 - 2 * sp.cos(angle_of_step)) * column.dot(column))


@cache
def _from_latents(key: tuple, value: tuple, exchanged: bool = False, length: int = 3) -> Margin:
    """The last token's output of one head over `length` tokens with mixed keys and values, and the same from latents.

    First: keys W C and values V C mixed as in Eq. 5. Second: the query W^T q against the cached latents, the scores and
    then the latents mixed, averaged, and V applied at the end; exchanged: with the coefficients of the token itself and
    of the previous one swapped.
    """
    latents, keys, values = tokens(length, 2, "c"), tokens(2, 2, "w"), tokens(2, 2, "v")
    scores = mixing_matrix(key, length) * (latents * keys.T) * QUERY
    full = sp.Matrix([softmax(scores)]) * (mixing_matrix(value, length) * (latents * values.T))
    if exchanged:
        key, value = key[::-1], value[::-1]
    scores = mixing_matrix(key, length) * (latents * (keys.T * QUERY))
    read = sp.Matrix([softmax(scores)]) * (mixing_matrix(value, length) * latents) * values.T
    return identities(full, read)


@cache
def _rotated(coefficients: tuple = (0, 1), back: int = 1) -> Margin:
    """Keys mixed before rotation, as in Appendix M, from the rotated keys that are cached, R_s k_s.

    The score is alpha1 (R_t q) . (R_s k_s) + alpha2 (R_{t-1} q) . (R_{s-1} k_{s-1}): the query is turned back by one.
    """
    own, previous = tokens(2, name="k"), tokens(2, name="p")
    mixed = coefficients[0] * own + coefficients[1] * previous
    first = (_turn(here) * QUERY).dot(_turn(there) * own)
    second = (_turn(here - back) * QUERY).dot(_turn(there - 1) * previous)
    score = (_turn(here) * QUERY).dot(_turn(there) * mixed)
    return identity(score, coefficients[0] * first + coefficients[1] * second)


def _moved(values_too: bool = False) -> Margin:
    """All places moved on by m: the score of a rotated query and a rotated key stays; a rotated value does not."""
    vector, moved = tokens(2, name="k"), sp.Symbol("m", positive=True, integer=True)
    vectors = [_turn(there + by) * vector for by in (0, moved)]
    if values_too:
        return identities(*vectors)
    return identity(*((_turn(here + by) * QUERY).dot(turned) for by, turned in zip((0, moved), vectors, strict=True)))


PREVIOUS_KEY, PREVIOUS_VALUE = ((0, 1), (1, 0)), ((1, 0), (0, 1))
MIXTURE = (alpha1, alpha2), (beta1, beta2)

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appJ.qk_norm",
        SOURCE,
        "Latent attention, which takes its scores from cached latents in inference, is hard to combine with query and "
        "key normalisation.",
        symbolic(
            "without a norm the projection of the keys moves to the query; 2 components from 3 latents, all free",
            _absorbed,
            ONCE,
            Control("twice", lambda: _absorbed(2)),
        ),
        symbolic(
            "with it the score of r c is that of c, where every u . c is r times as large: no u serves both",
            _scale_free,
            ONCE,
            Control("without the norm", lambda: _scale_free(sp.S.One)),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("nothing but the latents is cached",),
        reading="Hard means that no absorbed query gives the scores from the latents alone.",
        severity=Severity.READING,
        note="Missing: that no norms are cached; with one number a head and token it can be done "
        "(kv.appJ.qk_norm.cached).",
        formula=r"\frac{q\cdot Wrc}{|Wrc|}=\frac{q\cdot Wc}{|Wc|}\ne u\cdot c",
        coverage=everywhere(
            "Scaling a latent keeps the one score and multiplies the other, at every size; all entries are free."
        ),
    ),
    mathematical(
        "kv.appJ.qk_norm.cached",
        OURS,
        "With the norms |W c_s| cached, one number a head and token, normalised scores too are taken from the latents.",
        symbolic(
            "2 components from 3 latents, all free",
            _with_cached_norm,
            ONCE,
            Control("no norm cached", lambda: _with_cached_norm(sp.S.One)),
        ),
        is_correction=True,
        formula=r"\frac{q\cdot Wc}{|Wc|}=\frac{(W^Tq)\cdot c}{|Wc|}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appJ.rope",
        SOURCE,
        "For the same reason latent attention is hard to combine with rotary embedding.",
        symbolic(
            "a column of the absorbed R_{s-t} W at neighbouring distances: they part by 2 - 2 cos(theta) times |w|^2",
            _rotation_moves,
            ONCE,
            Control("no rotation", lambda: _rotation_moves(sp.Integer(0))),
        ),
        reading="Hard means that no one absorbed matrix serves two distances.",
        formula=r"q^TR_t^TR_sWc=q^TR_{s-t}Wc,\quad|(R_{m+1}-R_m)w|^2=(2-2\cos\theta)|w|^2",
        coverage=everywhere("Angle, places and a column of W are free; the factor is 0 only where nothing is rotated."),
    ),
    mathematical(
        "kv.appJ.compatible",
        SOURCE,
        "KV shifting is compatible with latent attention: some heads' keys, some heads' values come entirely from the "
        "previous token.",
        symbolic(
            "one head over three tokens from two latents a token, against Eq. 5; projections and latents free",
            lambda kernels, exchanged=False: _from_latents(*kernels, exchanged),
            ({"kernels": PREVIOUS_KEY}, {"kernels": PREVIOUS_VALUE}),
            Control("the token itself", lambda kernels: _from_latents(*kernels, True)),
        ),
        symbolic(
            "the rotated part, from the cached R_{s-1} k_{s-1}: the query is turned back by one; angle and places free",
            _rotated,
            ONCE,
            Control("the query left as it is", lambda: _rotated(back=0)),
        ),
        reading="Compatible means that what is cached stays what it was.",
        formula=r"\hat k_s=Wc_{s-1}:\quad q\cdot\hat k_s=(W^Tq)\cdot c_{s-1}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appJ.compatible.mixture",
        OURS,
        "It is so for every mixture, not only for heads that take the previous token alone: scores and latents are "
        "mixed instead of keys and values.",
        symbolic(
            "one head over two tokens from two latents a token, against Eq. 5; coefficients free too",
            lambda: _from_latents(*MIXTURE, length=2),
            ONCE,
            Control("the two coefficients exchanged", lambda: _from_latents(*MIXTURE, exchanged=True, length=2)),
        ),
        symbolic(
            "the rotated part, from the cached rotated keys; angle, places and coefficients free",
            lambda: _rotated((alpha1, alpha2)),
            ONCE,
            Control("the query left as it is", lambda: _rotated((alpha1, alpha2), back=0)),
        ),
        is_correction=True,
        formula=r"q\cdot\hat k_s=\alpha_1(W^Tq)\cdot c_s+\alpha_2(W^Tq)\cdot c_{s-1}",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appJ.rope_dimensions",
        SOURCE,
        "The dimension with rotary embedding in key and value is 32.",
        symbolic(
            "rotated queries and keys: scores stay where all places move on by m; angle, places and m free",
            _moved,
            ONCE,
            Control("rotated values, which do not stay", lambda: _moved(values_too=True)),
        ),
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        note="In key and query: values are not rotated, here or in Appendix M; rotated, they would make outputs depend "
        "on absolute places. The 32 and 32 make up the query's 64.",
        coverage=everywhere("Angle, places, m, vectors and weights are free."),
    ),
)
