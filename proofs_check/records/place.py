"""Where a record stands (until each paper has its own list of places)."""
from dataclasses import dataclass

NAMES = {
    "kv": "KV shifting (final)", "kv1": "KV shifting (first version)", "razor": "RazorAttention",
    "resformer": "ResFormer", "waiver": "Waiver paper",
}  # fmt: skip
WORDS = {"Theorem": "theorem", "Property": "theorem", "Definition": "theorem", "Table": "table", "Tables": "table",
         "Eq.": "equation", "Figure": "figure", "Listing": "listing"}  # fmt: skip


@dataclass(frozen=True)
class Place:
    text: str
    kinds: tuple[str, ...]
    ours: bool

def place(id, at):
    kinds = tuple(dict.fromkeys(k for w, k in WORDS.items() if w in at)) or ("text",)
    return Place(f"{NAMES[id.split('.')[0]]}, {at}", kinds, at.startswith("added"))
