"""A conformance suite for attention of others: what is claimed through an adapter is held to small references."""

from proofs_check.conform.adapter import Adapter, load
from proofs_check.conform.spec import CHECKS, SUBJECTS
from proofs_check.conform.suite import Outcome, Result, claimed, conform, require, run

__all__ = ["CHECKS", "SUBJECTS", "Adapter", "Outcome", "Result", "claimed", "conform", "load", "require", "run"]
