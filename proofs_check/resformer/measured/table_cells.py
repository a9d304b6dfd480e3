"""Cells of the ResFormer tables as printed, as exact fractions."""

from fractions import Fraction


def _row(cells: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, cells.split()))


# Table 1: zero-shot accuracy on six tasks, and the printed average; by model and length of training sequences.
TASKS = ("HellaSwag", "Obqa", "WinoGrande", "ARC-c", "ARC-e", "PIQA")
TABLE_1 = {
    ("Transformer", 2048): _row("0.263 0.142 0.492 0.199 0.331 0.572 0.333"),
    ("ResFormer", 2048): _row("0.273 0.148 0.512 0.182 0.414 0.604 0.355"),
    ("Transformer", 64_000): _row("0.267 0.142 0.485 0.179 0.322 0.570 0.328"),
    ("ResFormer", 64_000): _row("0.274 0.136 0.513 0.184 0.407 0.588 0.350"),
}

# Table 2: share of the data in per cent, and tokens in billions.
DOMAINS = ("Commoncrawl", "C4", "GitHub", "Books", "ArXiv", "Wikipedia", "StackExchange")
TABLE_2 = dict(zip(DOMAINS, ((50, 10), (20, 4), (10, 2), (5, 1), (5, 1), (5, 1), (5, 1)), strict=True))

# Table 3: length of a sequence -> (sequences in a batch, sequences on a GPU); 32 accumulation steps, 8 GPUs.
TABLE_3 = {512: (4096, 128), 2048: (1024, 32), 8192: (256, 8), 32_000: (64, 2), 64_000: (32, 1)}
ACCUMULATION, GPUS = 32, 8

# Section 4.1.1 and Table 4: steps, and the learning rate at the start, at its peak and at the end.
WARMUP = {"Section 4.1.1": 1200, "Table 4": 120}
STEPS = 10_000
RATES = tuple(map(Fraction, ("1e-7", "6e-4", "6e-5")))

# Table 5: validation loss by domain (the columns of Table 5), and the printed average.
COLUMNS = ("Commoncrawl", "C4", "GitHub", "StackExchange", "Wikipedia", "Books", "ArXiv")
TABLE_5 = {
    ("Transformer", 82): _row("3.3595 3.5388 1.4247 2.3872 2.9047 3.3797 2.1779 2.7389"),
    ("Transformer", 180): _row("3.0961 3.2834 1.2451 2.1651 2.5897 3.1309 2.0001 2.5015"),
    ("Transformer", 468): _row("2.8514 3.0430 1.0908 1.9628 2.2821 2.8979 1.8362 2.2806"),
    ("ResFormer", 82): _row("3.3362 3.5191 1.3941 2.3592 2.8646 3.3572 2.1518 2.7117"),
    ("ResFormer", 180): _row("3.0631 3.2504 1.2200 2.1350 2.5435 3.0994 1.9732 2.4692"),
    ("ResFormer", 468): _row("2.8214 3.0115 1.0730 1.9388 2.2477 2.8696 1.8142 2.2537"),
}
