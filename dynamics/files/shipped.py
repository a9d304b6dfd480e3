"""The folder of the data that comes with the package: subfolders for models, sweeps, comparison and scalar results.

Every file has the hash of its bytes beside it (`hashed`), but that of weights is in their manifest.
"""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "shipped"
