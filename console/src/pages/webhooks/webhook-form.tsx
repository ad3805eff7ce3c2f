import { EVENT_TYPES } from '../../../../clients/typescript/src/generated/values.gen.ts';
import { CheckField, TextArea, TextField } from '../../components/fields.tsx';

import type { CreateWebhook, Webhook } from './types.ts';

/** The raw input of a webhook. */
export interface WebhookForm {
  url: string;
  events: (typeof EVENT_TYPES)[number][];
  description: string;
  rateLimit: string;
  /** One `Name: value` per line. */
  headers: string;
}

export const EMPTY_WEBHOOK: WebhookForm = {
  url: '',
  // Events of releases, monitors and traces are opt-in.
  events: EVENT_TYPES.filter((event) => !/^(release|monitor|trace)\./.test(event)),
  description: '',
  rateLimit: '',
  headers: '',
};

export const formOf = ({ url, events, description, rate_limit_per_minute }: Webhook): WebhookForm => ({
  url,
  events: EVENT_TYPES.filter((event) => events.includes(event)),
  description: description ?? '',
  rateLimit: String(rate_limit_per_minute ?? ''),
  headers: '',
});

/** Everything except the headers. */
export const toFields = ({ url, events, description, rateLimit }: WebhookForm) =>
  ({
    url: url.trim(),
    events,
    description: description.trim() === '' ? null : description.trim(),
    rate_limit_per_minute: rateLimit === '' ? null : Number(rateLimit),
  }) satisfies CreateWebhook;

/** @throws Error that names the line */
export function toHeaders(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([^:]+):(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new Error(`“${line}” is not a header: write it as Name: value.`);
      return [name.trim(), value.trim()];
    }),
  );
}

export function WebhookFields({
  value,
  onChange,
  headersHint,
}: {
  value: WebhookForm;
  onChange: (value: WebhookForm) => void;
  headersHint: string;
}) {
  const set = (part: Partial<WebhookForm>) => onChange({ ...value, ...part });
  const toggle = (event: WebhookForm['events'][number], on: boolean) =>
    set({ events: EVENT_TYPES.filter((each) => (each === event ? on : value.events.includes(each))) });
  return (
    <>
      <TextField
        label="URL"
        type="url"
        value={value.url}
        onChange={(url) => set({ url })}
        required
        spellCheck={false}
        placeholder="https://example.com/hooks"
      />
      <fieldset>
        <legend>Events</legend>
        <div className="filters">
          {EVENT_TYPES.map((event) => (
            <CheckField
              key={event}
              label={event}
              checked={value.events.includes(event)}
              onChange={(on) => toggle(event, on)}
            />
          ))}
        </div>
      </fieldset>
      <TextField
        label="Description"
        value={value.description}
        onChange={(description) => set({ description })}
        maxLength={500}
      />
      <TextField
        label="Maximum requests per minute"
        type="number"
        min={1}
        max={6000}
        step={1}
        placeholder="no limit"
        value={value.rateLimit}
        onChange={(rateLimit) => set({ rateLimit })}
      />
      <TextArea
        label="Custom headers"
        className="mono"
        rows={2}
        spellCheck={false}
        value={value.headers}
        onChange={(headers) => set({ headers })}
        hint={headersHint}
      />
    </>
  );
}
