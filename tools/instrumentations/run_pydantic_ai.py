"""An agent with a tool, in Pydantic AI with its own instrumentation."""

from export_spans import QUESTION, USER, get_weather, start_tracing
from pydantic_ai import Agent

start_tracing({"user.id": USER, "session.id": "conversation-1"})
Agent.instrument_all()
agent = Agent("openai-chat:gpt-4o-mini", name="weather_agent", instructions="Be short.", tools=[get_weather])
print(agent.run_sync(QUESTION).output)
