"""Calls of OpenAI's client with OpenLLMetry: a chat with a tool, and a stream."""

import json

from export_spans import CONVERSATION, QUESTION, USER, get_weather, start_tracing
from openai import OpenAI
from opentelemetry.instrumentation.openai import OpenAIInstrumentor

start_tracing(
    {
        "traceloop.association.properties.session_id": CONVERSATION,
        "traceloop.association.properties.user_id": USER,
        "traceloop.association.properties.plan": "pro",
    }
)
OpenAIInstrumentor().instrument()
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
client = OpenAI()
messages: list = [{"role": "system", "content": "Be short."}, {"role": "user", "content": QUESTION}]
first = client.chat.completions.create(
    model="gpt-4o-mini", temperature=0.2, messages=messages, tools=[TOOL]
).choices[0]
for call in first.message.tool_calls:
    messages += [
        first.message.model_dump(include={"role", "content", "tool_calls"}),
        {"role": "tool", "tool_call_id": call.id, "content": get_weather(**json.loads(call.function.arguments))},
    ]
with client.chat.completions.create(
    model="gpt-4o-mini", messages=messages, tools=[TOOL], stream=True, stream_options={"include_usage": True}
) as stream:
    print("".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices))
