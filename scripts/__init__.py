"""Thin command lines; no formula lives here. Installed as `induction_workbench`, with the command of that name."""

from theory import __version__ as __version__
