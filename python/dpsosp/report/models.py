# SPDX-License-Identifier: Apache-2.0
"""Models of pages as `dpsosp` writes them, read by their schema, which it writes beside them as models.json.

A member that is empty or as by default is not in the JSON; here every model has all its members. A number that is not
finite is null there and NaN here.
"""
from __future__ import annotations

import json
import math
from types import SimpleNamespace as Model
from typing import Any, Mapping


class Invalid(ValueError):
    """One line on where a model is not as its schema says."""


class Reader:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema["$defs"]

    def read(self, kind: str, value: Any) -> Any:
        return self._read({"$ref": f"#/$defs/{kind}"}, value, kind)

    def _read(self, schema: Mapping[str, Any], value: Any, where: str) -> Any:
        if "$ref" in schema:
            schema = self.schema[schema["$ref"].rsplit("/", 1)[1]]
        if "anyOf" in schema:
            schema = next((s for s in schema["anyOf"] if self._fits(s, value)), schema["anyOf"][0])
            return self._read(schema, value, where)
        kind = schema["type"]
        if kind == ["number", "null"]:
            if value is None:
                return math.nan
            kind = "number"
        if not _is(kind, value) or value not in schema.get("enum", [value]):
            raise Invalid(f"{where} = {json.dumps(value, ensure_ascii=False)[:60]}, expected {_expected(schema)}")
        if kind == "array":
            return self._list(schema, value, where)
        if kind == "object":
            return self._object(schema, value, where)
        return value

    def _list(self, schema: Mapping[str, Any], value: list, where: str) -> list:
        if "prefixItems" in schema:
            if len(value) != len(schema["prefixItems"]):
                raise Invalid(f"{where} has {len(value)} entries, expected {len(schema['prefixItems'])}")
            return [self._read(s, v, f"{where}[{k}]") for k, (s, v) in enumerate(zip(schema["prefixItems"], value))]
        return [self._read(schema["items"], v, f"{where}[{k}]") for k, v in enumerate(value)]

    def _object(self, schema: Mapping[str, Any], value: Mapping[str, Any], where: str) -> Any:
        if "properties" not in schema:
            return {k: self._read(schema["additionalProperties"], v, f"{where}.{k}") for k, v in value.items()}
        members = schema["properties"]
        for name in value:
            if name not in members:
                raise Invalid(f"{where} has the member {name}, expected one of {', '.join(members)}")
        return Model(**{name: self._read(s, value.get(name, s["default"]), f"{where}.{name}")
                        for name, s in members.items()})

    def _fits(self, schema: Mapping[str, Any], value: Any) -> bool:
        if "$ref" in schema:
            schema = self.schema[schema["$ref"].rsplit("/", 1)[1]]
        return _is(schema["type"], value) and all(name in value for name in schema.get("required", ()))


def _is(kind: Any, value: Any) -> bool:
    if isinstance(kind, list):
        return any(_is(k, value) for k in kind)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}[kind])


def _expected(schema: Mapping[str, Any]) -> str:
    return " or ".join(schema["enum"]) if "enum" in schema else f"{schema['type']}"
