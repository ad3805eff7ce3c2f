import type { ChatMessage } from '../domain/messages.ts';
import { ModelError } from './model-error.ts';
import type { HttpProvider } from './names.ts';

interface AcceptedFiles {
  types: RegExp;
  /** The types in words. */
  said: string;
  /** Whether an assistant's message may hold files, too. */
  fromAssistant: boolean;
}

/** The files that a provider's chat messages have a place for. Which of them a model understands, the provider says. */
const FILES: Record<HttpProvider, AcceptedFiles> = {
  openai: {
    types: /^(image\/.+|audio\/(wav|mpeg|mp3)|application\/pdf)$/,
    said: 'images, audio/wav, audio/mpeg and application/pdf',
    fromAssistant: false,
  },
  'openai-compatible': {
    types: /^((image|video|text)\/.+|audio\/(wav|mpeg|mp3)|application\/pdf)$/,
    said: 'images, videos, texts, audio/wav, audio/mpeg and application/pdf',
    fromAssistant: false,
  },
  anthropic: {
    types: /^(image\/.+|application\/pdf|text\/plain)$/,
    said: 'images, application/pdf and text/plain',
    fromAssistant: false,
  },
  google: {
    types: /^(image|audio|video|text|application)\/.+$/,
    said: 'images, audio, videos, texts and documents',
    fromAssistant: true,
  },
};

/**
 * Refuses what the provider has no place for; its SDK would leave some of it out without a word.
 *
 * @throws ModelError `model_invalid_request`
 */
export function requireAcceptedContent(provider: HttpProvider, model: string, messages: readonly ChatMessage[]): void {
  const { types, said, fromAssistant } = FILES[provider];
  for (const [index, { role, content }] of messages.entries()) {
    if (typeof content === 'string') continue;
    for (const part of content) {
      if (part.type === 'file' && role === 'assistant' && !fromAssistant) {
        throw refused(index, `${provider} takes no files in assistant messages; put the file into a user message.`);
      }
      if (part.type === 'file' && !types.test(part.media_type)) {
        throw refused(index, `${model} takes no ${part.media_type} file; ${provider} takes ${said}.`);
      }
      if (part.type === 'tool_call' && !isOpenAiLike(provider) && !isObject(part.input)) {
        throw refused(index, `${provider} takes only an object as the input of a tool call (${part.id}).`);
      }
    }
  }
}

function isOpenAiLike(provider: HttpProvider): boolean {
  return provider === 'openai' || provider === 'openai-compatible';
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(index: number, reason: string): ModelError {
  return new ModelError('model_invalid_request', `messages.${index}: ${reason}`);
}
