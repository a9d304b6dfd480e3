"""Trainings of a few steps: a full collection of garbage before each would take longer than they do."""

import gc

import pytest


@pytest.fixture(autouse=True)
def no_collections(monkeypatch):
    monkeypatch.setattr(gc, "collect", lambda *_: 0)
