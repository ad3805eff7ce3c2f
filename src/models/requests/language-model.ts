import type { createOpenAI } from '@ai-sdk/openai';
import type { ChatMessage } from '../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { Tool, ToolChoice } from '../../domain/prompts/prompt-content.ts';

/** A provider SDK's language model. */
export type LanguageModel = ReturnType<ReturnType<typeof createOpenAI>['chat']>;
/** A provider SDK's model for embeddings. */
export type EmbeddingModel = ReturnType<ReturnType<typeof createOpenAI>['embeddingModel']>;
export type SdkOptions = Parameters<LanguageModel['doGenerate']>[0];

/** A call as it goes to a provider: no file is left to be fetched here. */
export interface ProviderCall {
  messages: ChatMessage[];
  tools: Tool[];
  toolChoice: ToolChoice | undefined;
  parameters: ModelParameters;
}
