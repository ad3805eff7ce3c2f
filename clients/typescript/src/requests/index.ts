export type { ChatMessage } from '../generated/types.gen.ts';
export type { Run } from '../record.ts';
export { type AnthropicRequest, toAnthropic } from './anthropic.ts';
export { type CallOptions, UnsupportedError } from './call.ts';
export { type OpenAIRequest, toOpenAI } from './openai.ts';
export { type AnthropicResponse, fromAnthropic, fromOpenAI, type OpenAIResponse } from './runs.ts';
