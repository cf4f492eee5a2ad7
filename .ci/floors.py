"""Print pyproject's lower bounds as exact versions: the constraints of `make test-oldest`."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
listed = project["dependencies"] + [line for extra in project["optional-dependencies"].values() for line in extra]
for line in listed:
    if match := re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", line):
        print("==".join(match.groups()))
