"""A prompt as the request of the client that a program has, and the response of that as a run to record.

from pms_client.requests import from_openai, to_openai

request = to_openai(prompt, {"name": "Ada"})
response = openai.chat.completions.create(**request)
pms.record(**from_openai(response, request))
"""

from ._anthropic import to_anthropic
from ._call import Request, UnsupportedError
from ._langchain import LangChainRequest, from_langchain, to_langchain
from ._litellm import from_litellm, to_litellm
from ._llama_index import LlamaIndexRequest, from_llama_index, to_llama_index
from ._openai import to_openai
from ._runs import from_anthropic, from_openai

__all__ = [
    "LangChainRequest",
    "LlamaIndexRequest",
    "Request",
    "UnsupportedError",
    "from_anthropic",
    "from_langchain",
    "from_litellm",
    "from_llama_index",
    "from_openai",
    "to_anthropic",
    "to_langchain",
    "to_litellm",
    "to_llama_index",
    "to_openai",
]
