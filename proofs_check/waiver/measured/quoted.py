"""Sentences of the waiver paper that can only be quoted here: large models, and what training does."""

from proofs_check.ledger.claim import Claim
from proofs_check.ledger.exact_claim import unsettled_claim

MODELS = "The models and the texts are not here."

CLAIMS: tuple[Claim, ...] = (
    unsettled_claim(
        "waiver.abstract.prevalent",
        "Waiver paper, Abstract and Section 1",
        "Very high attention on the first element is prevalent across Transformer models.",
        "Attention by position in many trained models. " + MODELS,
    ),
    unsettled_claim(
        "waiver.abstract.methods",
        "Waiver paper, Abstract and Sections 1 and 5",
        "Models choose waivers in two ways: by positional encoding, and by the distribution of features in elements.",
        "What trained models of many kinds go by; two are looked at. " + MODELS,
    ),
    unsettled_claim(
        "waiver.sec1.first",
        "Waiver paper, Section 1",
        "The authors are the first to attempt to explain the phenomenon.",
        "A statement about priority.",
    ),
    unsettled_claim(
        "waiver.sec2.2.instability",
        "Waiver paper, Section 2.2",
        "Leaving out the first elements makes the distribution of attention numerically unstable and stops the model "
        "from functioning.",
        "Cited. What is exact is a rescaling (waiver.sec2.2.removed); that models then fail takes their runs. "
        + MODELS,
    ),
    unsettled_claim(
        "waiver.sec3.3.llama",
        "Waiver paper, Section 3.3",
        "Llama3-8B attends to its start token from the first layer on, with small values there; with another first "
        "token from the third.",
        "Attention and value norms by layer. " + MODELS,
    ),
    unsettled_claim(
        "waiver.sec3.3.bert",
        "Waiver paper, Section 3.3 and 3.3.2",
        "Bert-Large attends to its first and its last element, with smaller values there; models with global attention "
        "generally attend so.",
        "Attention and value norms by layer, of each model for itself: one that does says nothing of others, which may "
        "differ. " + MODELS,
    ),
    unsettled_claim(
        "waiver.fig1.norms",
        "Waiver paper, Section 3.3.1 and Figure 1",
        "Behind the second layer's MLP of Llama3-8B a first element has a very large L2 norm and a small quotient of "
        "L1 and L2 norm.",
        "Its hidden states. " + MODELS,
    ),
    unsettled_claim(
        "waiver.sec3.3.1.different",
        "Waiver paper, Section 3.3.1",
        "States of elements that were not mixed should be noticeably different from all others, so that layers can "
        "tell them.",
        "Of natural text in trained models; copies of one token are mixed and not different "
        "(waiver.sec3.3.1.copies). " + MODELS,
    ),
    unsettled_claim(
        "waiver.sec3.3.1.fixed",
        "Waiver paper, Section 3.3.1",
        "Fixed first elements have fixed states, which can explain why instruction-tuned models fail when the prompt "
        "is changed.",
        "The first half is exact under a causal mask (waiver.sec3.3.1.prefix); the second takes such "
        "models. " + MODELS,
    ),
    unsettled_claim(
        "waiver.fig2.positions",
        "Waiver paper, Section 3.3.2 and Figure 2",
        "Bert-Large's first and last position embeddings have far larger norms than its others.",
        "Its weights; another BERT may differ, and settles nothing here. " + MODELS,
    ),
    unsettled_claim(
        "waiver.sec3.3.2.both",
        "Waiver paper, Section 3.3.2",
        "Other words at the first and last position have larger values there, still different from those of others.",
        "Value norms under replaced words. " + MODELS,
    ),
    unsettled_claim(
        "waiver.sec3.3.2.insufficient",
        "Waiver paper, Section 3.3.2",
        "Positions alone do not tell waiver elements apart: the features of first and last elements are learnt too.",
        "Attention of trained models with the features replaced and the positions kept. " + MODELS,
    ),
    unsettled_claim(
        "waiver.sec4.2.2.norms",
        "Waiver paper, Section 4.2.2",
        "At the places with a replaced position embedding the values may not differ much in norm from most others.",
        "Value norms at those places. " + MODELS,
    ),
    unsettled_claim(
        "waiver.fig3.similar",
        "Waiver paper, Section 4.3.1 and Figure 3",
        "A masked element of Llama3-8B draws attention similar to that of the first one.",
        "Its weights: the masked element keeps its own word, and RoPE turns its key by another angle. " + MODELS,
    ),
    unsettled_claim(
        "waiver.sec3.3.2.layers",
        "Waiver paper, Section 3.3.2",
        "BERT attends to its first and last element from the first layer on, since positions are added only before it.",
        "Its weights, layer by layer, and an intervention for the reason. " + MODELS,
    ),
    unsettled_claim(
        "waiver.sec5.controls",
        "Waiver paper, Sections 1 and 5",
        "The mask and the positional encoding effectively control whether an element becomes a waiver.",
        "How often they do, of which element, and on which texts; representative heads are shown. " + MODELS,
    ),
    unsettled_claim(
        "waiver.fig4.moved",
        "Waiver paper, Section 4.3.2 and Figure 4",
        "With the first or last position's embedding an element of BERT draws attention as those do, when their words "
        "are random.",
        "Its weights. " + MODELS,
    ),
)
