"""Where the models and results that come with the package lie: one folder, a subfolder for each room that made them."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "shipped"
