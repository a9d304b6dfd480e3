"""Tables 6 to 13 and 15: validation losses over learning rates and context lengths, cell against cell."""

from proofs_check.language import both, eq, iff, least, whole
from proofs_check.records import Table, column, count, derived, every, one, quoted, rule

RATE, CONTEXT = CELL = whole("rate", 1, 6), whole("context", 1, 5)
LENGTH = column("length", (256, 512, 1024, 2048, 4096))
METHODS = ("vanilla", "kv", "qkv", "k", "v", "differential", "differential_normed", "selective")
# Tables 6 to 13. A cell out of memory does not compete: its loss counts as 9.
LOSS = {name: Table(f"kv-shifting: Table {n}").grid(name, blank=9) for n, name in enumerate(METHODS, 6)}
RIVALS = ("vanilla", "differential", "differential_normed", "selective")
OOM = Table("kv-shifting: Table 13").marks("out_of_memory", "OOM")
MLA = Table("kv-shifting: Table 15")
ALONE, SHIFTED = MLA.row("mla", "MLA"), MLA.row("mla_kv", "MLA w KV shifting")
# The caption of Table 13: vanilla at 4096, KV shifting at 4096, selective attention at 1024.
PEAK, AT = (Table("kv-shifting: caption of Table 13").said(*one_) for one_ in (("peak", 0, 3, 4), ("context", 1, 2, 5)))


def best(name, *methods):
    """The least loss of the cell among these methods."""
    return derived(name, CELL, least(*(LOSS[method](*CELL) for method in methods)))


def won(name, best_of):
    """The cells in which the method has the least loss."""
    return count(eq(LOSS[name](*CELL), best_of(*CELL)), *CELL)


def below(name, other):
    return count(LOSS[name](*CELL) < LOSS[other](*CELL), *CELL)


def losses(*says):
    return one(both(*says) if len(says) > 1 else says[0], *LOSS.values(), BEST, BEST_WITHOUT)


BEST, BEST_WITHOUT = best("best", *METHODS), best("best_without_variants", "kv", *RIVALS)
WON = dict(vanilla=1, kv=19, qkv=2, k=0, v=8, differential=0, differential_normed=0, selective=0)
WINS = {name: derived(f"won_by_{name}", (), won(name, BEST)) for name in METHODS}
BETTER = SHIFTED(CONTEXT) < ALONE(CONTEXT)

CLAIMS = (
    rule("kv.appH.almost_every", "Appendix H, Tables 6 to 13", losses(eq(won("kv", BEST), 26)),
         meant=losses(eq(won("kv", BEST_WITHOUT), 26)), reading="rivals"),
    rule("kv.appH.almost_every.corrected", "added to Appendix H, Tables 6 to 13",
         one(both(*(eq(WINS[name](), cells) for name, cells in WON.items())), *LOSS.values(), BEST, *WINS.values())),
    rule("kv.appH.vanilla", "Appendix H, Tables 6 and 7", losses(eq(below("kv", "vanilla"), 26))),
    rule("kv.sec4.5.both_shifts", "Section 4.5, Tables 6, 7, 9 and 10", losses(
        *(below(*pair) > 15 for pair in (("k", "vanilla"), ("v", "vanilla"), ("kv", "k"), ("kv", "v")))),
         why="Important is what improves most cells of the paper's own tables."),
    rule("kv.appH.exceptions", "Appendix H, Tables 8 and 11", losses(
        *(LOSS[name](row, context) > 5 for name, row, context in
          (("qkv", 1, 1), ("differential", 4, 1), *(("differential", 6, c) for c in (1, 2, 3)))))),
    rule("kv.appH.out_of_memory", "Appendix H, Table 13", every(
        CELL, eq(OOM(*CELL), 1), OOM, LENGTH, given=[LENGTH(CONTEXT) > 2048]), why="At 2048 itself as well."),
    rule("kv.appH.out_of_memory.corrected", "added to Appendix H, Table 13", every(
        (CONTEXT,), iff(count(eq(OOM(*CELL), 1), RATE) > 0, LENGTH(CONTEXT) >= 2048), OOM, LENGTH)),
    rule("kv.tab13.selective", "Table 13, caption", one(
        both(*(both(PEAK(other) < PEAK(3), eq(AT(other), 4 * AT(3))) for other in (1, 2))), PEAK, AT)),
    rule("kv.tab15.better", "Appendix J, Table 15", every((CONTEXT,), BETTER, ALONE, SHIFTED)),
    rule("kv.tab15.grows", "Appendix J, Table 15", every((whole("context", 2, 5),), BETTER, ALONE, SHIFTED),
         why="Also better at longer lengths: that the advantage grows with each is not said."),
    *quoted(__file__),
)
