"""JSON as the service reads and writes it: numbers are doubles, and strings are JavaScript's."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeAlias

from pydantic import BaseModel

from ._time import text_of

JsonValue: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any] | None

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LARGEST_INDEX = 2**32 - 2
_MAX_NUMBER_CHARS = 1_100


def keeps_digits(source: str) -> bool:
    """Whether a JSON number survives conversion to a double, as the service reads it."""
    if len(source) > _MAX_NUMBER_CHARS:
        return False
    value, given = float(source), Decimal(source)
    if not math.isfinite(value):
        return False
    if Decimal(repr(value)) == given:
        return True
    places = len(given.as_tuple().digits) - 1
    return not value.is_integer() and Decimal(f"{value:.{places}e}") == given


def plain(value: object) -> JsonValue:
    """Converts a caller's value to JSON: models of this package become objects, tuples lists, times strings.

    Raises:
        TypeError: for types that JSON does not support.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value} is not a JSON number")
        return value
    if isinstance(value, datetime):
        return text_of(value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise TypeError(f"the name {name!r} in an object is not a string")
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    raise TypeError(f"a {type(value).__name__} is not JSON: pass a string, number, boolean, object or list")


def compact(value: JsonValue) -> str:
    """Equivalent to JavaScript's `JSON.stringify`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, list):
        return f"[{','.join(compact(item) for item in value)}]"
    return f"{{{','.join(f'{_quoted(name)}:{compact(value[name])}' for name in _in_order(value))}}}"


def number(value: float) -> str:
    """A number as JavaScript writes it: `1` for 1.0, `1e+21` for 10**21, and whole numbers rounded to doubles.

    Raises:
        TypeError: for numbers out of the range of doubles.
    """
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if not math.isfinite(double):
        raise TypeError(f"{value} is not a JSON number")
    if double == 0:
        return "0"
    sign, figures, exponent = Decimal(repr(double)).normalize().as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, figures))
    point = len(digits) + exponent
    if len(digits) <= point <= 21:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{fraction}e{point - 1:+d}"
    return f"-{text}" if sign else text


def _quoted(text: str) -> str:
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _in_order(names: Mapping[str, Any]) -> list[str]:
    """Array index names come first in numeric order; the others in insertion order."""
    indices = [name for name in names if _ARRAY_INDEX.fullmatch(name) and int(name) <= _LARGEST_INDEX]
    if not indices:
        return list(names)
    known = set(indices)
    return sorted(indices, key=int) + [name for name in names if name not in known]
