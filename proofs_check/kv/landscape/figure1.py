"""Figure 1's caption: what tells the one-layer models apart."""

import numpy as np
import sympy as sp
import torch

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from proofs_check.evidence.margin import Margin, same, worst
from proofs_check.ledger.claim import Claim, Control, Effort, everywhere
from proofs_check.ledger.mathematical import ONCE, exact, identities, mathematical, symbolic
from theory.symbols import alpha1, alpha2, beta1, beta2

SOURCE = "KV shifting (both versions), Figure 1, caption"
SIZES = {"vocab": 40, "width": 16, "n_heads": 2, "n_layers": 1, "mlp_width": 24}


def at_identity(alpha: tuple[int, int] = (1, 0), beta: tuple[int, int] = (1, 0)) -> Margin:
    """Eq. 5 at these scalars is K and V themselves, for any entries of K, V and of their shifts."""
    own, before, value, earlier = sp.symbols("K ShiftK V ShiftV", real=True)
    scalars = dict(zip((alpha1, alpha2, beta1, beta2), (*alpha, *beta), strict=True))
    key, mixed = alpha1 * own + alpha2 * before, beta1 * value + beta2 * earlier
    return identities([key.subs(scalars), mixed.subs(scalars)], [own, value])


def one_network(seed: int, position: str, scalars: tuple[float, float] = (1.0, 0.0)) -> Margin:
    """Logits on 8 random rows and gradients of all weights that both models have are the same numbers, bit for bit."""
    plain, shifted = (
        InductionModel(ModelConfig(**SIZES, shift=kind, position=position), torch.Generator().manual_seed(seed))
        for kind in ("none", "kv")
    )
    shared = dict(plain.named_parameters())
    with torch.no_grad():
        for name, weight in shifted.named_parameters():
            weight.copy_(shared.get(name, torch.tensor(scalars)))
    tokens = torch.from_numpy(np.random.default_rng(seed).integers(0, SIZES["vocab"], (8, 12)))
    found = []
    for model in (plain, shifted):
        logits = model(tokens)
        torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()).backward()
        found.append([logits, *(weight.grad for name, weight in model.named_parameters() if name in shared)])
    return worst([same(torch.equal(*pair), True) for pair in zip(*found, strict=True)])


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "kv.fig1.only_difference",
        SOURCE,
        "The only difference between the Vanilla and the KV-shifting model of one layer is how key and value are "
        "calculated: with alpha = beta = (1, 0) they are one network.",
        symbolic(
            "Eq. 5 at (1, 0), entry by entry",
            at_identity,
            ONCE,
            Control("alpha = (0, 1)", lambda: at_identity(alpha=(0, 1))),
            Control("beta = (1, 1)", lambda: at_identity(beta=(1, 1))),
        ),
        exact(
            "the models here with the same weights: logits and gradients bit for bit, rotary positions, ALiBi and none",
            one_network,
            lambda effort: [
                {"seed": seed, "position": position}
                for seed in range(2 if effort is Effort.QUICK else 8)
                for position in ("rope", "alibi", "none")
            ],
            Control("alpha = beta = (3/4, 1/4)", lambda seed, position: one_network(seed, position, (0.75, 0.25))),
        ),
        coverage=everywhere("The four scalars enter by Eq. 5 alone, which at (1, 0) leaves any K and V as they are."),
        reading="The pair of one layer; the caption says itself that the other Vanilla curves differ in depth.",
        formula=r"(\alpha,\beta)=((1,0),(1,0))\Rightarrow\hat K=K,\ \hat V=V",
    ),
)
