"""The documentation as a whole: public names are in the reference and in an example, and README shows what is so."""

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import optiscore
from optiscore.documented import SITE

ROOT = Path(__file__).parent.parent
MODULES = ("", *(f".{name}" for name in optiscore._SUBPACKAGES))


def public_names():
    """Module, name and object of everything that may be imported, once each: where the path is shortest."""
    seen, found = set(), []
    for suffix in MODULES:
        module = importlib.import_module(f"optiscore{suffix}")
        for name in module.__all__:
            thing = getattr(module, name)
            if id(thing) not in seen:
                seen.add(id(thing))
                found.append(pytest.param(module, name, thing, id=f"{module.__name__}.{name}"))
    return found


def estimators():
    """Those that are."""
    return [
        each for each in public_names() if inspect.isclass(each.values[2]) and issubclass(each.values[2], BaseEstimator)
    ]


def listed():
    """The names in the tables of the reference, and its text, which has the constants."""
    page = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    tables = re.findall(r"```\{eval-rst\}\n(.*?)```", page, flags=re.DOTALL)
    return {line.strip() for table in tables for line in table.splitlines()}, page


@pytest.mark.parametrize(("module", "name", "thing"), public_names())
def test_every_public_name_is_in_the_reference(module, name, thing):
    path = f"{module.__name__}.{name}".removeprefix("optiscore.")
    is_constant = not (inspect.isclass(thing) or inspect.isfunction(thing))
    tables, page = listed()
    assert re.search(rf"`(optiscore\.)?{name}`", page) if is_constant else path in tables


@pytest.mark.parametrize(("module", "name", "thing"), public_names())
def test_every_public_function_and_class_has_a_runnable_example(module, name, thing):
    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert ">>> " in (thing.__doc__ or "")


def callables(thing):
    """A public function itself, or what a class defines of its own: its construction and its methods."""
    if inspect.isfunction(thing):
        yield thing, thing.__doc__
    if inspect.isclass(thing):
        bases = [base.__doc__ or "" for base in thing.__mro__ if base.__module__.startswith("optiscore")]
        if thing.__init__ is not object.__init__ or thing.__new__ is not object.__new__:
            yield thing, "\n".join(bases)
        for name, method in vars(thing).items():
            function = getattr(method, "__func__", method)
            if inspect.isfunction(function) and not name.startswith("_"):
                yield function, function.__doc__


@pytest.mark.parametrize(("module", "name", "thing"), public_names())
def test_every_parameter_and_result_is_documented(module, name, thing):
    """In numpydoc's sections."""
    for function, documentation in callables(thing):
        text, signature = inspect.cleandoc(documentation or ""), inspect.signature(function)
        for parameter in signature.parameters:
            if parameter not in ("self", "cls"):
                assert re.search(rf"^[\w, *]*\b{parameter}\b[\w, *]* : ", text, re.M), (function, parameter)
        if signature.return_annotation not in (None, "None", inspect.Signature.empty):
            assert re.search(r"^(Returns|Yields)\n---", text, re.M), function


@pytest.mark.parametrize(("module", "name", "thing"), estimators())
def test_html_representation_links_to_the_reference(module, name, thing):
    page = f"{SITE}/reference/generated/{module.__name__}.{name}.html"
    made = thing(LogisticRegression()) if name == "CrossFitClassifier" else thing()
    assert f'href="{page}"' in made._repr_html_()


def test_readme():
    """Its example runs, and gives the numbers in its comments."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    names = {}
    exec(compile(block, "README.md", "exec"), names)
    shown = dict(re.findall(r"^(model\.\w+\(.*?\))  # (.*)$", block, flags=re.MULTILINE))
    assert len(shown) == 3
    for call, comment in shown.items():
        value = np.asarray(eval(call, names)).round(3)
        assert [float(number) for number in re.findall(r"\d+\.\d+", comment)] == value.ravel().tolist()


def test_readme_is_short_and_its_links_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 100
    targets = re.findall(r"\]\(([^)]+)\)", readme) + re.findall(r'src="([^"]+)"', readme)
    for target in (target for target in targets if "://" not in target):
        assert (ROOT / target).exists(), target


def test_versions_agree():
    """The package, the changelog, the citations."""
    version = optiscore.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    date = re.search(
        rf"^## {re.escape(version.partition('.dev')[0])} - (\d{{4}}-\d\d-\d\d|unreleased)$", changelog, re.M
    )
    assert date
    assert (date[1] == "unreleased") == (".dev" in version)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {version}\n" in citation
    assert ("date-released" in citation) == (".dev" not in version)
    assert date[1] == "unreleased" or f"date-released: {date[1]}\n" in citation
    assert f"version = {{{version}}}" in (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", optiscore.__all__)
def test_help_shows_names_and_defaults(name):
    """As for scikit-learn's classes; the union that NumPy's ArrayLike stands for fills pages."""
    public = getattr(optiscore, name)
    methods = [getattr(public, each) for each in dir(public) if not each.startswith("_")] if name[0].isupper() else []
    for function in [public, *methods]:
        if inspect.isfunction(function) or inspect.isclass(function):
            assert "_NestedSequence" not in str(inspect.signature(function)), function
