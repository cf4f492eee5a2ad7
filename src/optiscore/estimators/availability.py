"""Methods that are there for some settings only: hasattr tells, and calling them says why not."""

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any


class UnavailableMethodError(AttributeError, ValueError):
    """A method does not go with the settings: no attribute to those who look for it, a wrong value to those who ask."""


class only_if:  # noqa: N801 - a decorator
    """Decorator: the method is there only if ``check(self)`` raises no ValueError.

    scikit-learn's `available_if` does the same but raises AttributeError alone.
    """

    def __init__(self, check: Callable[[Any], None]) -> None:
        self._check = check

    def __call__(self, method: Callable[..., Any]) -> "only_if":
        """The method, which is looked up through the check."""
        self._method = method
        update_wrapper(self, method)
        return self

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self._method
        try:
            self._check(owner)
        except ValueError as error:
            raise UnavailableMethodError(str(error)) from None
        return MethodType(self._method, owner)
