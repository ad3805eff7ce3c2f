const tool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather in a city right now.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Samples for the documentation. */
export const responseBodies = {
  Greeting: { model: 'support/greeting@production', variables: { name: 'Ada' } },
  Chat: { model: 'support/greeting', input: 'And in French?', variables: { name: 'Ada' }, temperature: 0.2 },
  Tool: {
    model: 'support/greeting',
    input: [{ role: 'user', content: 'What is the weather like in Paris?' }],
    variables: { name: 'Ada' },
    tools: [tool],
  },
};

export const responseSample = {
  id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  object: 'response',
  created_at: 1_769_860_800,
  completed_at: 1_769_860_801,
  status: 'completed',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  model: 'support/greeting@3',
  output: [
    {
      id: 'msg_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello Ada, lovely to meet you!', annotations: [], logprobs: [] }],
    },
  ],
  previous_response_id: null,
  parallel_tool_calls: true,
  temperature: 0.2,
  top_p: null,
  max_output_tokens: null,
  tools: [],
  tool_choice: 'auto',
  truncation: 'disabled',
  metadata: {},
  usage: {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 21,
  },
};
