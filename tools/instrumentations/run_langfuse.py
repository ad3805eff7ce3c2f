"""A trace of Langfuse's client, whose calls of OpenAI are its generations."""

import json

from export_spans import CONVERSATION, QUESTION, USER, get_weather
from langfuse import get_client, observe, propagate_attributes
from langfuse.openai import OpenAI

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
client = OpenAI()
weather = observe(as_type="tool", name="get_weather")(get_weather)


@observe(as_type="agent", name="weather_agent")
def answer(question: str) -> str:
    """Asks the model, runs its tools, and asks again."""
    messages: list = [{"role": "system", "content": "Be short."}, {"role": "user", "content": question}]
    first = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=[TOOL]).choices[0]
    messages.append(first.message.model_dump(include={"role", "content", "tool_calls"}))
    for call in first.message.tool_calls:
        content = weather(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    last = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=[TOOL]).choices[0]
    return last.message.content


with propagate_attributes(session_id=CONVERSATION, user_id=USER, tags=["test"], metadata={"plan": "pro"}):
    print(answer(QUESTION))
get_client().flush()
