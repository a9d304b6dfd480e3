"""Appendix M of the KV-shifting paper (first version: Appendix F): the inference listings, in whole numbers."""

from dynamics.model.listing_m import Flaw
from proofs_check.kv.listings.appendix_m_decode_checks import (
    BOTH,
    CHUNKS,
    FINAL,
    FIRST,
    FLAWS,
    PROMPTS,
    SMALLEST,
    each_wrong,
    first_wrong,
    mended,
    outputs,
    prompt_right,
    right,
)
from proofs_check.ledger.claim import INSTANCES, SAMPLES, WITNESSED, Claim, Control, Severity, Verdict, Witness
from proofs_check.ledger.mathematical import exact, mathematical, sampled

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.appM.inference",
        FINAL,
        "The listing can be used for inference: K[:, 1:] last_k + K[:, 1:] k is the mixed key.",
        exact(
            "every decoded key of two sequences and heads; prompts 1, 2, 4, one to three tokens, four pairs of weights",
            each_wrong,
            PROMPTS,
            Control("K[:, :1] last_k + K[:, 1:] k", mended(each_wrong)),
        ),
        formula=r"k\leftarrow K_1k_{t-1}+K_1k_t",
        verdict=Verdict.FALSE,
        witness=Witness(SMALLEST),
        correction="kv.appM.inference.corrected",
        note="The previous token takes column 0, as in training: every decoded key and value is wrong, unless alpha1 = "
        "alpha2.",
        severity=Severity.CODE,
        coverage=WITNESSED,
    ),
    mathematical(
        "kv.appM.inference.corrected",
        BOTH,
        "Decoding equals the full pass with K[:, :1] times the raw previous token plus K[:, 1:] times the token, if "
        "the last raw token is kept before mixing and, in a chunk, each token's predecessor is used; also for chunks.",
        exact(
            "six ways to cut a sequence, three pairs of weights",
            right,
            CHUNKS,
            Control("the final version's rule", lambda chunks: right(chunks, Flaw.FINAL)),
            Control("the first version's rule", lambda chunks: right(chunks, Flaw.FIRST)),
        ),
        formula=r"k\leftarrow K_0k_{t-1}+K_1k_t",
        is_correction=True,
        coverage=INSTANCES,
    ),
    mathematical(
        "kv.appM.inference.prompt",
        FINAL,
        "Without a past, the keys are custom_convolution(k, K), and the raw last key is kept.",
        exact(
            "the entries of the prompt, as in kv.appM.inference",
            prompt_right,
            PROMPTS,
            Control("one decoded token more", lambda **p: prompt_right(**p, upto=1)),
        ),
        formula=r"\hat k_t=K_0k_{t-1}+K_1k_t,\quad k_{\mathrm{last}}=k_p",
        coverage=INSTANCES,
    ),
    mathematical(
        "kv1.appF.inference",
        FIRST,
        "The listing can be used for inference, last_k being the last key after the convolution.",
        exact(
            "the first decoded key; prompts 1, 2, 4, one to three tokens, four pairs of weights",
            first_wrong,
            PROMPTS,
            Control("the raw key kept", mended(first_wrong)),
        ),
        verdict=Verdict.FALSE,
        witness=Witness(SMALLEST),
        correction="kv.appM.inference.corrected",
        note="The last key must be kept before the convolution; the coefficients are right in this version.",
        formula=r"k_{\mathrm{last}}=\hat k_p,\quad\hat k_{p+1}=K_0k_{\mathrm{last}}+K_1k_{p+1}",
        severity=Severity.CODE,
        coverage=WITNESSED,
    ),
    mathematical(
        "kv.appM.inference.outputs",
        f"{BOTH}, our addition",
        "In both versions a wrong entry stays in the cache, and every output after the prompt is wrong at every draw.",
        sampled(
            "prompt of 4 and 4 tokens, two sequences and heads, normal keys and values, 20 seeds each",
            outputs,
            [{"flaw": flaw, "seed": seed} for flaw in FLAWS for seed in range(20)],
            Control("the corrected rule", points=({"flaw": Flaw.NONE, "seed": 0},)),
        ),
        is_correction=True,
        formula=r"Y_t^{\mathrm{decoded}}\ne Y_t^{\mathrm{full}},\quad t>p",
        coverage=SAMPLES,
    ),
)
