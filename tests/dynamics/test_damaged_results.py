"""Results, bundles and states that say what no run leaves are refused in a line that names the file.

Each was whole, and its hash was made anew after the change: who reads it has to count.
"""

import json
import re

import pytest
import torch
from safetensors.torch import load_file, save_file

from dynamics.arena import bundle, dissected, solved
from dynamics.arena.solving_plan import SolvingResult
from dynamics.comparison import by_distance, record, theorem
from dynamics.files.hashed import write_hashed
from dynamics.files.shipped import FOLDER
from dynamics.sweep import job, shipped
from dynamics.training import loop, state
from dynamics.training.folder import StoredHistory
from tests.dynamics.folders import contents
from tests.dynamics.interruption import interrupt
from tests.dynamics.refusal import changed, damages, refused
from tests.dynamics.sweep.test_run import MEASURE, jobs
from tests.dynamics.training.test_loop import run

pytestmark = pytest.mark.usefixtures("one_thread")

IGSM, COMPARED = solved.read_bundle(solved.IGSM), record.read_comparison()
FILES = {  # of a folder that is not finished, and has no hash of them
    "arena": bundle.shipped_arena("rates").results["kv-shift.seed-0"],
    "solving": SolvingResult(run=IGSM.plan.run("vanilla", 0), solved=IGSM.solved["vanilla"][0]),
    "sweep": shipped.shipped_sweep("figure-9-50m").results[0],
    "part": record.Part(settings=COMPARED.settings, heads=COMPARED.heads[0], cells=COMPARED.cells[:2]),
    "history": StoredHistory(accuracy=[0.5, 1.0], loss=[1.0, None]),
}
BUNDLES = {
    "bundle": ("arena/rates.json", bundle.read_bundle),
    "solved": ("arena/igsm.json", solved.read_bundle),
    "dissected": ("arena/dissected.json", dissected.read_dissection),
    "curves": ("sweeps/figure-9-50m.json", shipped.read_bundle),
    "compared": ("comparison/compare.json", record.read_comparison),
    "theory": ("comparison/theorem.json", theorem.read_theorem),
    "scopes": ("comparison/attention_by_distance.json", by_distance.read_scopes),
}
RESULTS = """
arena | loss=[] | loss: 0 where there must be 1
arena | loss=[[]] | loss: 0 where there must be 3
arena | loss/0=[2.0] | loss: 1 where there must be 3
arena | loss=[[3, 3, 2], [3, 3, 2]] | loss: 2 where there must be 1
arena | loss/0/2=0.0 | greater than 0
arena | loss/0/2=-2.5 | greater than 0
arena | loss/0/2=NaN | a finite number
arena | steps=[100] | steps: [100] where there must be [100, 200, 300]
arena | steps=[300, 200, 100] | where there must be [100, 200, 300]
arena | steps/2=400 | where there must be [100, 200, 300]
arena | by_place=[] | by_place: 0 where there must be 1
arena | by_place/0=[2.0] | by_place: 1 where there must be 8
arena | run/training/scores=2 | where there must be [150, 300]
arena | more=1 | Extra inputs
arena | run=gone | run: Field required
bundle | curves/vanilla/loss/5=gone | by_place: 8 where there must be 7
bundle | curves/vanilla=gone | there is no vanilla.seed-0
bundle | curves/vanilla={"steps": [100, 200, 300], "loss": [], "by_place": []} | there is no vanilla.seed-0
bundle | curves/vanilla/loss/0=[] | loss: 0 where there must be 3
bundle | curves/vanilla/steps=[100] | steps: [100] where there must be
bundle | curves/gpt={"steps": [100, 200, 300], "loss": [], "by_place": []} | 'gpt' is no entry of the plan
bundle | plan=gone | plan: Field required
solving | solved/answered=[2] | [2]: not of 3 times 300 problems
solving | solved/answered=[0, 0, 0] | more than [0, 0, 0] are answered
solving | solved/answered/0=301 | not of 3 times 300 problems
solving | solved/loss=[1.0] | loss: 1 where there must be 10
solving | solved/loss/0=-1.0 | greater than or equal to 0
solved | solved/vanilla/0/right=[301, 0, 0] | vanilla.seed-0: the whole record: [301, 0, 0]: not of 3
solved | solved/vanilla/0/loss=[] | loss: 0 where there must be 10
solved | solved/vanilla=gone | the models are
dissected | seen/vanilla/3=gone | seen: 3 where there must be 4
dissected | curves/vanilla/loss/3=gone | loss: 3 where there must be 4
dissected | curves/vanilla=gone | entries
dissected | seen/vanilla=gone | entries
dissected | seen/vanilla/0/moments/1/step=1 | vanilla: not seen after
dissected | seen/vanilla/0/contexts=[2.0] | vanilla: not seen after
sweep | steps_to_level=3 | steps_to_level: 3 where the accuracies say 18
sweep | steps_to_level=null | steps_to_level: None where the accuracies say 18
sweep | accuracy/5=0.9 | the job does not end after 18 steps
sweep | accuracy/4=0.99 | the job does not end after 18 steps
sweep | accuracy=[0.1] | accuracy: 1 where there must be 6
sweep | accuracy/5=1.5 | less than or equal to 1
sweep | accuracy/0=NaN | accuracy.0
sweep | loss/1=-0.5 | greater than or equal to 0
sweep | steps/5=99999 | not those after which the job is scored
sweep | steps=[18, 15, 12, 9, 6, 3] | not those after which the job is scored
curves | curves/kv-shift.50M.seed-0=gone | the curves are not those of the manifest's jobs
curves | curves/kv-shift.50M.seed-0={"accuracy": [], "loss": []} | seed-0: the whole record: steps: 0
curves | curves/kv-shift.50M.seed-0/loss=[1.0] | loss: 1 where there must be 6
curves | curves/kv-shift.50M.seed-0/accuracy=[0.1, 0.1] | loss: 6 where there must be 2
curves | curves/kv-shift.50M.seed-0={"accuracy": [0.1], "loss": [1.0]} | the job does not end after 3 steps
history | accuracy/0=1.5 | less than or equal to 1
history | loss/0=-1.0 | greater than or equal to 0
history | loss/0=gone | accuracy: 2 where there must be 1
part | cells/0/bits/0=gone | bits: 31 where there must be 32
part | cells/0/hits/0=99 | hits: 99 right of 8
part | cells/0/seed=7 | cells: not those of the plan
compared | cells/0=gone | cells: not those of the plan
compared | cells/110=gone | cells: 110 where there must be 111
compared | heads/2=gone | heads: 2 where there must be 3
theory | runs/scalar/0/steps/0=gone | predicted: 51 where there must be 50
theory | runs/scalar/0/measured/row/0=gone | row: 50 where there must be 51
scopes | heads/0/largest=[] | at least 1 item
scopes | heads/0/largest/0=1.5 | less than or equal to 1
"""
STATES = """
state | history.accuracy=[0.5] | history of {'accuracy': 1, 'loss': 4} after 1 of 12 steps
state | history.loss=gone | history of {'accuracy': 4}
state | history.accuracy/0=1.5 | accuracy has a value out of range
state | history.loss/0=-1.0 | loss has a value out of range
state | step.embedding=40 | not those after 4 steps
state | exp_avg.embedding=gone | tensor exp_avg.embedding is missing
state | exp_avg_sq.embedding/0/0=-1.0 | the moments of embedding are not
state | model.embedding/0/0=NaN | not finite
state | settings=gone | settings: not readable as JSON
state | settings/steps=13 | the interrupted run has steps=13, not 12
state | settings/more=1 | the interrupted run has more=1, not None
state | settings/task="induction" | the interrupted run has task
state | settings/environment/threads=2 | has environment.threads=2, not 1; go on with the same --threads
state | settings/environment/torch="1.0" | has environment.torch=1.0, not
state | settings/environment/version="0" | has environment.version=0, not
state | settings/environment/device="cuda:0" | has environment.device=cuda:0, not cpu
read | history.loss=gone | history of {'accuracy': 4}
read | settings/width=0 | width: Input should be greater
job | history.step=[4] | no run has a history of
job | history.accuracy=[0.5, 0.5] | no run has a history of
"""


@damages(RESULTS)
def test_results_that_are_not_those_of_a_run_are_refused(kind, change, words, tmp_path):
    path = tmp_path / "file"
    if kind in BUNDLES:
        name, read = BUNDLES[kind]
        text = (FOLDER / name).read_text()
    else:
        text, cls = FILES[kind].model_dump_json(), type(FILES[kind])

        def read(path):
            return cls.parsed(path.read_bytes(), str(path))

    write_hashed(path, text)
    read(path)
    changed(found := json.loads(text), change)
    write_hashed(path, json.dumps(found))
    refused(f"^{re.escape(str(path))}: .*{re.escape(words)}", read, path)


WORK = {
    "state": ("state.safetensors", loop, lambda path: run(out=path.parent, resume=path.exists())),
    "job": ("job-0.safetensors", job, lambda path: job.run_job(jobs(1)[0], MEASURE, job.Place(str(path.parents[1])))),
    "read": ("state.safetensors", loop, state.read_model),
}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The states of a training and of a sweep's job, by name, after four steps."""
    folder = tmp_path_factory.mktemp("a") / "states"
    for name, module, work in (WORK["state"], WORK["job"]):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            interrupt(patch, module, "train_step", 4)
            work(folder / name)
    return {path.name: load_file(path) for path in folder.iterdir()}


def write_state(path, tensors, change):
    """A state with a change and a digest of its own."""
    found = {name: tensor.tolist() for name, tensor in tensors.items() if name != "sha256"}
    found["settings"] = json.loads(bytes(found["settings"]))
    changed(found, change)
    if "settings" in found:
        found["settings"] = list(json.dumps(found["settings"]).encode())
    made = {name: torch.tensor(values, dtype=tensors[name].dtype) for name, values in found.items()}
    path.parent.mkdir()
    save_file(made | {"sha256": state._bytes(state._digest(made))}, path)


@damages(STATES)
def test_states_that_are_not_those_of_a_run_are_refused(kind, change, words, tmp_path, stopped):
    name, _, work = WORK[kind]
    path = tmp_path / "states" / name
    write_state(path, stopped[name], change)
    before = contents(tmp_path)
    refused(f"^{re.escape(str(path))}: .*{re.escape(words)}", work, path)
    assert contents(tmp_path) == before


def test_a_state_of_an_earlier_version_names_no_environment_and_is_gone_on_with(tmp_path, stopped):
    name, _, work = WORK["state"]
    write_state(tmp_path / "states" / name, stopped[name], "settings/environment=gone")
    assert work(tmp_path / "states" / name).history == run().history
