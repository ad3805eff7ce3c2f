"""An agent with a tool, in OpenAI Agents with OpenInference."""

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from export_spans import CONVERSATION, QUESTION, USER, get_weather, start_tracing
from openai import AsyncOpenAI
from openinference.instrumentation import using_attributes
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

start_tracing()
OpenAIAgentsInstrumentor().instrument()
agent = Agent(
    name="weather_agent",
    instructions="Be short.",
    model=OpenAIChatCompletionsModel(model="gpt-4o-mini", openai_client=AsyncOpenAI()),
    tools=[function_tool(get_weather)],
)
with using_attributes(session_id=CONVERSATION, user_id=USER):
    print(Runner.run_sync(agent, QUESTION).final_output)
