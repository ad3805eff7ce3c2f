"""Records without the time it takes to load them (the classes of all records are most of it): they are loaded at the first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import models
else:

    class _Models:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("pms_client.models"), name)

    models = _Models()

__all__ = ["models"]
