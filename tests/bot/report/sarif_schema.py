"""The part of SARIF 2.1.0 that we write, as a JSON schema after the standard's text.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html: objects take no other properties
than it names, and addresses are as RFC 3986 has them.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

INDEX: Final[Schema] = {"type": "integer", "minimum": 0}
LINE: Final[Schema] = {"type": "integer", "minimum": 1}
TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_SAFE = "[A-Za-z0-9._~/-]|%[0-9A-F]{2}"
RELATIVE: Final[Schema] = {"type": "string", "pattern": f"^(?![/.])({_SAFE})+$"}
ABSOLUTE: Final[Schema] = {"type": "string", "pattern": f"^file:///({_SAFE})*$"}
LEVEL: Final[Schema] = {"enum": ["none", "note", "warning", "error"]}


def record(*needed: str, **properties: Schema) -> Schema:
    """An object of these properties alone."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(needed),
        "additionalProperties": False,
    }


def rows(item: Schema, least: int = 0, *, unique: bool = False) -> Schema:
    """An array of such items."""
    return {"type": "array", "items": item, "minItems": least, "uniqueItems": unique}


MESSAGE: Final = record("text", text=TEXT)
ARTIFACT: Final[Schema] = {
    "oneOf": [
        record("uri", "uriBaseId", uri=RELATIVE, uriBaseId={"const": "SRCROOT"}),
        record("uri", uri=ABSOLUTE),
    ]
}
PHYSICAL: Final = record(
    "artifactLocation",
    "region",  # forges show nothing without one
    artifactLocation=ARTIFACT,
    region=record("startLine", startLine=LINE),
)
LOCATION: Final = record("physicalLocation", id=INDEX, message=MESSAGE, physicalLocation=PHYSICAL)
RULE: Final = record(
    "id", id=TEXT, name=TEXT, shortDescription=record("text", text=TEXT), help=MESSAGE
)
RESULT: Final = record(
    "message",
    "partialFingerprints",
    ruleId=TEXT,
    ruleIndex=INDEX,
    level=LEVEL,
    message=MESSAGE,
    locations=rows(LOCATION, 1),
    relatedLocations=rows(LOCATION, unique=True),
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
)
DRIVER: Final = record(
    "name",
    name=TEXT,
    informationUri={"type": "string", "pattern": "^https://"},
    rules=rows(RULE, unique=True),
)
NOTIFICATION: Final = record("message", level=LEVEL, message=MESSAGE)
RUN: Final = record(
    "tool",
    tool=record("driver", driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    originalUriBaseIds={
        "type": "object",
        "additionalProperties": record(
            "uri", uri={**ABSOLUTE, "pattern": f"^file:///(({_SAFE})*/)?$"}
        ),
    },
    results=rows(RESULT),
    invocations=rows(
        record(
            "executionSuccessful",
            executionSuccessful={"type": "boolean"},
            toolExecutionNotifications=rows(NOTIFICATION),
        )
    ),
)
LOG: Final = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    **record(
        "version",
        "runs",
        version={"const": "2.1.0"},
        runs=rows(RUN, 1),
        **{"$schema": {"type": "string"}},
    ),
}
"""A whole file."""
