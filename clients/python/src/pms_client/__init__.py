"""Client for the Prompt Management Service.

from pms_client import Pms

pms = Pms("http://127.0.0.1:3000", api_key="pms_…")
prompt = pms.prompts.get("support/greeting", label="production", fallback="Greet {{ name }}.")
text = prompt.compile(name="Ada")
"""

from . import errors, events, models, types, webhooks
from ._async.client import AsyncPms
from ._async.stream import AsyncExecutionStream
from ._cache import CacheMetrics
from ._rollout import DecidedBy
from ._scorers import EvaluateResult, NamedScore, ScoreWithReason
from ._sync.client import Pms
from ._sync.stream import ExecutionStream
from .errors import ApiError, PmsError
from .prompt import Prompt

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
