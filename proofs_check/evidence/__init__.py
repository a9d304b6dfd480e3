"""Hand-written evidence: margins with their tolerances, boxes in balls, certificates of branch and bound, Krawczyk."""
