"""Claims of the waiver paper (anomalous attention distribution), one module per section; `paper.toml` lists them."""

from proofs_check.ledger.paper import read

(WAIVER,) = read(__name__)
