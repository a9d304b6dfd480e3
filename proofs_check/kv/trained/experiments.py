"""Statements on private runs and on figures without data: quoted, with what it would take to settle them."""

from proofs_check.ledger.claim import Nature
from proofs_check.ledger.exact_claim import BOTH, FINAL, FIRST, unsettled_claim

PRIVATE = "The training data are private; it would take"
LOST = "The curves are not given as numbers; it would take"
ROBUST = "Section 4.3 (first version: 4.4)"
SCALING = "Section 4.4 (first version: 4.5)"
ABLATION = "Section 4.5 (first version: 4.7)"
LEARNED = "Appendix F (first version: Section 4.6)"

# id, place, statement, what it would take.
_QUOTED = (
    (
        "kv.tab2.scores",
        f"{BOTH}, Table 2",
        "The models trained as described score what the cells of Table 2 say.",
        f"{PRIVATE} training at 2.9B on 500B tokens and at 19B on 200B, or the 2.9B checkpoints and the same harness.",
    ),
    (
        "kv.sec4.1.open",
        f"{BOTH}, Section 4.1, footnote",
        "The weights of both 2.9B models are open.",
        "It would take a look at the hub that the first version links to; nothing is fetched here.",
    ),
    (
        "kv.fig3.2_9b",
        "KV shifting (final), Figure 3a (first version: 4a)",
        "At 2.9B the training loss of KV shifting lies below vanilla's over 500B tokens.",
        f"{LOST} the logs, or two runs of 2.9B on 500B tokens.",
    ),
    (
        "kv.fig3.19b",
        "KV shifting (final), Figure 3b (first version: 4b)",
        "At 19B the training loss of KV shifting lies below vanilla's over 200B tokens.",
        f"{LOST} the logs, or two runs of 19B on 200B tokens.",
    ),
    (
        "kv.sec4.2.both_converged",
        f"{BOTH}, Section 4.2",
        "KV shifting does better than vanilla once both have converged.",
        "A conjecture that no run of the paper reaches; it would take both models trained to convergence.",
    ),
    (
        "kv.sec4.2.terabytes",
        f"{BOTH}, Section 4.2",
        "A 2.9B model may need several TB of data to converge.",
        "A guess without data; it would take runs beyond the 500B tokens at which the paper stops.",
    ),
    (
        "kv.fig4a",
        f"KV shifting (final), {ROBUST}, Figure 4a (first version: 5a)",
        "At 1.5B KV shifting has the lower training loss under all five random seeds.",
        f"{LOST} the logs, or ten runs of 1.5B on 10B tokens.",
    ),
    (
        "kv.fig4b",
        f"KV shifting (final), {ROBUST}, Figure 4b (first version: 5b)",
        "At 1.5B KV shifting has the lower loss at learning rates 1e-4, 2e-4, 1e-3 and 1e-2.",
        f"{LOST} the logs, or eight runs of 1.5B on 10B tokens.",
    ),
    (
        "kv.fig4c",
        f"KV shifting (final), {ROBUST}, Figure 4c (first version: 5c)",
        "At 1.5B and a learning rate of 1e-2 vanilla diverges and KV shifting does not.",
        f"{LOST} the logs, or two runs of 1.5B at that rate on the same data.",
    ),
    (
        "kv.fn7",
        f"KV shifting (final), {ROBUST}, footnote on LR=1e-2",
        "The same happens under five more seeds, each time.",
        f"{PRIVATE} ten runs of 1.5B at that rate.",
    ),
    (
        "kv.sec4.3.flatter",
        f"KV shifting (final), {ROBUST}",
        "The optimisation space of KV shifting may be flatter.",
        "Flatness is not defined; it would take a measure of it and the trained 1.5B models.",
    ),
    (
        "kv.sec4.3.lead",
        f"KV shifting (final), {ROBUST}",
        "The large learning rate partially explains why the 2.9B model leads by more in loss.",
        "A causal statement; it would take runs of 2.9B at another rate.",
    ),
    (
        "kv.fig5.better",
        f"KV shifting (final), {SCALING}, Figure 5 (first version: 6)",
        "KV shifting has the lower training loss at 1.5B, 6.7B and 13B.",
        f"{LOST} the logs, or six runs on 10B tokens.",
    ),
    (
        "kv.fig6a",
        f"KV shifting (final), {SCALING}, Figure 6a (first version: 7a)",
        "KV shifting scales as well and has the lower validation loss on WebText at every size.",
        f"{LOST} the fitted points, or the six models of 10B tokens and the part of WebText that was used.",
    ),
    (
        "kv.fig6b",
        f"KV shifting (final), {SCALING}, Figure 6b (first version: 7b)",
        "Up to 30B tokens the difference in validation loss does not decrease at 1.5B.",
        f"{LOST} the points of every 1000 steps, or two runs of 1.5B on 30B tokens.",
    ),
    (
        "kv.fig7a",
        f"KV shifting (final), {ABLATION}, Figure 7a (first version: 8b)",
        "At 1.5B shifting keys and shifting values both play an important role.",
        f"{LOST} the logs, or four runs of 1.5B; Tables 9 and 10 say so at 0.2B. Induction alone needs the keys only "
        "(kv.fig7a.induction.keys).",
    ),
    (
        "kv.sec4.5.two_layers",
        f"KV shifting (final), {ABLATION}",
        "Without one of the two shifts a language model needs two layers for the function.",
        "The function is not defined for language models; it would take a probe of it and the ablated models. For "
        "induction one layer with shifted keys alone is enough (kv.fig7a.induction.keys).",
    ),
    (
        "kv.fig8.bias",
        "KV shifting (final), Appendix E.1, Figure 8 (first version: Appendix H, Figure 9)",
        "KV shifting has a very good bias for learning multi-hop tasks.",
        f"{LOST} the error rates, or the runs with the cited code for every depth and hop count.",
    ),
    (
        "kv.fig8.five_layers",
        "KV shifting (final), Appendix E.1, Figure 8 (first version: Appendix H, Figure 9)",
        "With five layers vanilla degrades beyond 8 hops, KV shifting has a small error at 16.",
        f"{LOST} the error rates. It fits the depth floor(log2 k) + 2 that suffices for vanilla, one layer saved.",
    ),
    (
        "kv.fig8.reasoning",
        "KV shifting (final), Appendix E.1 (first version: Appendix H)",
        "The result on hops implies that KV shifting may reason better in mathematics.",
        "An expectation; Table 4 is the only test of it.",
    ),
    (
        "kv.tab4.scores",
        "KV shifting (final), Appendix E.2, Table 4 (first version: Appendix I, Table 7)",
        "Models trained on iGSM as described reach the accuracies of Table 4.",
        "It would take the authors' data and settings: their code differs from that of the cited paper.",
    ),
    (
        "kv.fn14",
        "KV shifting (final), Appendix E.2, footnote on lr=2e-3",
        "At a learning rate of 2e-3 vanilla gets about 0.5 and KV shifting about 0.7 on Tr12-Te15.",
        "As for Table 4, with that learning rate.",
    ),
    (
        "kv.fig9",
        "KV shifting (final), Appendix E.3 (first version: Section 3.3), Figure 9 (first version: 3)",
        "KV shifting neither helps nor hurts the learning of 3-grams at 50M, 0.4M and 0.8K parameters.",
        f"{LOST} the accuracies, or the data and steps, of which only about 200 pairs are given.",
    ),
    (
        "kv.appE.bottleneck",
        "KV shifting (final), Appendix E.3",
        "The bottleneck in learning n-grams may lie outside of attention, in width or MLP parameters.",
        "A guess; it would take the runs of Figure 9 over width and MLP size.",
    ),
    (
        "kv.tab5.counts",
        f"KV shifting (final), {LEARNED}, Table 5",
        "The 2.9B checkpoint at 500B tokens has the counts of Table 5, and 47 and 43 on the diagonal at 20B.",
        "It would take the open checkpoint for the first and the private one at 20B for the second.",
    ),
    (
        "kv.appF.sums",
        f"KV shifting (final), {LEARNED}",
        "In the trained 2.9B model the sums of coefficients are away from 1, and some are negative and far from zero.",
        "It would take the open checkpoint; the one pair of footnote 15 agrees.",
    ),
    (
        "kv.appF.speculation",
        f"KV shifting (final), {LEARNED}",
        "The lower left corner is smaller because token i already carries information on token i - 1.",
        "Called a speculation; it would take an intervention on the trained model. The difference is within chance.",
    ),
    (
        "kv.fig11.loss",
        "KV shifting (final), Appendix G, Figure 11 (first version: Appendix J, Figure 10)",
        "At 19B the training losses of QKV and KV shifting are similar.",
        f"{LOST} the logs, or two runs of 19B on 180B tokens.",
    ),
    (
        "kv.fig11.kv",
        "KV shifting (final), Appendix G, Figure 11 (first version: Appendix J, Figure 10)",
        "At 19B QKV shifting is not as good as KV shifting on MMLU and CMMLU.",
        f"{LOST} the scores, or two runs of 19B; Tables 7 and 8 agree at 0.2B (27 cells of 30).",
    ),
    (
        "kv.fig11.vanilla",
        "KV shifting (final), Appendix G, Figure 11 (first version: Appendix J, Figure 10)",
        "At 19B QKV shifting is not even as good as vanilla on MMLU and CMMLU.",
        f"{LOST} the scores, or two runs of 19B. At 0.2B Tables 6 and 8 disagree: lower loss in 16 cells of 30.",
    ),
    (
        "kv.appH.losses",
        f"{FINAL}, Appendix H, Tables 6-13",
        "Models trained with the open code for 5100 steps reach the losses of Tables 6-13.",
        "It would take 228 runs of about 16 GPU hours each, with the commit and data order, which are not given.",
    ),
    (
        "kv.appH.budget",
        f"{FINAL}, Appendix H and footnote 13",
        "Eight A100 and two hours are enough to verify KV shifting with the open code.",
        "It would take those machines. It is not impossible: 6 x 0.2e9 x 2.55e9 operations are 17 % of their peak.",
    ),
    (
        "kv.tab13.memory",
        f"{FINAL}, Table 13, caption",
        "The peaks of memory are 42584, 43360 and 69500 MiB.",
        "It would take the batch size and machine, which are not given.",
    ),
    (
        "kv.tab14.knowledge",
        "KV shifting (final), Appendix I (first version: Section 4.3)",
        "KV shifting accelerates the model's learning of world knowledge.",
        "One benchmark at one checkpoint; it would take scores over training, and tests of knowledge alone.",
    ),
    (
        "kv.tab15.losses",
        f"{FINAL}, Appendix J, Table 15",
        "Models with latent attention trained as described reach the losses of Table 15.",
        "It would take ten runs with the setting of Appendix H and the shapes, which are given in part.",
    ),
    (
        "kv.appJ.rate",
        f"{FINAL}, Appendix J",
        "A learning rate of 2e-3 is the best for both methods.",
        "The other rates are not shown; it would take the runs over them.",
    ),
    (
        "kv.appJ.parameters",
        f"{FINAL}, Appendix J",
        "The model with latent attention has about 5 % more parameters than that of Appendix H.",
        "It depends on the baseline's key-value heads, not given: against 12 of them the described projections have "
        "fewer parameters, against 4 more. It would take both configurations.",
    ),
    (
        "kv.appJ.context",
        f"{FINAL}, Appendix J",
        "The gain over MLA indicates that the model uses context better.",
        "Table 15 has one run a cell; it would take losses by position, with seeds.",
    ),
    (
        "kv.sec5.importance",
        f"{BOTH}, Section 5",
        "The gains implicitly demonstrate the importance of learning induction heads for language modelling.",
        "A causal statement; it would take a measure of induction heads in the trained models and an intervention.",
    ),
    (
        "kv.sec5.unleashed",
        f"{BOTH}, Section 5",
        "Existing transformers have not fully unleashed the potential of learning induction heads.",
        "An interpretation; it would take a measure of that potential.",
    ),
    (
        "kv.sec5.compatible",
        f"{BOTH}, Section 5",
        "KV shifting is easily compatible with existing frameworks of training and inference.",
        "It would take ports to the frameworks meant; the paper's own inference code is wrong in both versions.",
    ),
    (
        "kv.sec5.locate",
        f"{BOTH}, Section 5",
        "KV shifting may make induction heads much easier to locate.",
        "It would take trained models of both kinds and a detector of induction heads.",
    ),
    (
        "kv.sec5.length",
        f"{FINAL}, Section 5",
        "A model that learns induction simply may generalise more easily to greater lengths.",
        "An expectation without an experiment in the paper.",
    ),
    (
        "kv1.sec1.multi_layer",
        f"{FIRST}, Section 1",
        "KV shifting attention performs at least as well as conventional multi-layer transformers.",
        "All its large models are multi-layer themselves; it would take one-layer models against multi-layer ones. The "
        "final version says vanilla attention instead.",
    ),
    (
        "kv1.fn15",
        f"{FIRST}, footnote 15",
        "An independent open implementation of KV shifting did better than vanilla.",
        "It would take that project's logs, with seeds.",
    ),
)

CLAIMS = tuple(unsettled_claim(*quoted, nature=Nature.EMPIRICAL) for quoted in _QUOTED)
