# %% [markdown]
# # How far does your model see?
#
# A head with linear biases (ALiBi) takes a slope times the distance off each logit. So there is a distance from which no
# token can weigh more than $\epsilon$, *whatever the text says* - if we know how far apart two logits of one query can lie.
# That range follows from the weights. Here we read it off a small model that ships with the package, compare it with
# what the heads do on real text, let a cache forget what may be forgotten, and look for attention sinks.
#
# Replace `MODEL` by a folder of your own, or by the name of a model on the hub: BLOOM, MPT, GPT-2, OPT, Llama, Mistral, Qwen.
# Where a model shows nothing, the cells say so: a score stands beside what even attention would get.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from dynamics.training.checkpoint import SHIPPED

torch.set_num_threads(1)
plt.rcParams.update({"font.size": 9, "figure.dpi": 90})
MODEL = SHIPPED / "alibi-text"  # four layers of eight heads, trained on Python's own sources
EPS, CONTEXT = 1e-3, 16384

# %% [markdown]
# ## 1. Scope: a proof from the weights
#
# `checkpoint_scopes` reads a checkpoint head by head. **Look at** how the slope rules: each head of a layer sees about
# twice as far as the one before it, as its slope is half as large. A model without slopes has scopes beyond any context.

# %%
from dynamics.scope.heads import checkpoint_scopes

scopes = checkpoint_scopes(MODEL, eps=EPS, context=CONTEXT)
print("layer head   slope   range of logits   scope (tokens)")
for head in scopes[:8]:
    told = f"{head.scope:.0f}" if head.scope <= CONTEXT else "> context"
    print(f"{head.layer:5} {head.head:4} {head.slope or 0:8.4f} {head.logit_range:12.1f} {told:>16}")
print(f"the weights say nothing about {sum(h.scope > CONTEXT for h in scopes)} of {len(scopes)} heads at {CONTEXT} tokens")

# %% alt="A map of scopes, rows are layers and columns heads: from a hundred tokens on the left to the context on the right."
layers, heads = 1 + max(h.layer for h in scopes), 1 + max(h.head for h in scopes)
grid = np.array([h.scope for h in scopes]).reshape(layers, heads)
figure, panel = plt.subplots(figsize=(5, 2.4), layout="constrained")
cells = panel.imshow(np.log10(grid), cmap="viridis_r", aspect="auto", vmin=2, vmax=np.log10(CONTEXT))
panel.set(xlabel="head", ylabel="layer", title=f"no token from this distance on weighs more than {EPS:g}")
bar = figure.colorbar(cells, ticks=[2, 3, 4], extend="both")
bar.ax.set_yticklabels(["100", "1,000", "10,000"])
bar.set_label("scope (tokens)")
plt.show()

# %% [markdown]
# These numbers hold for *every* context, in exact arithmetic. RazorAttention's own bound (its Theorem 1) is false: the
# ledger has a counterexample of two tokens (`razor.thm1`), and the sharp bound used here (`razor.thm1.corrected`).
#
# ## 2. What the heads do on text
#
# A bound for every text is far above what one text does. **Look at** the gap: the largest weight that a head really
# gives at each distance, under its proved bound.

# %%
import inspect
import random

from dynamics.heads.rows import longest, measured
from dynamics.sinks.opened import open_model
from dynamics.sinks.texts import tokens_of
from theory import alibi

model = open_model(MODEL, torch.device("cpu"))
TEXT = inspect.getsource(random)[:1024]  # any text will do
tokens = tokens_of(model, MODEL, TEXT)[: longest(model)]


def largest_by_distance(start, weights):
    """The largest weight at each distance, of a block of rows (heads, rows, keys)."""
    found = torch.zeros(weights.shape[0], len(tokens), dtype=torch.float64)
    rows = start + torch.arange(weights.shape[1])
    for distance in range(len(tokens)):
        seen = rows[rows >= distance]
        if len(seen):
            found[:, distance] = weights[:, seen - start, seen - distance].amax(1)
    return found


blocks = measured(model, tokens, largest_by_distance)  # one block holds all rows of a text as short as this

# %% alt="Largest weight against distance for three heads of the first layer: dots of real text lie far below the lines of the proved bounds."
figure, panel = plt.subplots(figsize=(5.6, 3), layout="constrained")
distance = np.arange(1, len(tokens))
for number, color in ((0, "#0072b2"), (1, "#d55e00"), (2, "#009e73")):
    head = scopes[number]
    bound = [alibi.weight_bound(float(n), head.slope or 0.0, head.logit_range) for n in distance]
    panel.loglog(distance, bound, color=color, label=f"head {number}: bound")
    panel.loglog(distance, blocks[0, number, 1:].clamp(min=1e-9).numpy(), ".", color=color, markersize=2)
panel.set(xlabel="distance (tokens)", ylabel="largest weight", ylim=(1e-7, 2))
panel.legend(frameon=False, loc="lower left", title="dots: this text")
plt.show()

# %% [markdown]
# ## 3. Which heads look for copies
#
# Where no slope helps - rotary and learned positions have none - only what heads do can tell. The model reads random tokens in
# which a segment comes twice. A head is chosen if it gives the right key .1 more than even attention, than the same prompt
# without the first copy, and than itself with shuffled weights; it must also be needed for the copy. **Look at** the answer, and
# at a model made by hand: its planted heads are found, and it does not need them, since it makes no words of what they read.

# %%
from dynamics.heads.found import find
from dynamics.model.made.known_heads import known_model

found = find(model, seeds=3)
print(f"this model: {found.why}")
print(f"made by hand: {find(known_model(0).model, seeds=3).why}")

# %% [markdown]
# ## 4. What a cache may forget
#
# RazorAttention keeps everything for those heads, and for the others the first tokens, a recent window and one token that
# stands for the rest. `RazorPlan` says which; `MaskedAttention` computes exactly what such a cache would. **Look at** the loss on
# this text against the share of the cache that is kept.

# %%
from dynamics.razor.masked import MaskedAttention
from dynamics.razor.plan import RazorPlan
from dynamics.sinks.passes import logits, through

SHORT = torch.from_numpy(tokens[:512])


def bits_per_token():
    total = 0.0
    with torch.no_grad():
        for start, rows in logits(model, SHORT):
            right = SHORT[start + 1 : start + 1 + len(rows)]
            total -= rows[: len(right)].log_softmax(-1).gather(1, right[:, None]).sum().item()
    return total / (len(SHORT) - 1) / np.log(2)


def kept(plan):
    """The share of keys and values that are held at the end."""
    whole = sum(len(heads) for heads in plan.full) / (layers * plan.n_kv_heads)
    return whole + (1 - whole) * plan.n_kept(len(SHORT)) / len(SHORT)


shape = layers, heads, 1 + max(h.kv_head for h in scopes)
window = {"sinks": 4, "share": 0, "compensation": "none"}
plans = {
    "these heads whole, others a window of 64": RazorPlan.for_heads(found.whole_heads, *shape, buffer=64, **window),
    "every head a window of 64": RazorPlan.for_heads([], *shape, buffer=64, **window),
    "every head a window of 128": RazorPlan.for_heads([], *shape, buffer=128, **window),
}
print(f"{bits_per_token():.3f} bits a token with the whole cache")
for name, plan in list(plans.items())[not found.whole_heads :]:  # without such heads the first plan is the second
    with through(model, MaskedAttention(plan)):
        print(f"{bits_per_token():.3f} with {100 * kept(plan):.0f} % of it: {name}")

# %% [markdown]
# On a text as short as this the windows hardly matter; on needles in a haystack they do (`induction-workbench study compare`
# has ten policies at equal memory). Scopes can prove a window harmless: a head is *local* if what lies outside of it never
# weighs more than a given mass in all.

# %%
local = [head for head in scopes if head.reach.name == "LOCAL"]
share = sum(head.budget for head in local) / (CONTEXT * max(1, len(local)))
print(f"{len(local)} of {len(scopes)} heads are proved local at a context of {CONTEXT}" + (
    f": they may keep {share:.0%} of it without losing more than {EPS:g} of the mass" if local
    else ": the weights let nothing be forgotten"))

# %% [markdown]
# ## 5. Sinks
#
# Many models give the first token far more attention than it deserves. **Look at** whether this one does: the weight of the
# first token in the mean over all queries, against what even attention would give it. Beside it stands a model of
# one layer in which a sink was made by hand: every query of its head 0 asks for the mark that the first token carries.

# %%
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import build
from dynamics.sinks.measured import measure

sinks = measure(model, SHORT.numpy())
even = np.mean(1 / np.arange(1, len(SHORT) + 1))
print(f"even attention gives the first token {even:.3f}")
for layer, row in enumerate(sinks.heads.first):
    shares = " ".join(f"{share:.3f}" for share in row)
    print(f"layer {layer}: {shares}   its value over the others': {sinks.states.drain[layer]:.2f}")
print(f"{np.sum(sinks.heads.first > even + 0.1)} of {len(scopes)} heads give the first token 0.1 more than even attention")

made = build(ModelConfig(vocab=128, width=16, n_heads=4, n_layers=1, position="none"), torch.Generator().manual_seed(0))
attention = made.blocks[0].attention
with torch.no_grad():
    made.embedding[:, 0], made.embedding[:, 1], made.embedding[0, 1] = 1.0, 0.0, 2.0    # a constant, and token 0's mark
    attention.q_proj.weight[:4], attention.k_proj.weight[:4] = 0.0, 0.0
    attention.q_proj.weight[0, 0], attention.k_proj.weight[0, 1] = 4.0, 4.0
shares = measure(made, np.arange(64)).heads.first[0]
print(f"made by hand: {' '.join(f'{share:.3f}' for share in shares)}; even {np.mean(1 / np.arange(1, 65)):.3f}")

# %% [markdown]
# The model that ships has no sink: in the mean over its heads every layer gives the first token less than its even share.
# With ALiBi a far token fades whatever it says; the scope of Section 1 says how far a sink can reach.
#
# **Exercise.** Point `MODEL` at GPT-2 or at a rotary model and run the notebook again. *What to expect: the weights say
# nothing about any head, since without a slope no distance is proved harmless; the head scores and the sinks still speak.*
