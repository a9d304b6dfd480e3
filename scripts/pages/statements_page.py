"""The statements that the core decides: each sentence printed from its tree, and what became of it."""

from collections import Counter

from proofs_check.core.printing import definitions, sentence
from proofs_check.ledger.judged import judged
from proofs_check.ledger.proofs import missing_lemma
from proofs_check.ledger.registry import sketch

from ..commands.report import fails
from .markdown import escaped


def page(registry) -> str:
    """The claims that are stated as data: the sentence printed from the tree, and what the core makes of it."""
    made = [claim for claim in registry.values() if claim.formal is not None]
    found = {claim.id: judged(claim.formal.to_json()) for claim in made}
    lines = ["# Statements as data", "", "Claims whose statement is a tree that the core "
             "decides by stored certificates. A statement of a claim ruled false is what the paper "
             "prints: it is to be refuted. Mutants are small wrong variants: refuted of made, less the true ones.",
             "", _shares(found), "", "## One by one", ""]  # fmt: skip
    for claim in made:
        row = found[claim.id]
        lines += [f"### `{claim.id}` ({claim.verdict.value}): {row['outcome']}", ""]
        lines += [escaped(sentence(claim.formal)), ""]
        lines += [f"- where `{line}`" for line in definitions(claim.formal)]
        lines += [f"- {line}" for line in _decided(row, missing_lemma(claim.id) or sketch(claim.id))] + [""]
    return "\n".join(lines)


def _shares(found: dict[str, dict]) -> str:
    counts = Counter(row["outcome"] for row in found.values())
    mutants = [row["mutants"] for row in found.values() if row["mutants"]]
    made, true, refuted = (sum(m[key] for m in mutants) for key in ("made", "true", "refuted"))
    names = ("proved", "refuted", "instances", "open")
    outcomes = ", ".join(f"{counts[name]} {name}" for name in names if counts[name])
    chosen = sum(row["choice_only"] for row in found.values())
    outcomes += f" ({chosen} of the open ones name a poor point, family or rate)" if chosen else ""
    return f"{len(found)} statements: {outcomes}. Mutants: {made} made, {true} true, {refuted} refuted of the rest."


def _decided(row: dict, lemma: str | None) -> list[str]:
    lines = [f"strength: {row['strength']}; covers: {row['coverage']}"]
    if row["outcome"] == "refuted" or row["choice_only"]:
        lines.append(fails(row["at"]))
    if row["choice_only"]:
        lines.append(escaped(row["message"]))
    if row["outcome"] in ("open", "instances") and lemma:
        lines.append(f"missing: {escaped(lemma)}")
    if row["mutants"] and row["mutants"]["made"]:
        m = row["mutants"]
        left = f"; open: {', '.join(m['left'])}" if m["left"] else ""
        few = "" if len(m["kinds"]) >= 3 else f"; only {len(m['kinds'])} kinds of mutant are refuted"
        lines.append(f"mutants: {m['made']} made, {m['true']} true, {m['refuted']} refuted{left}{few}")
    return lines
