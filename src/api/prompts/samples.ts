/** A prompt with a single text. */
export const PROMPT_SAMPLE = {
  name: 'support/greeting',
  version: 1,
  template: 'Greet {{ name }} in one sentence.',
  messages: null,
  tools: null,
  tool_choice: null,
  inputs: null,
  model: 'sandbox/echo',
  fallback_models: [],
  parameters: { temperature: 0.2 },
  config: null,
  variables: ['name'],
  labels: ['production'],
  archived: false,
  description: null,
  commit_message: null,
  created_by: { key_id: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', member_id: null, name: 'deploy' },
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
  version_created_at: '2026-01-31T12:00:00.000Z',
};

/** The differences between two versions. */
export const DIFF_SAMPLE = {
  name: 'support/greeting',
  from: 2,
  to: 3,
  changes: [
    {
      path: 'template',
      diff: '--- template@2\n+++ template@3\n@@ -1,1 +1,1 @@\n-Greet {{ name }}.\n+Greet {{ name }} warmly.\n',
    },
    { path: 'parameters.temperature', before: 0.2, after: 0.5 },
  ],
};

const system = { role: 'system', content: 'You help customers of {{ shop }}. Answer in one sentence.' };

/** Bodies of `POST /prompts`, by title. */
export const CREATE_SAMPLES = {
  Greeting: {
    name: 'support/greeting',
    template: 'Greet {{ name }} in one sentence.',
    model: 'sandbox/echo',
    parameters: { temperature: 0.2 },
  },
  'System message': {
    name: 'support/answer',
    messages: [system, { role: 'user', content: '{{ question }}' }],
    model: 'openai/gpt-4o-mini',
    fallback_models: ['anthropic/claude-haiku-4-5'],
  },
  'Chat with history': {
    name: 'support/chat',
    messages: [system, { placeholder: 'history', required: false }, { role: 'user', content: '{{ question }}' }],
    inputs: { shop: { type: 'string', default: 'the shop' }, history: { type: 'messages', required: false } },
    model: 'anthropic/claude-sonnet-4-5',
  },
  Tools: {
    name: 'support/weather',
    messages: [{ placeholder: 'conversation' }],
    tools: [
      {
        name: 'get_weather',
        description: 'The weather in a city right now.',
        input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ],
    tool_choice: 'auto',
    model: 'openai/gpt-4o-mini',
  },
  'JSON answer': {
    name: 'support/classify',
    template: 'What is this message about, and how urgent is it?\n\n{{ message }}',
    model: 'openai/gpt-4o-mini',
    parameters: {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'classification',
          schema: {
            type: 'object',
            properties: { topic: { type: 'string' }, urgency: { type: 'integer' } },
            required: ['topic', 'urgency'],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    },
  },
  Image: {
    name: 'support/photo',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is broken here?' },
          { type: 'file', media_type: 'image/png', variable: 'photo' },
        ],
      },
    ],
    model: 'google/gemini-2.5-flash',
  },
  Include: {
    name: 'support/reply',
    template: '{{> support/tone@production }}\n\nReply to {{ message }}.',
    model: 'openai/gpt-4o-mini',
  },
};
