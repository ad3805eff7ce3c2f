"""Scores for programs that evaluate their own code."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ._json import compact, plain
from ._lazy import models

Task: TypeAlias = "Callable[[dict[str, Any], models.OpenExample], Any]"
"""Receives the variables of an example, and the example."""
Scorer: TypeAlias = "Callable[[Any, models.OpenExample], Any]"
"""Receives an output and its example; returns a number from 0 to 1, a bool, or a `ScoreWithReason`."""
ScoreSpec: TypeAlias = "str | Scorer | NamedScore"

BATCH_RESULTS = 100
BATCH_CHARACTERS = 300_000
_MAX_MESSAGE = 2_000
_MAX_REASON = 500
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# The characters that JavaScript's `trim` removes.
_WHITE_SPACE = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


@dataclass(frozen=True, slots=True)
class ScoreWithReason:
    """A score from 0 to 1 with an explanation."""

    score: float
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class NamedScore:
    """A scorer, or the name of a built-in one, with a custom name and weight."""

    name: str
    score: str | Scorer
    weight: float = 1


@dataclass(frozen=True, slots=True)
class ReadyScore:
    """A resolved score."""

    name: str
    score: Scorer
    weight: float = 1


@dataclass(frozen=True, slots=True)
class EvaluateResult:
    """The result of a code evaluation."""

    evaluation: models.Evaluation
    comparison: models.EvaluationComparison | None
    """The comparison with the baseline; None if there is none."""

    @property
    def passed(self) -> bool:
        """Whether the score reaches the threshold."""
        return self.evaluation.passed is True

    @property
    def verdict(self) -> str | None:
        """The verdict of the comparison: `improvement`, `regression`, `within_noise` and others; None if there is none."""
        return None if self.comparison is None else self.comparison.verdict


class ScoringError(Exception):
    """A score could not be computed."""


def named_scores(specs: Sequence[ScoreSpec]) -> list[ReadyScore]:
    """
    Raises:
        TypeError: for a score without a name, or an unknown name.
    """
    return [_named(spec) for spec in specs]


def _named(spec: ScoreSpec) -> ReadyScore:
    if isinstance(spec, NamedScore):
        return ReadyScore(spec.name, _scorer_of(spec.score), spec.weight)
    name = spec if isinstance(spec, str) else getattr(spec, "__name__", "<lambda>")
    if name == "<lambda>":
        raise TypeError("Give an anonymous function a name: NamedScore(name, function).")
    return ReadyScore(name, _scorer_of(spec))


def _scorer_of(score: str | Scorer) -> Scorer:
    if not isinstance(score, str):
        return score
    if score not in BUILT_IN:
        raise TypeError(f'There is no built-in score "{score}", only {" and ".join(BUILT_IN)}.')
    built_in = BUILT_IN[score]
    return lambda output, example: built_in(output_text(output) or "", example)


def output_text(output: object) -> str | None:
    """An output as stored: a string unchanged, anything else as JSON."""
    return output if output is None or isinstance(output, str) else compact(plain(output))


def stored_score(name: str, given: object) -> dict[str, Any]:
    """
    Raises:
        ScoringError: if it is not a score.
    """
    value, reason = (given.score, given.reason) if isinstance(given, ScoreWithReason) else (given, None)
    if not isinstance(value, (bool, int, float)) or not 0 <= value <= 1:
        raise ScoringError(f"{name}: a score must be from 0 to 1, but is {value!r}")
    return {"score": float(value), "reason": None if reason is None else sane(reason, _MAX_REASON)}


def failure(code: str, error: BaseException) -> dict[str, str]:
    message = str(error) if isinstance(error, ScoringError) else f"{type(error).__name__}: {error}"
    return {"code": code, "message": sane(message, _MAX_MESSAGE)}


def sane(text: str, length: int) -> str:
    """The service accepts neither NUL nor lone surrogates, and counts like JavaScript."""
    units = text.replace("\0", "\ufffd").encode("utf-16-le", "surrogatepass")[: length * 2]
    return _LONE_SURROGATE.sub("\ufffd", units.decode("utf-16-le", "surrogatepass"))


def batches_of(results: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Splits results into requests of acceptable size."""
    batch: list[dict[str, Any]] = []
    characters = 0
    for result in results:
        own = len(json.dumps(result))
        if batch and (len(batch) >= BATCH_RESULTS or characters + own > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(result)
        characters += own
    if batch:
        yield batch


def body_of(
    name: str,
    data: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    scores: Sequence[ReadyScore],
    resume: bool,
    fields: Mapping[str, object],
) -> dict[str, object]:
    source = {"dataset": data} if isinstance(data, (str, Mapping)) else {"examples": list(data)}
    weights = [{"name": score.name, "weight": score.weight} for score in scores]
    return {"name": name, **source, "scores": weights, "resume": resume, **fields}


def require_same(run: models.Evaluation, scores: Sequence[ReadyScore]) -> None:
    """
    Raises:
        ValueError: if a run cannot be resumed with these scores.
    """
    there, given = sorted(one.name for one in run.evaluators), sorted(score.name for score in scores)
    if run.target.type != "code" or there != given:
        raise ValueError(
            f"{run.id} can't be resumed: it has the scores {', '.join(there)}, and not {', '.join(given)}."
        )


_NOTHING_EXPECTED = ScoreWithReason(0, "missing_expected: the example has no expected value")


def _pass(passed: bool, reason: str) -> ScoreWithReason:
    return ScoreWithReason(1) if passed else ScoreWithReason(0, reason)


def _expects_nothing(example: models.OpenExample) -> bool:
    return "expected" not in example.model_fields_set


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _equal_json(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        try:
            return float(a) == float(b) and math.isfinite(float(a))
        except OverflowError:
            return False
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_equal_json, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal_json(a[key], b[key]) for key in a)
    if isinstance(a, str) and isinstance(b, str):
        return _normal(a) == _normal(b)
    return type(a) is type(b) and bool(a == b)


def _is_same_json(output: str, expected: object) -> bool:
    if isinstance(expected, str):
        return False
    try:
        return _equal_json(json.loads(output, parse_constant=_refuse_constant), expected)
    except (ValueError, RecursionError):
        return False


def _exact_match(output: str, example: models.OpenExample) -> ScoreWithReason:
    if _expects_nothing(example):
        return _NOTHING_EXPECTED
    expected = example.expected
    texts = (_normal(text).strip(_WHITE_SPACE) for text in (output, _as_text(expected)))
    is_same = len(set(texts)) == 1 or _is_same_json(output, expected)
    return _pass(is_same, "the output is not what is expected")


def _contains(output: str, example: models.OpenExample) -> ScoreWithReason:
    if _expects_nothing(example):
        return _NOTHING_EXPECTED
    expected = example.expected
    is_texts = isinstance(expected, list) and all(isinstance(one, str) for one in expected)
    values: list[str] = expected if is_texts and isinstance(expected, list) else [_as_text(expected)]
    if not values or "" in values:
        return ScoreWithReason(0, "missing_expected: the expected value is empty, so there is nothing to look for")
    missing = [value for value in values if _normal(value) not in _normal(output)]
    return _pass(not missing, f"not found in the output: {', '.join(missing)}")


BUILT_IN: dict[str, Callable[[str, models.OpenExample], ScoreWithReason]] = {
    "exact_match": _exact_match,
    "contains": _contains,
}
"""Equivalent to the service's evaluators of the same name, with their defaults."""
