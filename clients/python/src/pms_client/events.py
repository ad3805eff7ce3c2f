"""The events of streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from .models import Evaluation, Execution, ToolCall


@dataclass(frozen=True, slots=True)
class ExecutionStarted:
    """The record so far; first."""

    execution: Execution


@dataclass(frozen=True, slots=True)
class OutputTextDelta:
    """Text to append."""

    delta: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A tool that the model asks for, complete. The service runs none."""

    tool_call: ToolCall


@dataclass(frozen=True, slots=True)
class ExecutionRestarted:
    """A new call began, or the response is sent once more: discard all texts and tool calls so far."""


@dataclass(frozen=True, slots=True)
class ExecutionEnded:
    """The record; last. Its `status` is `completed`, `failed` or `canceled`."""

    execution: Execution


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """Of a newer service."""

    type: str
    data: dict[str, Any]


StreamEvent: TypeAlias = (
    ExecutionStarted | OutputTextDelta | ToolCalled | ExecutionRestarted | ExecutionEnded | UnknownEvent
)


def event_of(type_: str, data: dict[str, Any]) -> StreamEvent:
    """
    Raises:
        ValueError: where the data is not that of its type.
    """
    try:
        match type_:
            case "execution.started":
                return ExecutionStarted(Execution.model_validate(data["execution"]))
            case "output_text.delta":
                return OutputTextDelta(str(data["delta"]))
            case "tool_call":
                return ToolCalled(ToolCall.model_validate(data["tool_call"]))
            case "execution.restarted":
                return ExecutionRestarted()
            case "execution.completed" | "execution.failed" | "execution.canceled":
                return ExecutionEnded(Execution.model_validate(data["execution"]))
    except KeyError as error:
        raise ValueError(f"{type_} has no {error}") from error
    return UnknownEvent(type_, data)


@dataclass(frozen=True, slots=True)
class EvaluationEvent:
    """How far an evaluation is."""

    type: str
    """`evaluation.progress`; last `evaluation.completed`, `evaluation.failed` or `evaluation.canceled`."""
    evaluation: Evaluation


def evaluation_event_of(type_: str, data: dict[str, Any]) -> EvaluationEvent:
    """
    Raises:
        ValueError: where the data is not that of an evaluation.
    """
    try:
        return EvaluationEvent(type_, Evaluation.model_validate(data["evaluation"]))
    except KeyError as error:
        raise ValueError(f"{type_} has no {error}") from error


@dataclass(frozen=True, slots=True)
class ChangesEvent:
    """What has changed since the last one."""

    type: str
    """`changes`"""
    resources: list[str]
    """The types, as in the audit log, such as `execution`. None: the stream begins."""


def changes_event_of(type_: str, data: dict[str, Any]) -> ChangesEvent:
    """
    Raises:
        ValueError: where the data is not that of changes.
    """
    try:
        return ChangesEvent(type_, [str(each) for each in data["resources"]])
    except KeyError as error:
        raise ValueError(f"{type_} has no {error}") from error


class Transcript:
    """What a reader has who does as the events say."""

    def __init__(self) -> None:
        self._deltas: list[str] = []
        self.tool_calls: list[ToolCall] = []
        self.execution: Execution | None = None
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
