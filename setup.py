"""The command lines in `scripts/` are installed as the package `induction_workbench`: no `scripts` in site-packages."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["theory*", "dynamics*", "proofs_check*"]), "induction_workbench",
              *(f"induction_workbench.{name}" for name in find_packages("scripts"))],
    package_dir={"induction_workbench": "scripts"},
)
