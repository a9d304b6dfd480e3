"""Bad input to any command: one line of error that says what is wrong, exit status 2, nothing written."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dynamics.razor.plan_file import write_plan
from dynamics.training.checkpoint import SHIPPED
from scripts import __main__ as one_command
from scripts.commands import receipt, table
from tests.dynamics.weights import checkpoint_files as files
from tests.scripts.commands import contents

ROOT = Path(one_command.__file__).parents[1]
FIGURES = [f"fig_{name}" + " run" * (name == "training") for name in table.FIGURES]
ADAPTER = ROOT / "examples/conform/transformers_mpt.py"
ALIBI = f"{SHIPPED}/alibi-text"
TEXT = f"{ALIBI} --text {ROOT}/LICENSE"
ZEROS = "0" * 64
RESULTS = {"empty": "", "brace": "{", "list": "[]", "short": '{"claims": []}', "three": '{"claims": 3, "summary": {}}'}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with a model, files that are not what they should be, and what is no file at all."""
    here = tmp_path_factory.mktemp("here")
    files.write(here / "model", files.LLAMA, files.random_tensors(files.llama_shapes(files.LLAMA)))
    for folder in ("text", "other"):
        (here / folder).mkdir()
    for name in ("file", "text/plan.json", "other/note.txt"):
        (here / name).write_text("mine")
    for name, text in RESULTS.items():
        (here / f"{name}.json").write_text(text)
    (here / "link.json").symlink_to("elsewhere")
    for name, values in {"pair": np.ones((2, 3)), "half": [0.5], "table": [[0]], "object": np.array([{}])}.items():
        np.save(here / name, values)
    (here / "blank").write_text(" \n")
    (here / "latin").write_bytes(b"na\xefve")
    (here / "ids").write_text("0 1 2 3 " * 9)
    (here / "zip.npy").write_bytes(b"PK\3\4junk")
    (here / "many").write_text("5000 " * 300)
    np.savez(here / "few.npz", w_q=np.eye(6))
    np.savez(here / "objects.npz", w_q=np.array([{}]))
    for name, matrix in (("turned", np.ones((6, 2))), ("nan", np.full((6, 6), np.nan))):
        np.savez(here / name, **dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), matrix))
    write_plan(here / "small.json", replace(receipt.default_plan(1, 8, 8, 48), share=Fraction(0)))
    return here


@pytest.fixture
def here(prepared, monkeypatch):
    monkeypatch.chdir(prepared)
    return prepared


IDS = "sinks model --json r.json --tokens ids --window 12"
HERE = "--alpha1 0 --alpha2 1 --beta1 1 --beta2 0"
# a command, and words of what is said of it
TABLE = f"""
scope MODEL --eps .1 --json '' | expected a name, got '
scope MODEL --eps .1 --figure ' ' | expected a name, got '
fig_landscape --out '' | expected a name, got '
train --out '' | expected a name, got '
inspect '' | expected a name, got '
sweep --out '' | expected a name, got '
sweep --bundle '' | expected a name, got '
compare --out '' | expected a name, got '
scalar --out '' | expected a name, got '
theory --out '' | expected a name, got '
verify --json '' | expected a name, got '
report --out '' | expected a name, got '
__main__ | give a command: verify, train, inspect,
__main__ verify --jobs 0 | --jobs
__main__ verfy | no command 'verfy': did you mean verify
__main__ fig_landscape | fig_landscape is now: figure landscape
__main__ scalar --table | scalar is now: study scalar
__main__ figure | give a figure:
__main__ figure landscpe | no figure 'landscpe': did you mean landscape?
__main__ study zzz | no study 'zzz': choose from scalar, theory, igsm
arena --jobs 0 | --jobs
arena latent --quick | --quick is a plan of its own: not with latent
arena --speeds s.json --table | --speeds and --table do not go together
arena --ways w.json --choose | --ways and --choose do not go together
arena --quick --ways w.json --threads 2 | --ways measures one CPU thread a process
arena --scheduler tcp://localhost:1 --choose | --scheduler and --choose do not go together
arena --table --choose | --table and --choose do not go together
arena --threads x | --threads
arena --device tpu | device
arena no-such | invalid choice: 'no-such'
arena --quick --table --out none | No such file
arena --json link.json --table | symbolic link
arena --bundle text --table | text: it is a folder
arena --quick --table --out text | plan.json
audit nobody --out out | unknown paper 'nobody'
audit waiver --out file | file
compare --out out --seeds 0 | --seeds: expected a whole number in 1..100, got '0'
compare --out out --device tpu | device must be auto, cpu or cuda[:N], got 'tpu'
compare --out out --threads 0 | --threads: expected a whole number >= 1, got '0'
compare --out out --fast | unrecognized arguments: --fast
compare --out out --device cuda:99 | no device cuda:99
compare --out file | not a folder
conform --json r.json | give a MODULE
conform nowhere.py --json r.json | nowhere.py cannot be loaded
conform no_such_module_here | no_such_module_here cannot be loaded
conform json --json r.json | claims nothing
conform {ADAPTER} --only slopes --json r.json | no check or subject 'slopes'
conform {ADAPTER} --json new/ | it names a folder
conform {ADAPTER} --seed -1 | expected a whole number
construct thm9 --json r.json | invalid choice: 'thm9'
construct thm3.3 --length 2 --json r.json | --length: expected a whole number in 3..1024, got '2'
construct k-only --dim 2 --json r.json | dim must be a whole number >= 3, got 2
construct appA --sigma 0 --json r.json | sigma must be a finite number > 0, got 0.0
construct appA --sigma 1e-300 --json r.json | the numbers are too large or too small for rounding
construct def3.1 --slope 1e20 --json r.json | the scores are too large to tell anything: rounding can reach
construct appA --copy-slope -1 --json r.json | copy_slope must be a finite number >= 0, got -1.0
construct thm3.3 --copy-slope 1 --json r.json | thm3.3 takes no copy_slope
construct v-only --length 6 --json r.json | v-only takes no length
construct def3.1 --slope -1 --json r.json | slope must be finite numbers >= 0 only, got -1.0
construct thm3.3 --matrices none.npz --json r.json | No such file
construct thm3.3 --matrices file --json r.json | file: File is not a zip file
construct thm3.3 --matrices objects.npz --json r.json | objects.npz: Object arrays cannot be loaded
construct thm3.3 --matrices few.npz --json r.json | matrices must be w_q, w_k, w_v, and w_o of 6 rows, got w_q
construct thm3.3 --matrices nan.npz --json r.json | w_q must be finite numbers only, got nan
construct thm3.3 --matrices turned.npz --json r.json | w_q must have shape (at least 1, 6), got (6, 2) (its tr
dissect --jobs 0 | --jobs
dissect --table --quick | --quick trains: with --table name its folder
dissect --table --out none | No such file
dissect --table --bundle text | text: it is a folder
dissect --quick --out other --quiet | not empty, and no arena
fig_heads --table x.jsonl | --table needs the --sweep
fig_heads --sweep nowhere | nowhere
fig_landscape --tokens 3 --format png --out new | T = 3 has no interior position
fig_landscape --tokens 1000001 | 2..1000000
fig_landscape --tokens 4,x | --tokens
fig_landscape --tokens 4,5,6,7,8,9,10,11,12,13 | --tokens
fig_landscape --rows exact,wrong --out new | one or more of exact, equation, listing, got 'exact,wrong'
fig_landscape --rows exact,exact --out new | --rows
fig_landscape --axes beta1 beta2 --out new | need values of alpha1 and alpha2, got none
fig_landscape --axes beta1 beta1 --fix alpha1=0 --out new | two different names
fig_landscape --fix alpha2=1-alpha2 beta2=0 --out new | affine in alpha1 and beta1
fig_landscape --fix alpha2 --out new | NAME=VALUE
fig_landscape --fix alpha2=1 alpha2=2 beta2=0 --out new | --fix gives one parameter twice
fig_landscape --box 1 0 0 1 --out new | box must run upwards
fig_landscape --box 0 nan 0 1 --out new | expected a finite number, got 'nan'
fig_landscape --position middle --out new | expected interior, first, last, end, mean or a whole number
fig_landscape --tokens 12 --position 13 --out new | whole number in 1..12
fig_landscape --rows listing --position end --out new | interior position
fig_landscape --tokens 5 --start nowhere.npy --out new | nowhere.npy
fig_landscape --tokens 5 --start file --out new | file:
fig_landscape --tokens 5 --start zip.npy --out new | zip.npy: the magic string is not correct
fig_landscape --tokens 5 --points pair.npy --out new | the points of pair.npy must be finite numbers
landscape --alpha1 0 --alpha2 1 --beta1 1 --tokens 5 | --beta2
landscape {HERE} --tokens 1 | --tokens
landscape {HERE} --tokens 3 | T = 3 has no interior position
landscape {HERE} --tokens 5 --position 6 | whole number in 1..5
landscape {HERE} --tokens 5 --time 0 | t_end
landscape {HERE} --tokens 5 --json file/new.json | not a folder
landscape --alpha1 900 --alpha2 1 --beta1 1 --beta2 0 --tokens 5 | [-500, 500]
fig_landscape --seed -1 | --seed: expected a whole number >= 0, got '-1'
fig_landscape --format '' | expected pdf, png
fig_landscape --tokens 5 --format png --out file/figure | not a folder
fig_learning_time more | unrecognized arguments: more
fig_phase_portrait --tokens 3 | --tokens
fig_scope_bounds --quick --out x --measured none.json | none.json
fig_sweep --preset figure-9000 | no shipped results of 'figure-9000'
fig_sweep --preset ../etc | no preset '../etc'
fig_sweep --sweep nowhere | nowhere
fig_training | the following arguments are required: RUN
fig_training nowhere | nowhere: no such folder
fig_training text | text: no log.jsonl in this folder, nor one or two levels below it
fig_training {SHIPPED}/kv-shift | kv-shift: no log.jsonl
fig_training text --tokens 1 | --tokens: expected a whole number in 2..4096, got '1'
igsm --jobs 0 | --jobs
igsm latent | unrecognized arguments: latent
igsm --quick --table | no quick plan ships: --table --quick needs --out
igsm --table --out none | No such file
igsm --table --json link.json | symbolic link
igsm --table --bundle text | text: it is a folder
igsm --table --out text | plan.json
igsm --quick --out text | another plan
igsm --quick --out text/plan.json | not a folder
receipt | give MODEL and one of --text, --tokens and --records, or --attack N
receipt {ALIBI} | give MODEL and one of --text, --tokens and --records
receipt {ALIBI} --attack 5 | --attack takes --seed and --json alone, got model
receipt --attack 5 --plan s.json | --attack takes --seed and --json alone, got plan
receipt {TEXT} --plan /dev/zero | error: /dev/zero: a device, not a file
receipt {ALIBI} --text /dev/zero | error: /dev/zero: a device, not a file
receipt {ALIBI} --tokens many | tokens must be in 0..159, got 5000
receipt {TEXT} --error .1 --json x --write-plan x | error: --json and --write-plan
receipt {TEXT} --error 1 | --error must lie strictly between 0 and 1, got 1
receipt {TEXT} --error nan | argument --error: expected a finite number, got 'nan'
receipt {TEXT} --write-plan p.json | --write-plan needs --error
receipt {TEXT} --context 99999 | the text has 11
receipt {TEXT} --context 7 | argument --context: expected a whole number >= 8, got '7'
receipt {TEXT} --plan absent.json | error: [Errno 2] No such file or directory: 'absent.json'
receipt {TEXT} --plan file | error: file: not readable as JSON
receipt {TEXT} --plan small.json | the plan is for 1 layers of 8 heads and 8 key-value heads
receipt nowhere --text {ROOT}/LICENSE | error: nowhere:
receipt {TEXT} --json /dev/null | cannot write /dev/null: it is a device
report --out text | cannot write
report --out file/below.html | cannot write
report --from none.json --out r.html --figures . | none.json
scalar --out text | it is a folder
theory --out text | it is a folder
theory --seeds 1 | --seeds: expected a whole number in 2..100, got '1'
scalar --seed -1 | --seed: expected a whole number >= 0, got '-1'
scalar --format svg | unrecognized arguments: --format svg
scalar --quick --full | unrecognized arguments: --full
scope model --eps 0 | eps must lie strictly between 0 and 1, got 0
scope model --eps 1 | eps must lie strictly between 0 and 1
scope model --eps -1e-3 | eps must lie strictly between 0 and 1, got -0.001
scope model --eps -inf | --eps: expected a finite number, got '-inf'
scope model --eps small | --eps: expected a finite number, got 'small'
scope model | --eps
scope model --eps .1 --mass 1 | mass must lie strictly between 0 and 1
scope model --eps .1 --mass 0 | mass must lie strictly between 0 and 1
scope model --eps .1 --window -1 | --window: expected a whole number >= 1, got '-1'
scope model --eps .1 --window 2.5 | --window
scope model --eps .1 --context 0 | --context
scope model --eps .1 --slope -1 | argument --slope: not allowed with MODEL
scope model --eps .1 --matrices x.npz | argument --matrices: not allowed with argument MODEL
scope --eps .1 | one of the arguments MODEL --matrices is required
scope --matrices x.npz --eps .1 --window 5 | argument --window: not allowed with --matrices
scope --matrices /dev/zero --eps .1 | error: /dev/zero: a device, not a file
scope --matrices x.npz --eps 2 | eps must lie strictly between 0 and 1, got 2
scope model --eps .1 --sha256 model.safetensors=12 | 64 hexadecimal digits
scope model --eps .1 --sha256 model.safetensors={ZEROS} | model.safetensors
scope model --eps .1 --sha256 x.bin={ZEROS} | x.bin
scope model --eps .1 --heads 0,2 | layer must be in 0..1, got 2
scope model --eps .1 --heads 0.1,1.4 | heads of layer 1 must be in 0..3, got 4
scope model --eps .1 --heads all | such as 3,7.0,7.2, got 'all'
scope model --eps .1 --heads 0.-1 | such as 3,7.0,7.2, got '0.-1'
scope model --eps .1 --figure map --format gif | expected pdf, png or pdf,png
scope model --eps .1 --json model | it is a folder
scope model --eps .1 --figure model/config.json/map | is not a folder
heads model --length 11 | --length: expected a whole number >= 12, got '11'
heads model --exclude a | expected ids such as 0,5, got 'a'
heads model --quiet --exclude 99999 --json r.json | excluded ids must be in 0..
heads model --text nowhere --json r.json | No such file or directory: 'nowhere'
heads model --quiet --tokens many --json r.json | a text needs 3 tokens in 0..
sinks model | one of the arguments --text --tokens --records is required
sinks model --text file --tokens ids | not allowed with argument
sinks model --text nowhere | No such file or directory: 'nowhere'
sinks model --text model | Is a directory
sinks model --text blank | blank: the text is empty
sinks model --text latin | latin: not UTF-8
sinks model --tokens nowhere.npy | No such file or directory
sinks model --tokens file | file: 'mine' is not the number of a token
sinks model --tokens blank | blank: the text is empty
sinks model --tokens half.npy | half.npy: tokens are whole numbers in one row
sinks model --tokens table.npy | table.npy: tokens are whole numbers in one row
sinks model --tokens object.npy | object.npy: not an array of numbers
{IDS} --begin 5 | tokens must be in 0..4, got 5
{IDS} --window 1 | --window: expected a whole number >= 2, got '1'
{IDS} --layers all | expected layers such as 0,3,7, got 'all'
{IDS} --mask 12 | token 12 is outside the window: 0..11
{IDS} --mask @1 | expected a token and layers such as 5 or 5@0,2.1, got ''
{IDS} --mask 1,2 | expected one token, got '1,2'
{IDS} --mask 1@all | such as 3,7.0,7.2, got 'all'
{IDS} --mask 1 --swap 1,2 | not allowed with argument
{IDS} --swap 3 | expected two different tokens such as 0,5, got '3'
{IDS} --swap 3,3 | expected two different tokens such as 0,5, got '3,3'
{IDS} --dtype int8 | --dtype: invalid choice: 'int8'
{IDS} --device tpu | device must be auto, cpu or cuda[:N], got 'tpu'
{IDS} --figure map --format gif | expected pdf, png or pdf,png, got 'gif'
{IDS} --json model | it is a folder
{IDS} --figure file/map | is not a folder
{IDS} --seed 1 | unrecognized arguments
sinks {SHIPPED}/small-vanilla-2 --text file | bytes need a vocabulary of 128
sinks {SHIPPED}/small-vanilla-2 --tokens many | tokens must be in 0..31
sweep --out out --seeds 0 | --seeds: expected a whole number >= 1, got '0'
sweep --out out --jobs none | got 'none'
sweep --out out --preset figure-9000 | no preset 'figure-9000'; there are coupling
sweep --out out --preset figure-1a-quick --paper-size | figure-1a-quick has no preset figure-1a-quick-paper
sweep --out out --preset figure-1a figure-1a | each experiment once
sweep --out out --preset figure-1a figure-1b --bundle b.json | --bundle takes one experiment
sweep --out out --quick --paper-size | not allowed with
sweep --out out --backend mpi | invalid choice
sweep --out out --backend dask | --scheduler
sweep --out out --scheduler tcp://localhost:1 | --backend dask
sweep --out out --device abacus --quick | device must be
train --out out --steps 0 | --steps: expected a whole number >= 1, got '0'
train --out out --seed -1 | got '-1'
train --out out --seed {2**64} | seed
train --out out --preset gpt | invalid choice: 'gpt'
train --out out --shift vk | invalid choice: 'vk'
train --out out --width 66 | width 66 is not a multiple of n_heads 4
train --out out --heads 64 | even head size
train --out out --task hop --set width=9 | hop: width: Extra inputs
train --out out --layers 999 | n_layers
train --out out --threads 0 | --threads
train --out out --device abacus | device must be auto, cpu or cuda[:N], got 'abacus'
train --out out --resume | nothing to resume
train --out out --compare --resume | no interrupted run in out/small-kv-shift, out/small-
train --out out --resume --overwrite | not allowed with
train --out out --compare --task hop | hop is compared, with seeds, by python -m scripts sweep --preset hop-k
train --out out --compare --preset vanilla-1 | not allowed with
inspect nowhere | nowhere
train --inspect nowhere | --inspect is now a command: python -m scripts inspect nowhere
train --out out --unknown | unrecognized arguments: --unknown
train --out file --steps 2 | not a folder
verify --id kv.thm3.4.limit --false | no claim that matches 'kv.thm3.4.limit' is false
verify --jobs 0 | --jobs: expected a whole number
verify --quick --full | not allowed with
transcribe | --papers
transcribe --papers text | text/kv-shifting.txt
verify --colour | unrecognized arguments
verify --json | expected one argument
verify --id kv.tab3 --json text | cannot write
verify --claims nowhere.py --json file | it holds no verdicts
"""
REFUSED = [
    *(row.split(" | ") for row in TABLE.strip().splitlines()),
    *((f"{name} --format svg", "expected pdf, png") for name in FIGURES),
    *((f"{name} --quick --full", "not allowed with") for name in FIGURES),
    *((f"{name} --out /dev/full", "cannot write /dev/full: it is a device") for name in FIGURES),
    *((f"report --from {name}.json --out r.html --figures .", f"{name}.json") for name in RESULTS),
    *((f"verify --id kv.tab3 --json {name}", "it holds no verdicts") for name in ("file", "list.json", "brace.json")),
]


@pytest.mark.parametrize(("line", "words"), REFUSED)
def test_bad_input_is_one_line_and_writes_nothing(line, words, here, refused):
    before = contents(here)
    refused(line, words)
    assert contents(here) | {"other/.lock": b""} == before | {"other/.lock": b""}
