"""Look into the built distributions: they hold what they have to, no build products, and are small."""

import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

# The sdist holds the tests with their model files, and the data sets of the reproduction.
LARGEST = {".whl": 500_000, ".gz": 1_500_000}
PACKAGE = Path(__file__).parents[1] / "src" / "optiscore"
# Files that are not modules are easily forgotten.
IN_WHEEL = sorted(
    path.relative_to(PACKAGE).as_posix()
    for path in PACKAGE.rglob("*")
    if path.is_file() and path.suffix not in (".py", ".pyc")
)
IN_SDIST = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CITATION.cff",
    "Makefile",
    "tests/conftest.py",
    "tests/data/scores.csv",
    "tests/data/models/kernel.skops",
    "reproduction/expected.toml",
)


def main(folder: Path) -> None:
    """Check the wheel and the sdist in a folder."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        members = archive.namelist()
    tops = {PurePosixPath(name).parts[0] for name in members}
    expect(len(tops) == 2 and "optiscore" in tops, f"the wheel holds {sorted(tops)}")
    for name in IN_WHEEL:
        expect(f"optiscore/{name}" in members, f"the wheel lacks {name}")
    with tarfile.open(sdist) as tar:
        names = {str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in tar.getnames()}
    for name in (*IN_SDIST, *(f"src/optiscore/{name}" for name in IN_WHEEL)):
        expect(name in names, f"the sdist lacks {name}")
    for name in sorted({*members, *names}):
        expect("__pycache__" not in name and "_build" not in name, f"{name} is a build product")
    for path in (wheel, sdist):
        size = path.stat().st_size
        expect(size < LARGEST[path.suffix], f"{path.name} has {size:,} bytes")
        print(f"{path.name}: {size:,} bytes")


def expect(is_so: bool, otherwise: str) -> None:
    """Stop with a sentence."""
    if not is_so:
        sys.exit(f"{otherwise}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
