import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { Editor } from '../../components/editor.tsx';
import { CheckField, TextArea, TextField } from '../../components/fields.tsx';
import { t } from '../../strings.ts';
import { type EditedMessage, newMessage } from './content.ts';

const ROLES = ['system', 'user', 'assistant', 'tool', 'placeholder'] as const;

/** The messages of a prompt, in order: each has a role and a text, or is a placeholder for messages of a run. */
export function MessagesForm({
  messages,
  onChange,
  disabled,
}: {
  messages: EditedMessage[];
  onChange: (messages: EditedMessage[]) => void;
  disabled: boolean;
}) {
  const change = (index: number, part: Partial<EditedMessage>) =>
    onChange(messages.map((message, at) => (at === index ? { ...message, ...part } : message)));
  const move = (index: number, by: number) => {
    const message = messages[index];
    if (message) onChange(messages.toSpliced(index, 1).toSpliced(index + by, 0, message));
  };
  return (
    <div className="stack">
      <ol className="stack">
        {messages.map((message, index) => (
          <li key={message.key} className="card">
            <MessageForm message={message} at={index} onChange={(part) => change(index, part)} disabled={disabled}>
              <Button
                look="small"
                disabled={index === 0}
                aria-label={`Move message ${index + 1} up`}
                onClick={() => move(index, -1)}
              >
                ↑
              </Button>
              <Button
                look="small"
                disabled={index === messages.length - 1}
                aria-label={`Move message ${index + 1} down`}
                onClick={() => move(index, 1)}
              >
                ↓
              </Button>
              <Button
                look="small"
                aria-label={`Remove message ${index + 1}`}
                onClick={() => onChange(messages.toSpliced(index, 1))}
              >
                Remove
              </Button>
            </MessageForm>
          </li>
        ))}
      </ol>
      <div>
        <Button
          onClick={() => onChange([...messages, newMessage(messages.at(-1)?.role === 'user' ? 'assistant' : 'user')])}
        >
          Add a message
        </Button>
      </div>
    </div>
  );
}

function MessageForm({
  message,
  at,
  onChange,
  disabled,
  children,
}: {
  message: EditedMessage;
  at: number;
  onChange: (part: Partial<EditedMessage>) => void;
  disabled: boolean;
  children: ReactNode;
}) {
  const { role, text, isJson, required } = message;
  const label = t(`Message ${at + 1}`);
  return (
    <>
      <div className="row">
        <select
          aria-label={`Role of message ${at + 1}`}
          className="narrow"
          value={role}
          onChange={(event) => {
            const chosen = ROLES.find((each) => each === event.target.value) ?? 'user';
            onChange({ role: chosen, isJson: chosen === 'tool' || (isJson && chosen !== 'placeholder') });
          }}
        >
          {ROLES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        {children}
      </div>
      {role === 'placeholder' ? (
        <>
          <TextField
            label={`${label}: variable`}
            value={text}
            onChange={(value) => onChange({ text: value })}
            hint="Each run gives messages by this name, a chat’s history for instance."
          />
          <CheckField label="Required" checked={required} onChange={(checked) => onChange({ required: checked })} />
        </>
      ) : isJson ? (
        <TextArea
          label={`${label}: parts, as a JSON list`}
          className="mono"
          rows={6}
          spellCheck={false}
          value={text}
          onChange={(value) => onChange({ text: value })}
        />
      ) : (
        <Editor
          label={label}
          value={text}
          onChange={(value) => onChange({ text: value })}
          readOnly={disabled}
          minLines={3}
        />
      )}
    </>
  );
}
