"""What the reproduction is held against, from `expected.toml`: hashes of the data, the printed table, tolerances."""

import tomllib
from importlib.resources import files
from typing import Any

EXPECTED: dict[str, Any] = tomllib.loads((files(__package__) / "expected.toml").read_text(encoding="ascii"))
