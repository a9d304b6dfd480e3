"""Three examples for each command, which its --help shows and a test parses."""

MODEL = "dynamics/shipped/models/alibi-text"
EXAMPLES = {
    "verify": ("", "--id kv.thm3.3", "--paper razor --all --json razor.json"),
    "train": ("--preset small-kv-shift --out out/first", "--compare", "--preset kv-shift --steps 300 --resume"),
    "inspect": (
        "out/train/kv-shift",
        "dynamics/shipped/models/small-kv-shift",
        "out/train/kv-shift --device cpu",
    ),
    "construct": (
        "thm3.2 --length 12 --dim 4 --sigma 0.5 --copy-slope 10",
        "thm3.3 --dim 8 --sigma 0.1 --matrices head.npz",
        "k-only --length 32 --dim 16 --sigma 0.1 --json k_only.json",
    ),
    "landscape": (
        "--alpha1 0.5 --alpha2 0.5 --beta1 0.5 --beta2 0.5 --tokens 50",
        "--alpha1 0 --alpha2 1 --beta1 1 --beta2 0 --tokens 12 --position mean",
        "--alpha1 1 --alpha2 0 --beta1 0 --beta2 1 --tokens 8 --json point.json",
    ),
    "scope": (
        f"{MODEL} --eps 1e-3 --context 16384",
        "owner/name --eps 1e-3 --heads 3,7.0 --json scope.json --figure scope_map",
        "--matrices heads.npz --slope 0.5 --eps 1e-3",
    ),
    "sinks": (
        f"{MODEL} --text LICENSE",
        "owner/name --records FILE --hide 0 --json sinks.json",
        "owner/name --tokens FILE --layers 0,1 --mask 3 --figure sinks",
    ),
    "heads": (
        "dynamics/shipped/models/kv-shift",
        "owner/name --text FILE --json heads.json --figure heads_map",
        "owner/name --records FILE --exclude 0,5 --length 48 --seeds 3",
    ),
    "receipt": (
        f"{MODEL} --text LICENSE",
        "owner/name --text FILE --error 0.01 --write-plan plan.json",
        "--attack 20 --seed 1",
    ),
    "compare": (
        f"{MODEL} --text LICENSE --length 256 --quick",
        "owner/name --records FILE --budget 1/4 --heads none --write-plan plan.json",
        "owner/name --text FILE FILE --budget-tokens 128 --positions cache --json compare.json",
    ),
    "sweep": ("--list", "--preset figure-1a --quick", "--preset figure-1a figure-1b --out out/sweep"),
    "arena": ("--quick", "league --jobs 2", "rates --table"),
    "conform": ("--list", "my_attention.py --only attention", "my_attention.py my_model.py --json conform.json"),
    "certify": ("--missing", "--id kv.thm3.3 --proofs-only", "--keep --jobs 2"),
    "audit": ("kv", "razor --out out/audit", "waiver"),
    "report": ("", "--from out/verify.json --out out/report.html", "--figures out --training out/train"),
    "docs": ("", "--check", "--paper razor --site out/razor"),
    "figure landscape": (
        "--tokens 50 --rows exact",
        "--axes beta1 beta2 --fix alpha1=0 alpha2=1 --box -2 4 -2 2 --position end --start starts.npy",
        '--tokens 15 --rows exact --box -1 3 -4 3 --critical --title "A saddle and a spurious minimum"',
    ),
    "figure heads": ("--quick", "--sweep out/sweep/coupling", "--out out/heads --format pdf"),
    "figure sweep": ("--preset figure-1a", "--preset hop-k --format png", "--sweep out/sweep/figure-1a"),
    "figure training": (
        "out/train/kv-shift",
        "out/train/kv-shift --tokens 12 --out out/twelve",
        "out/seeds --format png",
    ),
    "study family": ("", "--out out/family.json", "--quiet"),
}


def examples(name: str) -> tuple[str, str, str]:
    """What follows the command in each example."""
    if name.startswith("figure "):
        return EXAMPLES.get(name, ("", "--out out/mine --format pdf", "--quick"))
    return EXAMPLES.get(name, ("--quick", "--quick --quiet", ""))
