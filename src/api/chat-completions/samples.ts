const function_ = {
  name: 'get_weather',
  description: 'The weather in a city right now.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Samples for the documentation. */
export const chatCompletionBodies = {
  Greeting: { model: 'support/greeting@production', messages: [], variables: { name: 'Ada' } },
  Chat: {
    model: 'support/greeting',
    messages: [{ role: 'user', content: 'And in French?' }],
    variables: { name: 'Ada' },
    temperature: 0.2,
  },
  Tool: {
    model: 'support/greeting',
    messages: [{ role: 'user', content: 'What is the weather like in Paris?' }],
    variables: { name: 'Ada' },
    tools: [{ type: 'function', function: function_ }],
  },
};

export const chatCompletionSample = {
  id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  object: 'chat.completion',
  created: 1_769_860_800,
  model: 'support/greeting@3',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello Ada, lovely to meet you!', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 12,
    completion_tokens: 9,
    total_tokens: 21,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  },
};
