"""Proof scripts of this paper's statements: see `proofs_check.ledger.proofs`."""
