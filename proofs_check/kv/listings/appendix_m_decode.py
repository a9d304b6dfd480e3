"""Appendix M of the KV-shifting paper (first version: Appendix F): the inference listings, in whole numbers."""

from itertools import product

from dynamics.model.listing_m import Flaw
from proofs_check.kv.listings import appendix_m_decode_checks as listed
from proofs_check.ledger.claim import SAMPLES, Control
from proofs_check.ledger.mathematical import mathematical, sampled
from proofs_check.records import runs

BOTH = "KV shifting (both versions), Appendix M (first version: Appendix F), inference"
# A prompt first; then single tokens, chunks, and both in turn. Weights: alpha2 and alpha1, of the induction head first.
CHUNKS = ((1, 1), (4, 1, 1, 1), (4, 2), (6, 2, 1), (1, 3, 2, 1, 4), (2, 1, 3))
WEIGHTS = ((1, 0), (2, 5), (-3, 4), (1, -1))
DECODED = tuple({"chunks": chunks, "weights": weights} for chunks, weights in product(CHUNKS, WEIGHTS))
PROMPTS = tuple({"tokens": tokens, "weights": weights} for tokens, weights in product((1, 2, 4, 6), WEIGHTS))
MENDED = {"kept": Flaw.NONE}

CLAIMS = (
    runs("kv.appM.inference", "Appendix M", listed.decoded, listed.full, DECODED, mend=MENDED,
         why="The previous token takes column 0, as in training: every decoded key and value is wrong, unless alpha1 = "
         "alpha2. In a chunk each token's own predecessor takes it."),
    runs("kv.appM.inference.prompt", "Appendix M", listed.prompt, listed.full_prompt, PROMPTS, broken=[{"more": 1}]),
    runs("kv1.appF.inference", "Appendix F", listed.first_decoded, listed.full, DECODED, mend=MENDED,
         why="The coefficients are right in this version."),
    mathematical(
        "kv.appM.inference.outputs",
        f"{BOTH}, our addition",
        "In both versions a wrong entry stays in the cache, and every output after the prompt is wrong at every draw.",
        sampled(
            "prompt of 4 and 4 tokens, two sequences and heads, normal keys and values, 20 seeds each",
            listed.outputs,
            [{"flaw": flaw, "seed": seed} for flaw in (Flaw.FINAL, Flaw.FIRST) for seed in range(20)],
            Control("the corrected rule", points=({"flaw": Flaw.NONE, "seed": 0},)),
        ),
        is_correction=True,
        formula=r"Y_t^{\mathrm{decoded}}\ne Y_t^{\mathrm{full}},\quad t>p",
        coverage=SAMPLES,
    ),
)
