import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { TextArea } from '../../components/fields.tsx';
import { formatJson, pluralWord } from '../../format.ts';
import type { ChatMessage } from './pane-state.ts';
import type { ToolCall } from './run.ts';

/** The input, as JSON if it is valid. */
function resultOf(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

/** The tool calls that the model requested, with a result field for each, to continue the conversation. */
export function ToolResultsForm({
  calls,
  name,
  onSend,
}: {
  calls: readonly ToolCall[];
  name: string;
  onSend: (messages: ChatMessage[]) => void;
}) {
  const [results, setResults] = useState<Record<string, string>>({});
  const isComplete = calls.every(({ id }) => (results[id] ?? '').trim() !== '');
  const send = () => {
    if (!isComplete) return;
    const content = calls.map(({ id, name: tool }) => ({
      type: 'tool_result' as const,
      id,
      name: tool,
      output: resultOf(results[id] ?? '') as never,
    }));
    onSend([{ role: 'tool', content }]);
  };
  return (
    <div className="stack tool-calls">
      <h3>The model asks for tools</h3>
      {calls.map(({ id, name: tool, input }) => (
        <div key={id} className="stack">
          <pre className="code" tabIndex={0} role="region" aria-label={`call of ${tool}, ${name}`}>
            {tool}({formatJson(input)})
          </pre>
          <TextArea
            label={`Result of ${tool}`}
            hint="JSON, or a text."
            className="mono"
            rows={2}
            spellCheck={false}
            value={results[id] ?? ''}
            onChange={(typed) => setResults((before) => ({ ...before, [id]: typed }))}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              event.stopPropagation();
              send();
            }}
          />
        </div>
      ))}
      <div>
        <Button look="small primary" disabled={!isComplete} onClick={send}>
          Send {pluralWord(calls.length, 'the result', 'the results')}
        </Button>
      </div>
    </div>
  );
}
