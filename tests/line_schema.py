"""The schema of the line protocol, and the part of JSON Schema that it uses."""

import json
import re
from pathlib import Path

import plurispiel

SCHEMA = json.loads((Path(plurispiel.__file__).parent / "tournaments/contestants/protocol.schema.json").read_text())
TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
    "number": (int, float),
}  # fmt: skip
KEYWORDS = {
    *("type", "const", "enum", "$ref", "oneOf", "anyOf", "required", "properties", "additionalProperties"),
    *("items", "minItems", "maxItems", "minimum", "maximum", "pattern"),
}


def fits(value, schema=None, *, kind="told"):
    """Whether a value fits a schema, by default a line of the table (`told`) or of a bot (`said`)."""
    schema = SCHEMA["$defs"][kind] if schema is None else schema
    assert schema.keys() <= KEYWORDS, schema.keys() - KEYWORDS
    return all(_holds(keyword, value, schema) for keyword in schema)


def _holds(keyword, value, schema):
    wanted = schema[keyword]
    match keyword:
        case "type":
            return isinstance(value, TYPES[wanted]) and (wanted == "boolean" or not isinstance(value, bool))
        case "const":
            return type(value) is type(wanted) and value == wanted
        case "enum":
            return value in wanted
        case "$ref":
            return fits(value, SCHEMA["$defs"][wanted.removeprefix("#/$defs/")])
        case "oneOf":
            return sum(fits(value, each) for each in wanted) == 1
        case "anyOf":
            return any(fits(value, each) for each in wanted)
        case "required":
            return set(wanted) <= value.keys()
        case "properties":
            return all(fits(value[key], each) for key, each in wanted.items() if key in value)
        case "additionalProperties":
            others = [value[key] for key in value.keys() - schema.get("properties", {}).keys()]
            return all(wanted is not False and fits(each, wanted) for each in others)
        case "items":
            return all(fits(each, wanted) for each in value)
        case "minItems" | "maxItems":
            return len(value) >= wanted if keyword == "minItems" else len(value) <= wanted
        case "minimum" | "maximum":
            return value >= wanted if keyword == "minimum" else value <= wanted
        case "pattern":
            return re.search(wanted, value) is not None
