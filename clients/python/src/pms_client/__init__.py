"""Client for the Prompt Management Service.

from pms_client import Pms

pms = Pms("http://127.0.0.1:3000", api_key="pms_…")
prompt = pms.prompts.get("support/greeting", label="production", fallback="Greet {{ name }}.")
text = prompt.compile(name="Ada")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import errors, events, types
from ._async.client import AsyncPms
from ._async.stream import AsyncExecutionStream
from ._cache import CacheMetrics
from ._rollout import DecidedBy
from ._scorers import EvaluateResult, NamedScore, ScoreWithReason
from ._sync.client import Pms
from ._sync.stream import ExecutionStream
from .errors import ApiError, PmsError
from .prompt import Prompt

if TYPE_CHECKING:
    from . import models, webhooks

__all__ = [
    "ApiError",
    "AsyncExecutionStream",
    "AsyncPms",
    "CacheMetrics",
    "DecidedBy",
    "EvaluateResult",
    "ExecutionStream",
    "NamedScore",
    "Pms",
    "PmsError",
    "Prompt",
    "ScoreWithReason",
    "errors",
    "events",
    "models",
    "types",
    "webhooks",
]


def __getattr__(name: str) -> Any:
    if name in ("models", "webhooks"):
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
