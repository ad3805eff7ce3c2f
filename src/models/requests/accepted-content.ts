import type { ChatMessage } from '../../domain/prompts/messages.ts';
import { isObject } from '../../domain/text/json.ts';
import { ModelError } from '../model-error.ts';
import type { Provider } from '../providers/provider.ts';
import { toolInputOf } from './sdk-prompt.ts';

/**
 * Rejects content that the provider does not support; its SDK would silently drop some of it.
 *
 * @throws ModelError `model_invalid_request`
 */
export function requireAcceptedContent(provider: Provider, model: string, messages: readonly ChatMessage[]): void {
  const { name, takesAnyToolInput } = provider;
  const { types, said, fromAssistant } = provider.files;
  for (const [index, { role, content }] of messages.entries()) {
    if (typeof content === 'string') continue;
    for (const part of content) {
      if (part.type === 'file' && role === 'assistant' && !fromAssistant) {
        throw refused(index, `${name} does not accept files in assistant messages; move the file to a user message.`);
      }
      if (part.type === 'file' && !types.test(part.media_type)) {
        throw refused(index, `${model} does not accept ${part.media_type} files; ${name} accepts ${said}.`);
      }
      if (part.type === 'tool_call' && !takesAnyToolInput && !isObject(toolInputOf(part.input))) {
        throw refused(index, `${name} accepts only an object as the input of a tool call (${part.id}).`);
      }
    }
  }
}

function refused(index: number, reason: string): ModelError {
  return new ModelError('model_invalid_request', `messages.${index}: ${reason}`);
}
