"""States of the package's own objects in a model file: a public name, parameters and arrays, and the way back."""

import importlib
from typing import Any

import numpy as np

from .kinds import KINDS, Kind
from .members import RefusedError

#: The key that names the kind of an object.
NAME = "optiscore"


def to_states(thing: Any) -> Any:
    """Return a model with states in the places of the package's own objects; nothing is changed, parts are copied."""
    kind = _kind_of(thing)
    if kind is not None:
        return {NAME: kind.name, **{name: to_states(value) for name, value in _members(thing, kind).items()}}
    if isinstance(thing, dict):
        return {key: to_states(value) for key, value in thing.items()}
    if type(thing) in (list, tuple):
        return type(thing)(to_states(value) for value in thing)
    if _is_of_scikit_learn(thing):
        return _with_members(thing, {name: to_states(value) for name, value in vars(thing).items()})
    return thing


def from_states(thing: Any, name: str = "") -> Any:
    """Return the model; states are checked, and refused by the name of the member that is wrong."""
    if isinstance(thing, dict):
        members = {key: from_states(value, f"{name}{key}.") for key, value in thing.items() if key != NAME}
        return _made(thing[NAME], members, name) if NAME in thing else members
    if type(thing) in (list, tuple):
        return type(thing)(from_states(value, f"{name}{i}.") for i, value in enumerate(thing))
    if _is_of_scikit_learn(thing):
        return _with_members(thing, {key: from_states(value, f"{name}{key}.") for key, value in vars(thing).items()})
    return thing


def _kind_of(thing: Any) -> Kind | None:
    path = f"{type(thing).__module__}.{type(thing).__qualname__}".removeprefix("optiscore.")
    return next((kind for kind in KINDS.values() if kind.path == path), None)


def _members(thing: Any, kind: Kind) -> dict[str, Any]:
    """Return what is kept of an object: fields of a record, or parameters and results of an estimator."""
    if hasattr(thing, "_asdict"):
        return dict(thing._asdict())
    if kind.attributes is not None:
        return {name: getattr(thing, name) for name in kind.attributes}
    state = {name: value for name, value in thing.__getstate__().items() if name != "_sklearn_version"}
    parameters = thing.get_params(deep=False)
    results = {name: value for name, value in state.items() if name.endswith("_") or name == "_sums"}
    return {"parameters": parameters, **results}


def _made(tag: Any, members: dict[str, Any], name: str) -> Any:
    """Return an object of a kind, from members that are checked."""
    kind = KINDS.get(tag) if isinstance(tag, str) else None
    if kind is None:
        raise RefusedError(f"{name or 'the model '}is of kind {tag!r}, which this version does not know")
    is_unfitted = members.keys() == {"parameters"}
    if not is_unfitted:
        kind.members.check(name, members)
    module, _, type_name = kind.path.rpartition(".")
    made: Any = getattr(importlib.import_module(f"optiscore.{module}"), type_name)
    try:
        if kind.attributes is not None:
            return made(**members)
        if hasattr(made, "_fields"):
            return made(**{field: members[field] for field in made._fields if field in members})
        parameters = members.pop("parameters")
        if not isinstance(parameters, dict):
            raise RefusedError(f"{name}parameters must be a dict")
        thing = made(**parameters)
        thing.__setstate__({**vars(thing), **members})
    # Whatever its members lead to.
    except Exception as error:
        raise RefusedError(f"{name}{error}".rstrip(".")) from error
    return thing


def _is_of_scikit_learn(thing: Any) -> bool:
    of_library = type(thing).__module__.startswith("sklearn.") and not isinstance(thing, type | np.ndarray)
    return of_library and hasattr(thing, "__dict__") and not isinstance(thing, dict)


def _with_members(thing: Any, members: dict[str, Any]) -> Any:
    """Return an object with other members; the same where none has changed."""
    if all(value is members[name] for name, value in vars(thing).items()):
        return thing
    copied = object.__new__(type(thing))
    vars(copied).update(members)
    return copied
