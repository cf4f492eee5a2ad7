"""How public names show themselves: short signatures, sections that docstrings share, links to the site."""

import inspect
from types import FunctionType
from typing import Any, ClassVar, TypeVar

#: Address of the documentation of the last release.
SITE = "https://optiscore.readthedocs.io/en/stable"

Function = TypeVar("Function")

# Sections that methods of samples alone, and all estimators, have in common.
_PARAMETERS = {
    "X": "X : array-like of shape (n_samples, n_features)\n    Samples.",
    "alpha": "alpha : ndarray\n    Squared Mahalanobis distances.",
    "value": "value : ndarray\n    Values of the dual problem.",
    "x": "x : array-like\n    Any numbers.",
}
_FEATURES = """n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (n_features,)
    Names of the features, where X had them.
"""


def plain_signature(function: Function) -> Function:
    """Decorator: help() shows names and defaults, as of scikit-learn's functions; type checkers see types as well."""
    if isinstance(function, FunctionType):
        plain, signature = inspect.Parameter.empty, inspect.signature(function)
        parameters = [each.replace(annotation=plain) for each in signature.parameters.values()]
        vars(function)["__signature__"] = signature.replace(parameters=parameters, return_annotation=plain)
        doc = inspect.cleandoc(function.__doc__ or "")
        _, *names = signature.parameters or ("",)
        if len(names) == 1 and names[0] in _PARAMETERS and "Parameters\n" not in doc:
            section = f"Parameters\n----------\n{_PARAMETERS[names[0]]}\n\nReturns\n"
            function.__doc__ = doc.replace("Returns\n", section, 1)
    return function


def plain_signatures(cls: Function) -> Function:
    """Decorator: the same for the methods of a class."""
    for name in vars(cls):
        if name == "__init__" or not name.startswith("_"):
            plain_signature(getattr(cls, name))
    return cls


class Documented:
    """Mixin, to stand before scikit-learn's base class, which asks for these names (and has the like of its own)."""

    _doc_link_module = "optiscore"
    _doc_link_template = f"{SITE}/reference/generated/{{package}}.{{name}}.html"
    _public_package: ClassVar[str] = "optiscore"

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        plain_signatures(cls)
        head, attributes, rest = inspect.cleandoc(cls.__doc__ or "").partition("\nAttributes\n")
        if attributes and "n_features_in_" not in rest:
            own, blank, others = rest.partition("\n\n")
            cls.__doc__ = f"{head}{attributes}{own}\n{_FEATURES}{blank[1:]}{others}"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"package": self._public_package, "name": type(self).__name__}
