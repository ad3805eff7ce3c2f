"""The events of streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from ._lazy import models


@dataclass(frozen=True, slots=True)
class ExecutionStarted:
    """The record so far; the first event."""

    execution: models.Execution


@dataclass(frozen=True, slots=True)
class OutputTextDelta:
    """Text to append."""

    delta: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A complete tool call that the model requested. The service does not run tools."""

    tool_call: models.ToolCall


@dataclass(frozen=True, slots=True)
class ExecutionRestarted:
    """A new call started, or the response is sent again: discard all texts and tool calls so far."""


@dataclass(frozen=True, slots=True)
class ExecutionEnded:
    """The record; the last event. Its `status` is `completed`, `failed` or `canceled`."""

    execution: models.Execution


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a newer service."""

    type: str
    data: dict[str, Any]


StreamEvent: TypeAlias = (
    ExecutionStarted | OutputTextDelta | ToolCalled | ExecutionRestarted | ExecutionEnded | UnknownEvent
)


def event_of(type_: str, data: dict[str, Any]) -> StreamEvent:
    """
    Raises:
        ValueError: if the data does not match its type.
    """
    try:
        match type_:
            case "execution.started":
                return ExecutionStarted(models.Execution.model_validate(data["execution"]))
            case "output_text.delta":
                return OutputTextDelta(str(data["delta"]))
            case "tool_call":
                return ToolCalled(models.ToolCall.model_validate(data["tool_call"]))
            case "execution.restarted":
                return ExecutionRestarted()
            case "execution.completed" | "execution.failed" | "execution.canceled":
                return ExecutionEnded(models.Execution.model_validate(data["execution"]))
    except KeyError as error:
        raise ValueError(f"{type_} has no {error}") from error
    return UnknownEvent(type_, data)


@dataclass(frozen=True, slots=True)
class EvaluationEvent:
    """The progress of an evaluation."""

    type: str
    """`evaluation.progress`; finally `evaluation.completed`, `evaluation.failed` or `evaluation.canceled`."""
    evaluation: models.Evaluation


def evaluation_event_of(type_: str, data: dict[str, Any]) -> EvaluationEvent:
    """
    Raises:
        ValueError: if the data does not belong to an evaluation.
    """
    try:
        return EvaluationEvent(type_, models.Evaluation.model_validate(data["evaluation"]))
    except KeyError as error:
        raise ValueError(f"{type_} has no {error}") from error


@dataclass(frozen=True, slots=True)
class ImprovementEvent:
    """The progress of an improvement."""

    type: str
    """`improvement.progress`; finally `improvement.completed`, `improvement.failed` or `improvement.canceled`."""
    improvement: models.Improvement


def improvement_event_of(type_: str, data: dict[str, Any]) -> ImprovementEvent:
    """
    Raises:
        ValueError: if the data does not belong to an improvement.
    """
    try:
        return ImprovementEvent(type_, models.Improvement.model_validate(data["improvement"]))
    except KeyError as error:
        raise ValueError(f"{type_} has no {error}") from error


@dataclass(frozen=True, slots=True)
class ChangesEvent:
    """The changes since the last event."""

    type: str
    """`changes`"""
    resources: list[str]
    """The types, as in the audit log, such as `execution`. Empty at the start of a stream."""


def changes_event_of(type_: str, data: dict[str, Any]) -> ChangesEvent:
    """
    Raises:
        ValueError: if the data is not that of changes.
    """
    try:
        return ChangesEvent(type_, [str(each) for each in data["resources"]])
    except KeyError as error:
        raise ValueError(f"{type_} has no {error}") from error


class Transcript:
    """The state of a reader that follows the events."""

    def __init__(self) -> None:
        self._deltas: list[str] = []
        self.tool_calls: list[models.ToolCall] = []
        self.execution: models.Execution | None = None
        self.is_complete = False

    @property
    def text(self) -> str:
        return "".join(self._deltas)

    def add(self, event: StreamEvent) -> None:
        match event:
            case ExecutionStarted(execution):
                self.execution = execution
            case OutputTextDelta(delta):
                self._deltas.append(delta)
            case ToolCalled(tool_call):
                self.tool_calls.append(tool_call)
            case ExecutionRestarted():
                self._deltas.clear()
                self.tool_calls.clear()
            case ExecutionEnded(execution):
                self.execution = execution
                self.is_complete = True
