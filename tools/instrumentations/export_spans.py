"""Sends spans as OTEL_* variables say, and copies what an application knows to each of them."""

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

QUESTION = "What is the weather in Paris?"
CONVERSATION = "conversation-1"
USER = "user-1"
PROMPT = {"pms.prompt.name": "weather", "pms.prompt.version": 3}


class CopyAttributes(SpanProcessor):
    """What the application knows of a span that an instrumentation makes."""

    def __init__(self, attributes: dict[str, str | int]) -> None:
        self._attributes = attributes

    def on_start(self, span: Span, parent_context: object = None) -> None:
        span.set_attributes(self._attributes)

    def on_end(self, span: ReadableSpan) -> None:
        """Nothing is left to do."""


def start_tracing(attributes: dict[str, str | int] | None = None) -> None:
    """Spans are sent from now on, those of instrumentations as well."""
    provider = TracerProvider()
    provider.add_span_processor(CopyAttributes({**PROMPT, **(attributes or {})}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"21 degrees in {city}"
