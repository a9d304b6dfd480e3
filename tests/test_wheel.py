"""What is installed: a wheel that works outside the checkout, and leaves no `scripts` or `tests` in site-packages."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import theory

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"theory": "theory", "dynamics": "dynamics", "proofs_check": "proofs_check", "scripts": "induction_workbench"}
OURS = tuple(FOLDERS.values())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built from a copy, so that nothing left over from other builds gets in."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", out]
    subprocess.run([*build, source], check=True, capture_output=True, env=os.environ | {"PYTHONWARNINGS": ""})
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel unpacked, a folder elsewhere with a `scripts` package of its own, and a function that runs there."""
    site, elsewhere = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("elsewhere")
    zipfile.ZipFile(wheel).extractall(site)
    (elsewhere / "scripts").mkdir()
    for file in ("__init__.py", "cli.py", "verify.py"):
        (elsewhere / "scripts" / file).write_text("raise RuntimeError('another project')\n", "utf-8")

    def run(*arguments, most=120):
        environment = os.environ | {"PYTHONPATH": str(site), "PYTHONWARNINGS": ""}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=most)

    return run, site, elsewhere


def test_a_wheel_holds_the_packages_and_what_they_ship_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(OURS)
    assert {f"{package}/py.typed" for package in OURS} <= set(names)
    for folder, package in FOLDERS.items():
        files = [path.relative_to(ROOT / folder) for path in (ROOT / folder).rglob("*") if path.is_file()]
        expected = {f"{package}/{path.as_posix()}" for path in files if "__pycache__" not in path.parts}
        assert {name for name in names if name.startswith(f"{package}/")} == expected


def test_what_is_installed_is_what_runs(installed):
    run, site, _ = installed
    code = f"""
for name in {OURS}: print(__import__(name).__file__)
import induction_workbench, theory; print(induction_workbench.__version__, theory.__version__)
"""
    told = run("-c", code).stdout.split()
    assert told == [*(str(site / name / "__init__.py") for name in OURS), theory.__version__, theory.__version__]


def test_the_command_works_in_a_folder_with_a_scripts_package_of_its_own(installed):
    run, _, elsewhere = installed
    done = run("-m", "induction_workbench", "verify", "--id", "kv.fig1a.kv_shift.trained", "--json", "v.json")
    assert (done.returncode, done.stderr) == (0, "") and "kv.fig1a.kv_shift.trained" in done.stdout
    assert (elsewhere / "v.json").is_file()
    (elsewhere / "mine.py").write_text(
        "from helper import x\nfrom proofs_check.language import exp, statement\n"
        "statement('m', for_all=[x], says=exp(x) >= 1 + x)\n",
        "utf-8",
    )
    (elsewhere / "helper.py").write_text("from proofs_check.language import real\nx = real('x')\n", "utf-8")
    done = run("-m", "induction_workbench", "verify", "--claims", "mine.py")
    assert done.returncode == 0 and "m: proved" in done.stdout, done.stdout + done.stderr
    done = run("-m", "induction_workbench", "--help")
    assert done.returncode == 0 and "induction-workbench" in done.stdout and "construct" in done.stdout
    assert "json claims nothing" in run("-m", "pytest", "--conform", "json").stdout
    done = run("-m", "induction_workbench", "report")
    assert done.returncode == 2 and "induction-workbench verify --json" in done.stderr


def test_what_ships_is_read_from_where_it_is_installed(installed):
    run, site, _ = installed  # what the sweeps ship is read in the test before this
    model = site / "dynamics" / "shipped" / "models" / "alibi-text"
    done = run("-m", "induction_workbench", "scope", str(model), "--eps", "1e-3", "--mass", "1e-2")
    assert done.returncode == 0 and "layer" in done.stdout, done.stderr


@pytest.mark.deep
def test_the_first_notebook_runs_where_the_wheel_is_installed(installed, tmp_path):
    run, site, _ = installed
    assert not list(site.rglob("notebooks/*.py"))
    script = (ROOT / "examples" / "notebooks" / "one_layer_induction_head.py").read_text("utf-8")
    (tmp_path / "notebook.py").write_text(f"import matplotlib\nmatplotlib.use('agg')\n{script}", "utf-8")
    done = run(str(tmp_path / "notebook.py"), most=180)
    assert done.returncode == 0 and "confirmed - proved" in done.stdout, done.stderr


@pytest.mark.deep
@pytest.mark.timeout(1800)
def test_the_wheel_works_in_an_empty_environment(wheel, tmp_path):
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, env=alone)
    programs = tmp_path / "venv" / "bin"
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel]
    subprocess.run(pip, check=True, env=alone)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for arguments in (["--version"], ["verify", "--id", "kv.thm3.3"], ["figure", "landscape", "--out", "fig"]):
        subprocess.run([programs / "induction-workbench", *arguments], cwd=elsewhere, check=True, env=alone)
    assert (elsewhere / "fig.png").is_file()
