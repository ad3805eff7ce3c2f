"""An agent with a tool, in LangGraph with OpenInference."""

from export_spans import CONVERSATION, QUESTION, USER, get_weather, start_tracing
from langchain.agents import create_agent
from openinference.instrumentation import using_attributes
from openinference.instrumentation.langchain import LangChainInstrumentor

start_tracing()
LangChainInstrumentor().instrument()
agent = create_agent("openai:gpt-4o-mini", tools=[get_weather], system_prompt="Be short.", name="weather_agent")
with using_attributes(session_id=CONVERSATION, user_id=USER):
    print(agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})["messages"][-1].content)
