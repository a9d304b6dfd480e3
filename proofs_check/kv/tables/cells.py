"""Cells of the tables of both versions of the KV-shifting paper, as printed, exact.

Numbers are those of the final version; where the first version prints the same table under another number, the
comment says so. A cell is the printed text, read as a Fraction; None is a cell that says OOM.
"""

from fractions import Fraction

Row = tuple[Fraction, ...]


def _row(text: str) -> Row:
    return tuple(Fraction(cell) for cell in text.split())


def _losses(*rows: str) -> tuple[tuple[Fraction | None, ...], ...]:
    return tuple(tuple(None if cell == "OOM" else Fraction(cell) for cell in row.split()) for row in rows)


# Table 2 (both versions): eight benchmarks, then the printed average; keys are model, size, tokens (10^9).
BENCHMARKS = ("Lambada", "Winogrande", "Hellaswag", "ARC-E", "ARC-C", "CMMLU", "MMLU", "Math")
TABLE_2: dict[tuple[str, str, int], Row] = {
    ("vanilla", "2.9B", 340): _row("52.92 52.09 42.70 27.45 25.97 28.51 29.43 0.80 32.48"),
    ("vanilla", "2.9B", 420): _row("52.80 54.85 43.68 28.96 26.02 34.77 30.34 1.20 34.08"),
    ("vanilla", "2.9B", 500): _row("51.66 54.06 44.49 36.20 27.90 38.22 37.26 1.80 36.45"),
    ("kv", "2.9B", 340): _row("55.44 53.91 42.87 36.74 30.04 34.51 36.20 2.00 36.46"),
    ("kv", "2.9B", 420): _row("51.91 54.78 43.83 36.66 31.91 37.24 34.30 1.80 36.55"),
    ("kv", "2.9B", 500): _row("54.51 55.33 44.52 39.02 30.89 40.78 40.88 2.60 38.57"),
    ("vanilla", "19B", 160): _row("59.93 48.22 48.25 30.34 24.56 39.12 39.22 1.80 36.43"),
    ("vanilla", "19B", 180): _row("58.80 48.07 47.78 31.28 25.99 40.80 39.34 2.60 36.83"),
    ("vanilla", "19B", 200): _row("60.88 49.01 47.36 33.25 25.78 42.92 42.68 2.60 38.06"),
    ("kv", "19B", 160): _row("61.93 48.46 48.28 31.25 25.06 42.10 42.87 2.00 37.74"),
    ("kv", "19B", 180): _row("60.20 47.67 48.16 32.45 26.55 43.38 40.49 3.00 37.74"),
    ("kv", "19B", 200): _row("62.35 48.38 48.42 33.28 29.32 42.40 43.29 3.20 38.83"),
}

# Table 4 (first version: Table 7), accuracy on iGSM: Tr12-Te15, Tr21-Te24.
TABLE_4 = {"vanilla": _row("0.8154 0.8711"), "kv": _row("0.8909 0.9062")}

# Table 5 (first version: Table 4), counts of KV pairs: rows beta1 > beta2 and beta1 <= beta2, columns alpha1 > alpha2
# and alpha1 <= alpha2.
TABLE_5 = ((50, 17), (9, 52))
TABLE_5_TOTAL = 128
DIAGONAL_AT_20B = (47, 43)

# Tables 6-13 (final version only): validation loss, a row a learning rate, a column a context length.
LEARNING_RATES = _row("0.0001 0.0002 0.0004 0.0010 0.0020 0.0040")
CONTEXTS = (256, 512, 1024, 2048, 4096)
LOSSES = {
    "vanilla": _losses(  # Table 6
        "3.7908 3.7078 3.6786 3.6758 3.6845",
        "3.6454 3.5839 3.5400 3.5308 3.5347",
        "3.5440 3.4558 3.4133 3.3778 3.3880",
        "3.4701 3.3816 3.3244 3.3082 3.2877",
        "3.4505 3.3605 3.3080 3.2813 3.2627",
        "3.4632 3.3701 3.3373 3.5104 3.2983",
    ),
    "kv": _losses(  # Table 7
        "3.7689 3.6968 3.6491 3.6402 3.6441",
        "3.6272 3.5616 3.5153 3.4975 3.4929",
        "3.5308 3.4440 3.3903 3.3686 3.3692",
        "3.4603 3.3691 3.3166 3.2838 3.2770",
        "3.4381 3.3686 3.2983 3.2618 3.2404",
        "3.4766 3.4327 3.3097 3.3109 3.3017",
    ),
    "qkv": _losses(  # Table 8
        "5.8747 3.7215 3.6750 3.6752 3.6798",
        "3.6543 3.5793 3.5301 3.5391 3.5213",
        "3.5482 3.4584 3.4190 3.3847 3.3836",
        "3.4678 3.3783 3.3307 3.3013 3.2835",
        "3.4518 3.3769 3.3081 3.2725 3.2620",
        "3.4994 3.3710 3.3063 3.3486 3.2662",
    ),
    "k": _losses(  # Table 9
        "3.7787 3.7109 3.6567 3.6430 3.6667",
        "3.6519 3.5758 3.5356 3.5110 3.5085",
        "3.5471 3.4541 3.4037 3.3820 3.3718",
        "3.4753 3.3861 3.3240 3.2976 3.2791",
        "3.4531 3.3570 3.3038 3.2733 3.2564",
        "3.4993 3.3699 3.3080 3.3768 3.2795",
    ),
    "v": _losses(  # Table 10
        "3.7742 3.7061 3.6698 3.6512 3.6610",
        "3.6366 3.5574 3.5253 3.5044 3.5038",
        "3.5300 3.4494 3.3980 3.3775 3.3639",
        "3.4599 3.3711 3.3234 3.2895 3.2745",
        "3.4425 3.3489 3.2915 3.2622 3.2658",
        "3.4805 3.3556 3.3798 3.3130 3.4101",
    ),
    "differential": _losses(  # Table 11
        "3.9601 3.9023 3.8693 3.8336 3.8279",
        "3.7360 3.6692 3.6280 3.6149 3.6123",
        "3.5909 3.5191 3.4705 3.4462 3.4362",
        "5.8422 3.4158 3.3718 3.3356 3.3648",
        "3.7052 3.7530 3.7660 4.1150 3.3187",
        "7.8280 6.6233 6.4263 3.3948 3.4779",
    ),
    "differential with QK norm": _losses(  # Table 12
        "3.9622 3.8999 3.9122 3.8484 3.8559",
        "3.7218 3.6624 3.6245 3.6154 3.6222",
        "3.5800 3.5080 3.4703 3.4688 3.4476",
        "3.5305 3.4076 3.3840 3.3512 3.3482",
        "3.4998 3.3930 3.3478 3.3635 3.3543",
        "3.5607 3.4142 3.3566 3.3573 3.3489",
    ),
    "selective": _losses(  # Table 13
        "3.7922 3.7109 3.6817 OOM OOM",
        "3.6580 3.5842 3.5466 OOM OOM",
        "3.5538 3.4744 3.4240 OOM OOM",
        "3.4768 3.3985 3.3594 OOM OOM",
        "3.4575 3.4100 3.3613 OOM OOM",
        "3.4850 3.4618 3.4128 OOM OOM",
    ),
}

# Caption of Table 13: peak memory in MiB and the context length it was met at.
PEAK_MEMORY = {"vanilla": (42584, 4096), "kv": (43360, 4096), "selective": (69500, 1024)}

# Table 14 (first version: Table 3), MMLU of the 2.9B models at 500B tokens: cloze, zero shot, few shot.
TABLE_14 = {"vanilla": _row("30.41 33.14 37.26"), "kv": _row("32.17 37.13 40.88")}

# Table 15 (final version only): validation loss by context length.
TABLE_15 = {"mla": _row("3.5098 3.415 3.3608 3.3188 3.2976"), "kv": _row("3.4987 3.4069 3.3414 3.3002 3.2753")}
