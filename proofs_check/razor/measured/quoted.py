"""Sentences of RazorAttention that can only be quoted here: large models, other methods, priority, lost figures."""

from proofs_check.ledger.claim import Claim, Nature
from proofs_check.ledger.exact_claim import unsettled_claim

MODELS = "The models and their long contexts are not here."
LOST = "The figure is lost in the text at hand, its model and prompts are not here."

CLAIMS: tuple[Claim, ...] = (
    unsettled_claim(
        "razor.abstract.lossless",
        "RazorAttention, Abstract, Sections 1, 3.2, 4.1 and 5",
        "Large language models of several families lose nothing noticeable when their KV cache is compressed so.",
        "Runs of those models; Table 3's averages are what is offered (razor.tab3.comparable.averages). " + MODELS,
    ),
    unsettled_claim(
        "razor.sec1.local",
        "RazorAttention, Abstract, Section 1 and Table 1",
        "Most heads attend mainly to the recent tokens.",
        "Attention weights of large models on long natural text, head by head. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec1.rest_local",
        "RazorAttention, Section 1 and 3.2",
        "All heads but the retrieval heads attend mainly to recent tokens or to a sink.",
        "Attention weights of every head outside the protected set in large models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec1.few",
        "RazorAttention, Abstract, Section 1 and Table 1",
        "Few heads, the retrieval heads, reach and use every token of the input.",
        "Each head whole alone and cut alone, and its attention to distant relevant tokens, in large models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec3.2.fifteen",
        "RazorAttention, Section 3.2",
        "Some 15 % of the heads, and no others, make use of distant tokens, and they are enough for the model to "
        "reason.",
        "Table 1 has one model and one share; it takes other shares and sets, and heads one by one. " + MODELS,
    ),
    unsettled_claim(
        "razor.tab1.solely",
        "RazorAttention, Table 1, caption",
        "Table 1 makes it clear that most heads read nothing but their surroundings, and that retrieval heads alone "
        "make full use of the context.",
        "Cutting heads together shows that they are not needed, not what they read: razor.tab1.solely.redundant. It "
        "takes their attention weights.",
    ),
    unsettled_claim(
        "razor.sec1.retrieve_process",
        "RazorAttention, Section 1",
        "Large language models first retrieve, in some heads, and then process what was found, in the others.",
        "A hypothesis by the authors' own word; it takes interventions on single heads of large models, layer by "
        "layer.",
    ),
    unsettled_claim(
        "razor.sec1.concentrates",
        "RazorAttention, Section 1",
        "A retrieval head can put most of its weight on what the query is about.",
        "Attention of the protected heads to the answer when it is asked for, in large models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec1.probability",
        "RazorAttention, Section 1",
        "Retrieval heads make the relevant words more probable in the output.",
        "Probabilities of answers with these heads cut and whole, in large models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec1.cannot_use",
        "RazorAttention, Section 1",
        "The other heads cannot make good use of all that the input says.",
        "What is lost when they are cut, and what they find alone, in large models. " + MODELS,
    ),
    unsettled_claim(
        "razor.sec3.rope_split",
        "RazorAttention, Section 3",
        "RoPE models too have heads that retrieve and heads that do not.",
        "Table 1 supports it for one model, Qwen1.5-7B; single heads of RoPE models trained on long text are not here.",
    ),
    unsettled_claim(
        "razor.sec1.analysis",
        "RazorAttention, Section 1, contributions",
        "How attention behaves on long inputs is analysed systematically.",
        "Section 3.3 and Figure 3 are lost in the text at hand, which has no attention by distance or by head.",
        Nature.TEXTUAL,
    ),
    unsettled_claim(
        "razor.sec1.off_theme",
        "RazorAttention, Sections 1 and 4",
        "In practice tokens that seemed unimportant are asked for, and queries are not known beforehand: users leave "
        "the theme and come back.",
        "A remark on how models are used; that such requests are lost where they occur is razor.abstract.erases.",
    ),
    unsettled_claim(
        "razor.sec1.dropping",
        "RazorAttention, Section 1",
        "H2O, StreamingLLM, Scissorhands and SnapKV drop at once what seemed unimportant so far.",
        "Cited papers. As their rules are commonly given StreamingLLM judges by position, not by importance so far.",
    ),
    unsettled_claim(
        "razor.sec2.streaming",
        "RazorAttention, Section 2",
        "StreamingLLM keeps sinks and a window that slides, which saves memory and keeps the performance stable.",
        "A cited paper; the rule is the one of dynamics.razor.eviction, its effect on large models is not measured.",
    ),
    unsettled_claim(
        "razor.sec2.recent",
        "RazorAttention, Section 2",
        "Scissorhands and SnapKV score as H2O does, by the attention of recent tokens only.",
        "Cited papers, to be read.",
    ),
    unsettled_claim(
        "razor.sec2.fastgen",
        "RazorAttention, Section 2",
        "FastGen is about special tokens and punctuation.",
        "A cited paper, to be read; by its title it tells from the model what to discard, which may well be head by "
        "head.",
    ),
    unsettled_claim(
        "razor.sec2.olsson",
        "RazorAttention, Section 2",
        "Olsson et al. found heads, induction heads, that recall from the input what is asked for.",
        "A cited paper; induction heads of small models are in razor.heads.planted and razor.heads.shipped.",
    ),
    unsettled_claim(
        "razor.sec2.wu",
        "RazorAttention, Section 2",
        "Wu et al. confirmed it on longer inputs.",
        "A cited paper, to be read.",
    ),
    unsettled_claim(
        "razor.sec2.tradeoff",
        "RazorAttention, Section 2",
        "With its number of key-value heads GQA trades quality against speed.",
        "A cited paper; the sizes alone are counted in razor.sec2.groups.",
    ),
    unsettled_claim(
        "razor.sec1.first",
        "RazorAttention, Section 1",
        "No earlier token reduction without training came near to lossless at 3x, as far as the authors know.",
        "A claim of priority: the literature before it, whose large ratios were stated for queries known beforehand.",
    ),
    unsettled_claim(
        "razor.sec2.first",
        "RazorAttention, Section 2",
        "No earlier work prunes the KV cache head by head with a criterion drawn from interpretability.",
        "A claim of priority: FastGen, which it cites, has to be read for whether it chooses head by head.",
    ),
    unsettled_claim(
        "razor.sec1.speed",
        "RazorAttention, Abstract, Sections 1 and 5",
        "On long contexts RazorAttention makes inference faster.",
        "Timings: the text at hand has none. Fewer bytes are read a step, razor.sec1.speed.bytes.",
    ),
    unsettled_claim(
        "razor.sec5.efficiency",
        "RazorAttention, Sections 1 and 5",
        "RazorAttention is more efficient than earlier methods, and much faster.",
        "Timings beside those methods at stated budgets: the text at hand has neither; razor.sec5.efficiency.bytes.",
    ),
    unsettled_claim(
        "razor.sec4.hardware",
        "RazorAttention, Section 4",
        "Everything was run on RTX 4090 cards of 24 GB.",
        "The authors' logs. Qwen1.5-72B has 144 GB of weights at 16 bits: seven cards at least, a number not stated.",
    ),
    unsettled_claim(
        "razor.sec4.settings",
        "RazorAttention, Section 4",
        "Where nothing else is said the settings are those of Table 2.",
        "The authors' configurations. Taken at its word it gives 42.5 % at 8000 tokens, where Figure 2 states 70 % "
        "(razor.fig2.reduction), and less than 3x for models of short contexts (razor.sec4.1.context).",
    ),
    unsettled_claim(
        "razor.sec4.snapkv",
        "RazorAttention, Section 4",
        "SnapKV takes the query for known when it compresses.",
        "A cited paper, to be read: whether its selection stands once for all, or anew for each query.",
    ),
    unsettled_claim(
        "razor.sec4.1.context_32k",
        "RazorAttention, Section 4.1",
        "Qwen1.5-7B and Qwen1.5-72B use RoPE and read 32K tokens.",
        "The models' configurations, which are not here.",
    ),
    unsettled_claim(
        "razor.sec4.2.context_80k",
        "RazorAttention, Section 4.2",
        "Llama2-7B-80K reads 80K tokens.",
        "The model's configuration and training, which are not here; its name says so.",
    ),
    unsettled_claim(
        "razor.tab3.zero",
        "RazorAttention, Table 3, caption",
        "Llama3-8B-Instruct hardly scores on TREC and LSHT, so they are left out for it.",
        "The model on these tasks; the cells of the full cache survive in the text as an unreadable sign and 3.",
    ),
    unsettled_claim(
        "razor.sec5.alibi",
        "RazorAttention, Sections 3.1 and 5",
        "ALiBi models are compressed 3 times as well.",
        "The weights of Baichuan2-13B, for its L_h; or word that Table 2 was used for it, with texts of 18546 tokens "
        "or more (razor.sec1.three).",
    ),
    unsettled_claim(
        "razor.figures",
        "RazorAttention, Figure 1",
        "On needles Llama2-13B-64K with 70 % of its KV cache compressed does as well as the original.",
        LOST + " Figures 2 and 4 to 7 and Table 4 have ids of their own.",
    ),
    unsettled_claim(
        "razor.fig2.importance",
        "RazorAttention, Figure 2",
        "Dropping by importance is bound to fail where a query is off the theme.",
        "Such methods on Qwen1.5-7B-Chat; one example shows failures, and a small model here still answers some "
        "questions.",
    ),
    unsettled_claim(
        "razor.fig2.h2o",
        "RazorAttention, Figure 2",
        "H2O drops what is off the theme and answers neither question.",
        LOST,
    ),
    unsettled_claim(
        "razor.fig2.snapkv",
        "RazorAttention, Figure 2",
        "SnapKV drops by the first query and answers that one, not the second.",
        LOST,
    ),
    unsettled_claim(
        "razor.fig2.razor",
        "RazorAttention, Figure 2",
        "RazorAttention alone gives the exact answers (Qwen1.5-7B-Chat, a document of 8K tokens).",
        LOST,
    ),
    unsettled_claim(
        "razor.fig4",
        "RazorAttention, Figure 4 and Section 4.2",
        "On needles with Llama2-7B-80K RazorAttention recalls what is asked, while H2O fails badly on long inputs and "
        "is of no use there.",
        LOST,
    ),
    unsettled_claim(
        "razor.fig5",
        "RazorAttention, Figure 5 and Section 4.3.1",
        "One per cent of echo heads more makes retrieval with Llama2-7B-80K much better: long contexts need them.",
        LOST,
    ),
    unsettled_claim(
        "razor.fig6",
        "RazorAttention, Figure 6, Sections 1 and 4.2",
        "On needles at 1024K tokens GLM-9B-1M loses next to nothing, with 30 % induction and 1 % echo heads.",
        LOST,
    ),
    unsettled_claim(
        "razor.fig7",
        "RazorAttention, Figure 7, Sections 3.2 and 4.3.3",
        "Without compensation tokens needles are lost even if the retrieval heads are whole: the tokens are critical.",
        LOST,
    ),
    unsettled_claim(
        "razor.sec4.3.most",
        "RazorAttention, Section 4.3.3",
        "A compensation token holds most of the information of what was dropped.",
        "What dropping costs with and without the token in large models; Figure 7 is lost in the text at hand.",
    ),
    unsettled_claim(
        "razor.tab4",
        "RazorAttention, Table 4 and Section 4.3.2",
        "The more induction heads are protected the better the accuracy, without a break (Qwen1.5-7B-Chat, needles).",
        "The cells of the table are lost in the text at hand, the model is not here.",
    ),
    unsettled_claim(
        "razor.sec3.3.two_groups",
        "RazorAttention, Section 3.3",
        "Long contexts need two groups of heads, echo and induction heads.",
        "The ablations of Figure 5 and Table 4, both lost in the text at hand, or runs of those models.",
    ),
)
