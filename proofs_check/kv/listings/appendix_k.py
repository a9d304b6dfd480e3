"""Appendix K of the KV-shifting paper (first version: Appendix D): the generator against every row it returns."""

from proofs_check.kv.listings import appendix_k_checks as listed
from proofs_check.records import runs

AT = "Appendix K (first version: Appendix D)"
POOLS = tuple({"length": length, "pool": pool} for length in (3, 4, 5) for pool in (2, 3, 4, 5))

CLAIMS = (
    runs("kv.appK.random", AT, listed.called, "two lists", mend={"random_is_imported": True}),
    runs("kv.appK.tokens", AT, listed.drawn, listed.between, [{"pool": pool} for pool in (3, 4, 5)],
         mend={"low": 1, "high": 1}, why="Both ends are left out, as the range in the listing says."),
    runs("kv.sec3.2.vocabulary", f"Section 3.2, {AT}", listed.embeddings, 8000, broken=[{"max_val": 8001}],
         why="The vocabulary is the model's, whether a generator uses all of it or not."),
    runs("kv.sec3.2.vocabulary.corrected", f"added to Section 3.2, {AT}", listed.pools, (7989, 512),
         broken=[{"max_val": 8001}, {"length": 511}], why="The padding and the numbers up to mid_val are never drawn."),
    runs("kv.appK.next_token", AT, listed.last, listed.following, POOLS, mend={"ahead": 1},
         why="What is repeated is what came next at the first appearance."),
    runs("kv.appK.scored", AT, listed.scored, listed.repeated, POOLS, broken=[{"after": 2}]),
    runs("kv.appK.zeros", AT, listed.rows, listed.filled, POOLS[:8], broken=[{"size": 511}],
         why="Up to this number whatever the argument length is."),
    runs("kv.appK.regenerated", AT, listed.ends, "a row, in the end", POOLS, reading="exists",
         broken=[{"length": 1}, {"length": 2}, {"pool": 1}], why="A sentence so short, or of one token, repeats none."),
)
