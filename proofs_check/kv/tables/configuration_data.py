"""Tables 1 and 16 (first version: 1 and 6) of the KV-shifting paper and the settings its text repeats, as printed."""

from fractions import Fraction

SIZES = ("1.5B", "2.9B", "6.7B", "13B", "19B")


def _by_size(**columns: tuple) -> dict[str, dict]:
    return {size: {name: cells[i] for name, cells in columns.items()} for i, size in enumerate(SIZES)}


# Total tokens in units of 10^9. Table 1 is the first eight rows, in both versions.
TABLE_16 = _by_size(
    hidden=(2048, 2560, 4096, 5120, 6144),
    layers=(28, 32, 32, 40, 48),
    heads=(16, 20, 32, 40, 48),
    kv_heads=(16, 4, 32, 40, 4),
    ffn=(5504, 8704, 11008, 13824, 16384),
    max_length=(2048, 4096, 2048, 2048, 12288),
    tokens=(10, 500, 10, 10, 200),
    vocab=(36000, 48000, 36000, 36000, 48000),
    gpu=("A100-80G", "H800-80G", "A100-80G", "A100-80G", "A800-80G"),
    gpus=(64, 512, 64, 128, 240),
    context=(2048, 4096, 2048, 2048, 12288),
    batch_per_gpu=(8, 8, 8, 8, 1),
    learning_rate=tuple(Fraction(n, 10_000) for n in (2, 8, 2, 2, 2)),
    warm_up=(1000, 600, 1000, 1000, 3000),
)

# Section 4.1, "Hyperparameters": five models, called by other names, in the same order.
TEXT_NAMES = ("1.4B", "3B", "7B", "13B", "19B")
TEXT_LEARNING_RATES = tuple(Fraction(n, 10_000) for n in (2, 8, 2, 2, 2))
TEXT_BATCH_M = (1, 16, 1, 2, 3)
TEXT_WARM_UP = 1000
# Footnote 6: 1M of a batch is 2^20 tokens.
M_OF_A_BATCH = 1_048_576
# Caption of Figure 5 (first version: 6).
CAPTION_BATCH_M = {"1.5B": Fraction(1, 2), "6.7B": Fraction(1, 2), "13B": Fraction(1)}
# Section 4.1: the two models trained from scratch, and their GPU; all others ran on A100.
FROM_SCRATCH = ("2.9B", "19B")
# Vocabulary of Llama and Llama 2: Touvron et al. (2023), Section 2.2 ("the total vocabulary size is 32k tokens").
LLAMA_VOCABULARY = 32_000
PRINTED_LLAMA_VOCABULARY = 36_000
