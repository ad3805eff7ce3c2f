import { formatJson } from '../format.ts';
import { OutputView } from './output-view.tsx';

/** A message as it was sent or stored; parts other than text are shown as JSON. */
interface Message {
  role?: string;
  content?: unknown;
  placeholder?: string;
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return formatJson(content);
  return content.map((part) => (part?.type === 'text' ? String(part.text) : formatJson(part))).join('\n\n');
}

/** What was sent to a model: a text, or messages. */
export function MessagesView({ input }: { input: string | readonly unknown[] }) {
  if (typeof input === 'string') return <OutputView text={input} label="input" />;
  return (
    <ol className="stack">
      {(input as Message[]).map((message, index) => (
        // Messages have no ids, and stay in their order.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={index}>
          <h3>{message.role ?? `placeholder ${message.placeholder}`}</h3>
          {message.content !== undefined && (
            <OutputView text={contentText(message.content)} label={`${message.role} message ${index + 1}`} />
          )}
        </li>
      ))}
    </ol>
  );
}
