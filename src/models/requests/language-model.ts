import type { createOpenAI } from '@ai-sdk/openai';
import type { ChatMessage } from '../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { Tool, ToolChoice } from '../../domain/prompts/prompt-content.ts';

/** A provider SDK's language model. */
export type LanguageModel = ReturnType<ReturnType<typeof createOpenAI>['chat']>;
/** A provider SDK's embedding model. */
export type EmbeddingModel = ReturnType<ReturnType<typeof createOpenAI>['embeddingModel']>;
export type SdkOptions = Parameters<LanguageModel['doGenerate']>[0];

/** A call ready for a provider: all files that it needs have been fetched. */
export interface ProviderCall {
  messages: ChatMessage[];
  tools: Tool[];
  toolChoice: ToolChoice | undefined;
  parameters: ModelParameters;
}
