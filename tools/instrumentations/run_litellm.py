"""Calls of LiteLLM with its own instrumentation: a chat with a tool."""

import json

import litellm
from export_spans import CONVERSATION, QUESTION, USER, get_weather, start_tracing
from opentelemetry import trace

start_tracing({"session.id": CONVERSATION, "user.id": USER})
litellm.callbacks = ["otel"]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
messages: list = [{"role": "system", "content": "Be short."}, {"role": "user", "content": QUESTION}]
first = litellm.completion(model="openai/gpt-4o-mini", messages=messages, tools=[TOOL]).choices[0]
messages.append(first.message.model_dump(include={"role", "content", "tool_calls"}))
for call in first.message.tool_calls:
    content = get_weather(**json.loads(call.function.arguments))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
print(litellm.completion(model="openai/gpt-4o-mini", messages=messages, tools=[TOOL]).choices[0].message.content)
trace.get_tracer_provider().force_flush()
