"""The package as a whole: what importing it brings, and that its version is one."""

import subprocess
import sys

import optiscore


def test_import_brings_only_the_core_dependencies():
    code = (
        "import sys, optiscore; extras = {'matplotlib', 'pandas', 'rich', 'typer', 'dask', 'torch', 'mpmath'};"
        "print(*(extras & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_every_public_name_has_a_runnable_example():
    for name in optiscore.__all__:
        thing = getattr(optiscore, name)
        if callable(thing):
            assert ">>> " in (thing.__doc__ or ""), name
