"""Which heads do what: named by their attention, judged by ablation, scored on copies, set beside the theorem."""
