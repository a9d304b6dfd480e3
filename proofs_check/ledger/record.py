"""What a record must be before its evidence is run: rules that no evidence can make good."""

from collections.abc import Mapping

from proofs_check.ledger.claim import Claim, Extent, Kind, Nature, Severity, Verdict

# A defect goes with a verdict; CONTRIBUTING has the table in words.
SEVERITIES = {
    Verdict.FALSE: {Severity.BREAKS, Severity.REPAIRABLE, Severity.CODE, Severity.ARITHMETIC},
    Verdict.TYPO: {Severity.MISPRINT, Severity.CODE},
    Verdict.HOLDS_IF: {Severity.REPAIRABLE, Severity.ARITHMETIC, Severity.READING},
}
_SOLID = {Kind.SYMBOLIC, Kind.CERTIFIED, Kind.EXACT}


class BrokenCheck(Exception):
    """The check itself is at fault: no points, a NaN, a control that passed. Never a verdict on the claim."""


def check_record(claim: Claim) -> None:
    """Raises BrokenCheck for the first rule that the record breaks."""
    if not claim.evidence and claim.formal is None:
        raise BrokenCheck("no evidence")
    if not claim.statement:
        raise BrokenCheck("no statement: one is printed only for a claim that stands on its statement as data alone")
    _check_verdict(claim)
    _check_severity(claim)
    _check_coverage(claim)


def check_links(claim: Claim, registry: Mapping[str, Claim]) -> None:
    """Raises BrokenCheck where the correction, or another claim that this one names, is missing or unfit."""
    for link, verdict, role in (
        (claim.correction, Verdict.HOLDS, "its correction"),
        (claim.outcome_of, Verdict.UNSETTLED, "the claim it is an outcome of,"),
        (claim.defect, claim.verdict, "the claim whose defect it repeats,"),
    ):
        if link is not None and link not in registry:
            raise BrokenCheck(f"{role} {link} does not exist")
        if link is not None and registry[link].verdict is not verdict:
            raise BrokenCheck(f"{role} {link} is recorded as {registry[link].verdict.value}, not {verdict.value}")
    head = None if claim.defect is None else registry[claim.defect]
    if head is not None and (head.severity is not claim.severity or head.defect is not None):
        raise BrokenCheck(f"the claim whose defect it repeats, {head.id}, has another severity or repeats one too")


def _check_verdict(claim: Claim) -> None:
    read = claim.formal is None and all(evidence.kind is Kind.READ for evidence in claim.evidence)
    if read and claim.verdict is not Verdict.UNSETTLED:
        raise BrokenCheck("a quotation alone settles nothing: the verdict must be unsettled")
    if claim.verdict is Verdict.UNSETTLED and not read:
        raise BrokenCheck("an unsettled claim has no evidence: an outcome stands beside it as a statement of its own")
    if claim.is_correction and claim.verdict is not Verdict.HOLDS:
        raise BrokenCheck("a statement of ours holds or is not made")
    if not claim.is_correction and any(evidence.kind is Kind.TRAINED for evidence in claim.evidence):
        raise BrokenCheck("an outcome of training rules on no paper's claim: it is a statement of ours beside it")
    if claim.outcome_of is not None and not claim.is_correction:
        raise BrokenCheck("an outcome beside a claim is a statement of ours")
    if claim.verdict is not Verdict.HOLDS and not claim.note:
        raise BrokenCheck(f"the verdict {claim.verdict.value} needs a note")
    if claim.witness is not None and claim.verdict not in (Verdict.FALSE, Verdict.TYPO):
        raise BrokenCheck("a witness shows where a false or misprinted claim fails: no other claim has one")
    if claim.verdict is Verdict.FALSE:
        _check_refutation(claim)


def _check_refutation(claim: Claim) -> None:
    if claim.witness is None and claim.formal is None:
        raise BrokenCheck("a false claim needs a witness")
    if claim.nature is Nature.TEXTUAL and claim.severity is not Severity.CODE:
        raise BrokenCheck("a slip of the text is a typo, not false")
    if claim.nature is Nature.MATHEMATICAL and claim.correction is None and claim.case is None:
        raise BrokenCheck("a false mathematical claim needs a correction")


def _check_severity(claim: Claim) -> None:
    allowed = SEVERITIES.get(claim.verdict, {None})
    if claim.severity not in allowed:
        given = "none" if claim.severity is None else claim.severity.value
        raise BrokenCheck(f"the verdict {claim.verdict.value} has no severity such as {given!r}")
    if claim.severity is Severity.READING and not claim.reading:
        raise BrokenCheck("a defect of reading needs the reading in a sentence")


def _check_coverage(claim: Claim) -> None:
    kinds = {evidence.kind for evidence in claim.evidence} - {Kind.READ}
    if (claim.coverage is None) != (not kinds):
        raise BrokenCheck("evidence needs a coverage, and a quotation has none")
    if claim.coverage is None:
        return
    if claim.coverage.extent is Extent.ALL and not (claim.coverage.why and kinds & _SOLID):
        raise BrokenCheck("to cover all takes a reason and evidence that is neither sampled nor trained")
    if not kinds & _SOLID and claim.coverage.extent is not Extent.SAMPLES:
        raise BrokenCheck("sampled and trained evidence covers samples")
