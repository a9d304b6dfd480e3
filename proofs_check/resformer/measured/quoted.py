"""Sentences of ResFormer that can only be quoted here: trained models at the paper's sizes, other papers, figures."""

from proofs_check.ledger.claim import Claim
from proofs_check.ledger.exact_claim import unsettled_claim

MODELS = "The trained models and their data are not here."
CURVES = "The curves are only drawn; it takes trainings over several seeds at matched budgets."

CLAIMS: tuple[Claim, ...] = (
    unsettled_claim(
        "resformer.abstract.stacking",
        "ResFormer, Abstract",
        "Stacking attention layers leads to attention concentration.",
        "Trained models by depth. At random weights there is none, as Section 1 itself says. " + MODELS,
    ),
    unsettled_claim(
        "resformer.abstract.outperforms",
        "ResFormer, Abstract and Sections 1 and 4.2, Figure 7",
        "ResFormer has a lower training loss than the Transformer, throughout training and at every length tried, and "
        "than DenseFormer and NeuTRENO.",
        CURVES,
    ),
    unsettled_claim(
        "resformer.abstract.downstream",
        "ResFormer, Abstract",
        "ResFormer outperforms the vanilla Transformer, DenseFormer and NeuTRENO in downstream tasks.",
        "Accuracies of DenseFormer and NeuTRENO, of which the paper prints none. Against the Transformer Table 1 has "
        "higher averages (resformer.sec4.4.gain.corrected), and on one task a lower accuracy at either length.",
    ),
    unsettled_claim(
        "resformer.abstract.svformer",
        "ResFormer, Abstract and Section 4.6, Figure 13",
        "SVFormer performs better than other methods like GQA and CLA, with performance influenced by sequence length.",
        "Section 4.6 has that for sequences of 64000 tokens, and the opposite of GQA for 2048. " + CURVES,
    ),
    unsettled_claim(
        "resformer.abstract.faster",
        "ResFormer, Abstract and Section 4.6, Figure 14",
        "SVFormer trains faster than the Transformer at first, and is overtaken later on.",
        CURVES,
    ),
    unsettled_claim(
        "resformer.fig1.random",
        "ResFormer, Section 1 and Figure 1 (left)",
        "Models at random weights smooth over but do not concentrate: concentration emerges in training.",
        "Entropy and similarity by layer at random weights and along a training. " + MODELS,
    ),
    unsettled_claim(
        "resformer.fig1.pattern",
        "ResFormer, Section 1, Appendix A.1, Figures 1 (middle) and 18",
        "Llama and Mistral concentrate, disperse and concentrate again with depth: entropy like a W, similarity like "
        "an M.",
        "Their weights and a text. " + MODELS,
    ),
    unsettled_claim(
        "resformer.sec1.associated",
        "ResFormer, Section 1 and Figure 2",
        "Concentration appears after the second or third layer, with small values and large hidden states of one "
        "token.",
        "Norms and importance by layer in trained models. " + MODELS,
    ),
    unsettled_claim(
        "resformer.sec1.first_layer",
        "ResFormer, Sections 1 and 3.3",
        "The first layer never shows concentration, and holds all basic information of each token.",
        "Its entropy in many trained models. " + MODELS,
    ),
    unsettled_claim(
        "resformer.sec3.3.learns",
        "ResFormer, Section 3.3",
        "In training ResFormer learns a residual mapping explicitly, instead of the mapping itself.",
        "What the other layers' own values are after training. Eq. 7 adds V_1 and does not say it. " + MODELS,
    ),
    unsettled_claim(
        "resformer.secA.5.based",
        "ResFormer, Appendix A.5",
        "The numbers of layers and heads and the hidden and FFN dimensions are based on Biderman et al. (2023).",
        "The configurations of that work, a fact from outside, and which of them is meant for each size.",
    ),
    unsettled_claim(
        "resformer.fig2.mitigates",
        "ResFormer, Sections 4.5 and A.2, Figures 1 (right), 2 and 19 to 21",
        "In ResFormer attention clusters less with depth, and sinks, drains and peaks are mitigated: the start token "
        "has less than ten times the importance of others, more than half of their value norm, and hidden states "
        "below three times the mean. In SVFormer too importance is more uniform.",
        "Importance and norms by layer. " + MODELS,
    ),
    unsettled_claim(
        "resformer.fig5.sharing",
        "ResFormer, Sections 3.5 and 4.8, Figures 5 and 16",
        "Sharing values across layers costs less than sharing keys or queries.",
        CURVES,
    ),
    unsettled_claim(
        "resformer.fig9.values",
        "ResFormer, Section 4.3 and Figure 9",
        "Of residuals to the first layer's queries, keys or values only that of the values helps.",
        CURVES,
    ),
    unsettled_claim(
        "resformer.fig10.mappings",
        "ResFormer, Section 4.3 and Figure 10",
        "The identity mapping does badly, and ResFormer has a lower final loss than cross-layer attention.",
        "Identity and the others differ in scale too (resformer.eq6.mass). " + CURVES,
    ),
    unsettled_claim(
        "resformer.fig11.first",
        "ResFormer, Section 4.3 and Figure 11",
        "The shortcut is best to the first layer's values, better than to the layer before or to all.",
        CURVES,
    ),
    unsettled_claim(
        "resformer.fig14.critical",
        "ResFormer, Section 4.6 and Figure 14",
        "SVFormer does better on longer sequences: the step at which it is overtaken grows exponentially with the "
        "length.",
        "The points, and more than one run each: the last one is extrapolated. " + CURVES,
    ),
    unsettled_claim(
        "resformer.fig15.rate",
        "ResFormer, Section 4.7 and Figure 15",
        "A smaller learning rate is better for SVFormer, warm-up matters little, and Llama- and GPT-2-like models are "
        "alike.",
        CURVES,
    ),
    unsettled_claim(
        "resformer.fig17.anchors",
        "ResFormer, Section 4.8 and Figure 17",
        "More layers with values of their own are better.",
        CURVES,
    ),
    unsettled_claim(
        "resformer.fig20.drains",
        "ResFormer, Appendix A.2 and Figure 20",
        "Cross-layer attention mitigates concentration and still has drained values.",
        "Its trained model. " + MODELS,
    ),
    unsettled_claim(
        "resformer.secA.3.lambda",
        "ResFormer, Appendix A.3 and Figure 22",
        "NeuTRENO is sensitive to lambda, and .4 is best of those tried.",
        CURVES,
    ),
    unsettled_claim(
        "resformer.sec2.1.tuning",
        "ResFormer, Section 2.1",
        "ResFormer needs no hyperparameter to be selected or tuned.",
        "Equation 7 has none; Section 4.2 finds lambda = 2 better than 1, which is a choice of initialisation and step "
        "size (resformer.fig8.class). It takes the loss over lambda with tuned rates.",
    ),
)
