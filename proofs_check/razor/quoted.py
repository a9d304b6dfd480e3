"""Sentences of RazorAttention that can only be quoted here: large models, other methods, priority, lost figures."""

from proofs_check.claim import Claim, Nature
from proofs_check.kv.exact_claim import unsettled_claim

MODELS = "The models and their long contexts are not here."
LOST = "The figure is lost in the text at hand, its model and prompts are not here."

CLAIMS: tuple[Claim, ...] = (
    unsettled_claim(
        "razor.abstract.lossless",
        "RazorAttention, Abstract, Sections 1, 3.2, 4.1 and 5",
        "The KV cache is compressed without noticeable impact on performance, across diverse large language models.",
        "Table 3's averages are what is offered (razor.tab3.comparable); it takes runs of those models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec1.local",
        "RazorAttention, Abstract, Section 1 and Table 1",
        "Most attention heads primarily focus on the local context.",
        "Attention weights of large models on long natural text, head by head. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec1.rest_local",
        "RazorAttention, Section 1 and 3.2",
        "The non-retrieval heads, all that remain, primarily focus on the local context or the attention sink.",
        "Attention weights of every head outside the protected set in large models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec1.few",
        "RazorAttention, Abstract, Section 1 and Table 1",
        "Only a few heads, the retrieval heads, can essentially pay attention to all input tokens and use them.",
        "Each head whole alone and cut alone, and its attention to distant relevant tokens, in large models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec3.2.fifteen",
        "RazorAttention, Section 3.2",
        "About 15 % of the heads, and only these, are capable of using long-range information, and suffice for the "
        "model's reasoning performance.",
        "Table 1 has one model and one share; it takes other shares and sets, and heads one by one. " + MODELS,
    ),
    unsettled_claim(
        "razor.tab1.solely",
        "RazorAttention, Table 1, caption",
        "Table 1 clearly shows that most heads rely solely on local context, and that only retrieval heads can fully "
        "use all contextual information.",
        "Cutting heads together shows that they are not needed, not what they read: razor.tab1.solely.redundant. It "
        "takes their attention weights.",
    ),
    unsettled_claim(
        "razor.sec1.retrieve_process",
        "RazorAttention, Section 1",
        "Large language models retrieve and process: retrieval heads gather what is relevant, then the other heads "
        "process it and generate the response.",
        "A hypothesis by the authors' own word; it takes interventions on single heads of large models, layer by "
        "layer.",
    ),
    unsettled_claim(
        "razor.sec1.concentrates",
        "RazorAttention, Section 1",
        "Retrieval heads are capable of concentrating most of their attention on the information relevant to the "
        "query.",
        "Attention of the protected heads to the answer when it is asked for, in large models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec1.probability",
        "RazorAttention, Section 1",
        "Retrieval heads increase the output probability of the relevant words.",
        "Probabilities of answers with these heads cut and whole, in large models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec1.cannot_use",
        "RazorAttention, Section 1",
        "The non-retrieval heads cannot effectively use all the semantic information of the input.",
        "What is lost when they are cut, and what they find alone, in large models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec3.rope_split",
        "RazorAttention, Section 3",
        "Models with RoPE also have retrieval and non-retrieval heads.",
        "Table 1 supports it for one model, Qwen1.5-7B; single heads of RoPE models trained on long text are not here.",
    ),
    unsettled_claim(
        "razor.sec1.analysis",
        "RazorAttention, Section 1, contributions",
        "The attention dynamics of Transformers under lengthy inputs are systematically analysed.",
        "Section 3.3 and Figure 3 are lost in the text at hand, which has no attention by distance or by head.",
        Nature.TEXTUAL,
    ),
    unsettled_claim(
        "razor.sec1.off_theme",
        "RazorAttention, Sections 1 and 4",
        "That tokens deemed unimportant will not be needed, or that the query is known beforehand, does not hold in "
        "practice: users ask off the theme and in several rounds.",
        "A remark on how models are used; that such requests are lost where they occur is razor.abstract.erases.",
    ),
    unsettled_claim(
        "razor.sec1.dropping",
        "RazorAttention, Section 1",
        "H2O, StreamingLLM, Scissorhands and SnapKV directly drop tokens deemed unimportant so far.",
        "Cited papers. As their rules are commonly given StreamingLLM judges by position, not by importance so far.",
    ),
    unsettled_claim(
        "razor.sec2.streaming",
        "RazorAttention, Section 2",
        "StreamingLLM preserves only sink tokens and a sliding window, saving memory and stabilising performance.",
        "A cited paper; the rule is the one of dynamics.eviction, its effect on large models is not measured here.",
    ),
    unsettled_claim(
        "razor.sec2.recent",
        "RazorAttention, Section 2",
        "Scissorhands and SnapKV narrow H2O's scores to attention related to recent information.",
        "Cited papers, to be read.",
    ),
    unsettled_claim(
        "razor.sec2.fastgen",
        "RazorAttention, Section 2",
        "FastGen paid attention to special tokens and punctuation.",
        "A cited paper, to be read; by its title it tells from the model what to discard, which may well be head by "
        "head.",
    ),
    unsettled_claim(
        "razor.sec2.olsson",
        "RazorAttention, Section 2",
        "Olsson et al. noticed induction heads, which effectively recall the queried information from the input.",
        "A cited paper; induction heads of small models are in razor.heads.planted and razor.heads.shipped.",
    ),
    unsettled_claim(
        "razor.sec2.wu",
        "RazorAttention, Section 2",
        "Wu et al. validated this property under extended inputs.",
        "A cited paper, to be read.",
    ),
    unsettled_claim(
        "razor.sec2.tradeoff",
        "RazorAttention, Section 2",
        "GQA balances the trade-off between inference speed and output quality by its number of key-value heads.",
        "A cited paper; the sizes alone are counted in razor.sec2.groups.",
    ),
    unsettled_claim(
        "razor.sec1.first",
        "RazorAttention, Section 1",
        "RazorAttention is the first training-free token reduction that is nearly lossless at 3x, to the authors' "
        "knowledge.",
        "A claim of priority: the literature before it, whose large ratios were stated for queries known beforehand.",
    ),
    unsettled_claim(
        "razor.sec2.first",
        "RazorAttention, Section 2",
        "It is the first work with a head-wise criterion for pruning the KV cache that rests on interpretability.",
        "A claim of priority: FastGen, which it cites, has to be read for whether it chooses head by head.",
    ),
    unsettled_claim(
        "razor.sec1.speed",
        "RazorAttention, Abstract, Sections 1 and 5",
        "RazorAttention accelerates the inference of large language models under extended contexts.",
        "Timings: the text at hand has none. Fewer bytes are read a step, razor.sec1.speed.bytes.",
    ),
    unsettled_claim(
        "razor.sec5.efficiency",
        "RazorAttention, Sections 1 and 5",
        "RazorAttention surpasses previous methods in efficiency, with a substantial speedup over them.",
        "Timings beside those methods at stated budgets: the text at hand has neither; razor.sec5.efficiency.bytes.",
    ),
    unsettled_claim(
        "razor.sec4.hardware",
        "RazorAttention, Section 4",
        "The experiments are conducted on NVIDIA GeForce RTX 4090 cards of 24 GB.",
        "The authors' logs. Qwen1.5-72B has 144 GB of weights at 16 bits: seven cards at least, a number not stated.",
    ),
    unsettled_claim(
        "razor.sec4.settings",
        "RazorAttention, Section 4",
        "Unless explicitly stated the hyper-parameters are those of Table 2.",
        "The authors' configurations. Taken at its word it leaves 42.5 % for Figure 2 (razor.fig2.reduction) and less "
        "than 3x for models of short contexts (razor.sec4.1.context).",
    ),
    unsettled_claim(
        "razor.sec4.snapkv",
        "RazorAttention, Section 4",
        "SnapKV assumes that the query is known before the compression.",
        "A cited paper, to be read: whether its selection stands once for all, or anew for each query.",
    ),
    unsettled_claim(
        "razor.sec4.1.context_32k",
        "RazorAttention, Section 4.1",
        "Qwen1.5-7B and Qwen1.5-72B are RoPE models with a context length of 32K.",
        "The models' configurations, which are not here.",
    ),
    unsettled_claim(
        "razor.sec4.2.context_80k",
        "RazorAttention, Section 4.2",
        "The context length of Llama2-7B-80K is 80K.",
        "The model's configuration and training, which are not here; its name says so.",
    ),
    unsettled_claim(
        "razor.tab3.zero",
        "RazorAttention, Table 3, caption",
        "Llama3-8B-Instruct scores close to 0 on TREC and LSHT, which are therefore left out.",
        "The model on these tasks; the cells of the full cache survive in the text as an unreadable sign and 3.",
    ),
    unsettled_claim(
        "razor.sec5.alibi",
        "RazorAttention, Sections 3.1 and 5",
        "A 3X compression ratio is achieved for models with ALiBi embeddings.",
        "The weights of Baichuan2-13B, for its L_h; or word that Table 2 was used for it, with texts of 18546 tokens "
        "or more (razor.sec1.three).",
    ),
    unsettled_claim(
        "razor.figures",
        "RazorAttention, Figure 1",
        "Needle in a haystack on Llama2-13B-64K: comparable to the original model with 70 % of the KV cache "
        "compressed.",
        LOST + " Figures 2 and 4 to 7 and Table 4 have ids of their own.",
    ),
    unsettled_claim(
        "razor.fig2.importance",
        "RazorAttention, Figure 2",
        "Importance-based token dropping cannot work when the query asks for what is less relevant to the main theme.",
        "Such methods on Qwen1.5-7B-Chat; one example shows failures, and a small model here still answers some "
        "questions.",
    ),
    unsettled_claim(
        "razor.fig2.h2o",
        "RazorAttention, Figure 2",
        "H2O discards the tokens that are less relevant to the main theme and fails both questions.",
        LOST,
    ),
    unsettled_claim(
        "razor.fig2.snapkv",
        "RazorAttention, Figure 2",
        "SnapKV discards by the first query: it answers the first question and fails the second.",
        LOST,
    ),
    unsettled_claim(
        "razor.fig2.razor",
        "RazorAttention, Figure 2",
        "Only RazorAttention outputs the exact information from the lengthy input (Qwen1.5-7B-Chat, 8K document).",
        LOST,
    ),
    unsettled_claim(
        "razor.fig4",
        "RazorAttention, Figure 4 and Section 4.2",
        "On needles with Llama2-7B-80K RazorAttention recalls the queried information accurately, while H2O is "
        "severely degraded and unusable on long inputs.",
        LOST,
    ),
    unsettled_claim(
        "razor.fig5",
        "RazorAttention, Figure 5 and Section 4.3.1",
        "Adding 1 % echo heads significantly enhances retrieval on Llama2-7B-80K: they are essential for long "
        "contexts.",
        LOST,
    ),
    unsettled_claim(
        "razor.fig6",
        "RazorAttention, Figure 6, Sections 1 and 4.2",
        "On needles at 1024K tokens GLM-9B-1M is nearly lossless, with 30 % induction and 1 % echo heads.",
        LOST,
    ),
    unsettled_claim(
        "razor.fig7",
        "RazorAttention, Figure 7, Sections 3.2 and 4.3.3",
        "Without compensation tokens needles are clearly lost even with the retrieval heads whole: the tokens are "
        "critical.",
        LOST,
    ),
    unsettled_claim(
        "razor.sec4.3.most",
        "RazorAttention, Section 4.3.3",
        "The compensation tokens successfully compressed most of the information of the dropped tokens.",
        "What dropping costs with and without the token in large models; Figure 7 is lost in the text at hand.",
    ),
    unsettled_claim(
        "razor.tab4",
        "RazorAttention, Table 4 and Section 4.3.2",
        "Accuracy improves continuously with the number of induction heads (Qwen1.5-7B-Chat, needles).",
        "The cells of the table are lost in the text at hand, the model is not here.",
    ),
    unsettled_claim(
        "razor.sec3.3.two_groups",
        "RazorAttention, Section 3.3",
        "Two groups of heads, echo and induction heads, are essential in processing long contexts.",
        "The ablations of Figure 5 and Table 4, both lost in the text at hand, or runs of those models.",
    ),
)
