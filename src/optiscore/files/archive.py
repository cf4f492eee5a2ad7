"""The archive of a model file, checked before anything in it is unpacked: members, sizes, headers, kinds of nodes."""

import io
import json
import math
import zipfile
from operator import eq
from typing import Any

import numpy as np

_SCHEMA = "schema.json"

#: What the schema of a model file consists of. Others, such as methods, operators and partial functions, could reach
#: further, and no estimator that can be saved needs them.
_NODES = frozenset(
    {
        "DTypeNode",
        "DictNode",
        "FunctionNode",
        "JsonNode",
        "ListNode",
        "MaskedArrayNode",
        "NdArrayNode",
        "ObjectNode",
        "RandomGeneratorNode",
        "RandomStateNode",
        "SliceNode",
        "TupleNode",
        "TypeNode",
    }
)


def check_archive(content: bytes, *, may_hold_others: bool = False) -> None:
    """Refuse an archive that `save` cannot have written; it takes no more memory than the file has bytes.

    Types of other libraries, where somebody trusts them, may bring nodes and members of other kinds.

    Members are neither compressed nor overlapping, so that what is unpacked is not larger than the file, and each array
    has as many bytes as its header says.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        _check_sizes(members, len(content))
        others = [member.filename for member in members if not member.filename.endswith((_SCHEMA, ".npy"))]
        if others and not may_hold_others:
            raise ValueError(f"member {others[0]!r} is neither the schema nor an array")
        if _SCHEMA not in archive.namelist():
            raise ValueError(f"it has no member {_SCHEMA}")
        headers = _check_nodes(json.loads(archive.read(_SCHEMA)), may_hold_others)
        for member in members:
            if member.filename.endswith(".npy"):
                header = _check_header(archive, member)
                if not all(map(eq, headers.get(member.filename, ()), header)):
                    raise ValueError(f"array {member.filename!r} cannot be what it stands for")


def _check_sizes(members: list[zipfile.ZipInfo], size: int) -> None:
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
            raise ValueError(f"member {member.filename!r} is compressed, which those of model files never are")
    if len({member.filename for member in members}) < len(members):
        raise ValueError("two members have the same name")
    if sum(member.file_size for member in members) > size:
        raise ValueError("its members are larger than the file")


def _check_nodes(node: Any, may_hold_others: bool) -> dict[str, tuple[Any, ...]]:
    """Refuse nodes that no model file has; a schema is walked without recursion, however deep it is.

    Returns what the headers must be of arrays that stand for something else: masks that mask nothing, types, scalars.
    """
    waiting: list[Any] = [node]
    headers: dict[str, tuple[Any, ...]] = {}
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            loader = node.get("__loader__")
            known = loader is None or (isinstance(loader, str) and (may_hold_others or loader in _NODES))
            if not known:
                raise ValueError(f"it holds a {loader}, which no model file has")
            if loader == "MaskedArrayNode":
                headers[str(node["content"]["mask"].get("file"))] = (), np.dtype(bool)
            elif loader == "DTypeNode":
                headers[str(node["content"].get("file"))] = ((0,),)
            elif loader == "NdArrayNode" and node.get("__class__") != "ndarray":
                headers[str(node.get("file"))] = _scalar_header(node.get("__class__"))
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return headers


def _scalar_header(name: Any) -> tuple[Any, ...]:
    """Shape and type of the array that stands for a scalar; skops would cast any other silently, to a part of it."""
    kind = getattr(np, name, None) if isinstance(name, str) else None
    if not isinstance(kind, type) or not issubclass(kind, np.generic):
        raise ValueError(f"it holds a scalar of type {name}, which no model file has")
    dtype = np.dtype(kind)
    # Text and dates have a length or a unit, which the type alone does not tell.
    return ((), dtype) if dtype.kind in "biufc" else ((),)


def _check_header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and type of an array; refused where its header and its size disagree, or where it holds objects."""
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in read:
            raise ValueError(f"array {member.filename!r} is of an unknown format")
        shape, _, dtype = read[version](stream)
        left = member.file_size - stream.tell()
    if dtype.hasobject:
        raise ValueError(f"array {member.filename!r} holds objects")
    if any(length < 0 for length in shape) or math.prod(shape) * dtype.itemsize != left:
        raise ValueError(f"array {member.filename!r} has {left} bytes, which is not what {dtype}{list(shape)} takes")
    return shape, dtype
