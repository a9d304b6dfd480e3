"""Scripts for Appendix C where it slips: what a table, a formula and a footnote mean, and where the last one fails."""

from __future__ import annotations

from collections.abc import Callable

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import Term, eq
from proofs_check.kv.formal.definitions import closed
from proofs_check.kv.proofs.landscape import LONG, T, a1, a2, b1, b2, by_form, closed_sums, i, loss_in
from proofs_check.rigour.places import defined
from proofs_check.rigour.steps import Scripts, fails_at, identity, linear
from proofs_check.rigour.tactics import Proof, Tactic, by


def _sums(*cuts: Term) -> Tactic:
    return closed_sums(lambda _: cuts, identity)


def _edges() -> Scripts:
    """A sum over places is cut where the sentence has the token, its neighbours and the last one."""
    return {"conclusion": by("split", _sums(i - 2, i - 1, i, i + 1, T), _sums(i - 1, i, i + 1, T - 1, T)),
            "defined": defined}  # fmt: skip


def _successor() -> Scripts:
    return {"conclusion": LONG(_sums(i - 1, i, i + 1, i + 2, T)), "defined": LONG(defined)}


def _eq10() -> Scripts:
    """The loss has its closed form, log(1 + odds); so has what is printed, once both are exponentiated."""

    def main(s: Sequent) -> Proof:
        loss, form = loss_in(s.goal), closed(T, a1, a2, b1, b2)
        same = eq(form, s.goal.parts[2])
        return by_form(loss, form, same, by("exponentiate", identity))(linear((1, same), (1, eq(loss, form))))(s)

    return {"conclusion": main, "defined": defined}


_SMALLEST = fails_at(T=4, i=2, a1=0, a2=1, b1=0, b2=1)
SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "kv.appC.logits.edges": _edges,
    "kv.tab3.meant": _edges,
    "kv.eq10.meant": _eq10,
    "kv.appC.footnote12.meant": _successor,
    "kv.eq10": _SMALLEST,
    "kv.tab3": _SMALLEST,
    "kv.appC.footnote12": fails_at(T=3, i=2, a1=1, a2=0, b1=0, b2=1),
    "kv.appA.step4": fails_at(d=1, sigma=1, x=(2,)),
}
