"""Problems solved by two models, beside Table 4 of the KV-shifting paper: a section of the arena's page."""

from dynamics.arena.igsm import POWER, SPREAD
from dynamics.arena.solved import IGSM, SolvedBundle, lines, outcome, read_bundle
from dynamics.model.sizes import parameters

FLOOR = (
    "Of four operations, which were trained, KV shifting answers more with each of the eight seeds; that it does in "
    "the mean is not settled at the joint level. Of five and six both models answer hardly more than a guess would, or "
    'less, and solve next to none: there is nothing to compare, and "no difference" is a floor\'s.'
)


def section(registry) -> list[str]:
    """Accuracies of the shipped plan, what they rest on, the claim as the ledger rules it; empty where none ships."""
    if not IGSM.exists():
        return []
    bundle = read_bundle(IGSM)
    title = f"## {bundle.plan.title}: Table 4 of the KV-shifting paper (first version: Table 7)"
    claims = [
        f"`{sentence}`, {registry[sentence].verdict.value}: {registry[sentence].statement} What came out is about "
        "models and problems this small, and changes no ruling."
        for sentence in bundle.plan.sentences
    ]
    return [title, "", _made(bundle), "", *_table(bundle), "", FLOOR, "", _rests(bundle), "", *claims]


def _made(bundle: SolvedBundle) -> str:
    plan, training = bundle.plan, bundle.plan.training
    task, counts = training.task, " and ".join(f"{parameters(config):,}" for config in plan.models.values())
    return (
        f"`python -m scripts study igsm` repeats it. Models of {counts} parameters, {training.steps:,} steps of "
        f"{training.rows} x {training.length} tokens, trained on problems of {task.least} to {task.operations} "
        f"operations mod {task.modulus}; tested on {training.problems} of each number of operations in the table, of "
        "other templates, solved greedily. Answered, as the paper counts: some step gives the question its value (a "
        f"blind guess: one in {task.modulus}). Right: the whole solution has no mistake. The task was set in pilots: "
        "with letters in no order a shifted model solved no problem of four operations, so here letters follow one "
        "another."
    )


def _table(bundle: SolvedBundle) -> list[str]:
    plan = bundle.plan
    rows = [("share of problems", "seeds", plan.baseline, plan.variant, "difference", "outcome"), ("---",) * 6]
    for line in lines(bundle):
        difference = f"{100 * line.difference:+.1f} points [{100 * line.low:+.1f}, {100 * line.high:+.1f}]"
        shares = f"{line.baseline:.3f}", f"{line.variant:.3f}"
        rows.append((line.name, str(line.seeds), *shares, difference, outcome(plan, line)))
    return ["| " + " | ".join(row) + " |" for row in rows]


def _rests(bundle: SolvedBundle) -> str:
    plan, place = bundle.plan, bundle.place
    level = 100 * (1 - next(iter(plan.rules.values())).error)
    power = ", ".join(
        f"{100 * found:.0f} % at {100 * effect:g} points" for effect, (_, found) in POWER.items() if effect
    )
    return (
        f"The plan is fixed beforehand, pairs share seed and batches. All {len(plan.rules)} intervals hold at once, at "
        f"every look, with probability {level:g} % or more, if the differences of an accuracy are independent and "
        "normal of one mean and spread; they are about other seeds, not about other problems. Simulated beforehand, "
        f"for a spread of {100 * SPREAD:g} points from seed to seed, which was assumed: true gains are found in "
        f"{power}. Plan `{plan.sha256[:12]}`; torch {bundle.torch_version}, {place.device}, threads: {place.threads}."
    )
