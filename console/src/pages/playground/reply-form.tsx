import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { TextArea } from '../../components/fields.tsx';
import type { ChatMessage } from './pane-state.ts';
import type { Run } from './run.ts';

/** The output as a message of the conversation; empty if there was none. */
export function replyOf({ output, toolCalls }: Pick<Run, 'output' | 'toolCalls'>): ChatMessage[] {
  if (toolCalls.length === 0) return output === '' ? [] : [{ role: 'assistant', content: output }];
  const text = output === '' ? [] : [{ type: 'text' as const, text: output }];
  return [
    { role: 'assistant', content: [...text, ...toolCalls.map((call) => ({ type: 'tool_call' as const, ...call }))] },
  ];
}

/** A form for the next message of a conversation. */
export function ReplyForm({
  name,
  onSend,
  onCancel,
}: {
  name: string;
  onSend: (text: string) => void;
  onCancel: () => void;
}) {
  const [text, setText] = useState('');
  const send = () => {
    if (text.trim() !== '') onSend(text);
  };
  return (
    <div className="stack">
      <TextArea
        label={`Next message to ${name}`}
        rows={3}
        value={text}
        onChange={setText}
        autoFocus
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          // Submits only this form.
          event.preventDefault();
          event.stopPropagation();
          send();
        }}
      />
      <div className="row">
        <Button look="small primary" disabled={text.trim() === ''} onClick={send}>
          Send
        </Button>
        <Button look="small" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
