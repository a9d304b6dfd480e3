"""What a head may reach and what it may forget, and heads whose keys are mixed with those before."""

from proofs_check.ledger.claim import Claim
from proofs_check.ledger.mathematical import mathematical

THEOREM = "RazorAttention, Section 3.1, Theorem 1, our addition"
MIXED = "RazorAttention, Theorem 1, with the keys of KV shifting attention, Eq. 4, our addition"

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.thm1.gap",
        THEOREM,
        "Windows that some context exceeds a mass delta <= 1/2 at and distances that the worst context (D_s = D) gives "
        "less than half of its attention lie less than (1/l) ln((1/delta - 1)/(1 - e^{-l})) apart, whatever the range "
        "D; so do the real window and reach, which come to it within e^{-D}/(l (1 - e^{-l})).",
        formula=r"W_\delta-n^*\le\frac1l\ln\frac{1/\delta-1}{1-e^{-l}}",
        is_correction=True,
    ),
    mathematical(
        "razor.thm1.shifted.alike",
        MIXED,
        "Logits p s_t + r s_{t-1}, p, r >= 0, of raw ones in [-D/2, D/2] (s_0 = 0): the token at distance n, of raw "
        "logit v - D/2, has odds of at least e^{l - rD - pv}(phi e^{-l} - 1 + e^{rv}) against it, phi = sum_{j<=n} "
        "e^{lj}; at least those at v = D if r <= p, and at any v with p (phi e^{-l} - 1) = (r - p) e^{rv}. With two "
        "high logits, the target's and the one before, the odds are those at v = D and e^{-l - rD/2} more.",
        formula=r"\frac1a-1\ge e^{l-rD-pv}(\phi e^{-l}-1+e^{rv})",
        is_correction=True,
    ),
    mathematical(
        "razor.thm1.shifted.opposite",
        MIXED,
        "Logits p s_t - r s_{t-1}, p, r >= 0, of raw ones in [-D/2, D/2] (s_0 = 0): the token at distance n has odds "
        "of at least phi e^{-D(p + r e^l/phi)} against it if r e^l <= p, else phi e^{-D(r + p(1 - e^{-l}) + p/phi)}. A "
        "high logit of the target among low ones gives (phi - e^l) e^{-pD} + e^{l - (p+r)D} + e^{-l - pD - rD/2}.",
        formula=r"\frac1a-1\ge\phi e^{-D(R+\rho/\phi)}",
        is_correction=True,
    ),
    mathematical(
        "razor.sec3.1.shifted",
        "RazorAttention, Section 3.1, with the keys of KV shifting attention, Eq. 4, our addition",
        "Logits p s_t - r s_{t-1}, p, r >= 0, of raw ones in [-D/2, D/2] (s_0 = 0): all tokens at distance W >= 1 or "
        "more together weigh at most 1/(1 + (e^{lW} - 1) e^{-D x}), x = p + r e^l/phi if r e^l <= p, else "
        "r + p(1 - e^{-l}) + p/phi, phi = sum_{j<=W} e^{lj}.",
        formula=r"\sum_{m-n\ge W}a_{m\to n}\le\frac{1}{1+(e^{lW}-1)e^{-D(R+\rho/\phi)}}",
        is_correction=True,
    ),
    mathematical(
        "razor.thm1.shifted.scope",
        MIXED,
        "From odds to distances: for R, q >= 0 and any m > 0 with m <= e^l or m <= (1/eps - 1) e^{RD}, with x = "
        "R + q/phi, phi = sum_{j<=n} e^{lj}: phi e^{-Dx} is at least 1/eps - 1 for n >= (1/l) ln(1 + (1/eps - 1)(1 - "
        "e^{-l}) e^{D(R + q/m)}), and (e^{ln} - 1) e^{-Dx} is for n >= (1/l) ln(1 + (1/eps - 1) e^{D(R + q/m)}).",
        formula=r"n\ge\frac1l\ln(1+(1/\epsilon-1)(1-e^{-l})e^{D(R+q/m)})"
        r"\Rightarrow\phi e^{-D(R+q/\phi)}\ge1/\epsilon-1",
        is_correction=True,
    ),
)
