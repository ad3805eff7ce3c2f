export type { ChatMessage } from '../generated/types.gen.ts';
export type { Run } from '../record.ts';
export { type AISDKRequest, toAISDK } from './ai-sdk.ts';
export { type AnthropicRequest, toAnthropic } from './anthropic.ts';
export { type CallOptions, UnsupportedError } from './call.ts';
export { type LangChainRequest, toLangChain } from './langchain.ts';
export { type OpenAIRequest, toOpenAI } from './openai.ts';
export {
  type AISDKResponse,
  type AnthropicResponse,
  fromAISDK,
  fromAnthropic,
  fromLangChain,
  fromOpenAI,
  type LangChainResponse,
  type OpenAIResponse,
} from './runs.ts';
