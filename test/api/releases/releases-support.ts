import type { Call } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';

/** Creates a prompt with a version for each model; the label `production` is on the first one. */
export async function seedPrompt(
  call: Call,
  name: string,
  models: readonly string[] = ['sandbox/echo', 'sandbox/echo'],
  label = 'production',
): Promise<void> {
  for (const [index, model] of models.entries())
    await call('POST', '/prompts', { body: { name, template: `Version ${index + 1}: {{ q }}`, model } });
  const { status } = await call('PUT', `/prompts/${name}/labels/${label}`, { body: { version: 1 } });
  if (status !== 200) throw new Error(`The label could not be set: ${status}`);
}

/** Starts a release of version 2. @returns its record */
export async function startRelease(call: Call, name: string, steps: unknown[] | undefined, more: object = {}) {
  const { status, body } = await call('POST', '/releases', {
    body: { prompt_name: name, label: 'production', version: 2, ...(steps && { steps }), ...more },
  });
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Waits until a release is as it should be. */
export const untilRelease = (
  call: Call,
  id: string,
  // biome-ignore lint/suspicious/noExplicitAny: see support/service.ts
  is: (release: any) => boolean,
) =>
  until(`release ${id}`, async () => {
    const { body } = await call('GET', `/releases/${id}`);
    return is(body) ? body : undefined;
  });

export const untilStatus = (call: Call, id: string, ...statuses: string[]) =>
  untilRelease(call, id, ({ status }) => statuses.includes(status));

/** Runs the prompt by its label. @returns the execution */
export const runByLabel = async (call: Call, name: string, rolloutKey?: string) =>
  (
    await call('POST', '/executions', {
      body: {
        prompt_name: name,
        label: 'production',
        variables: { q: 'hi' },
        ...(rolloutKey !== undefined && { rollout_key: rolloutKey }),
      },
    })
  ).body;

/** The version that the label is on. */
export const labelOf = async (call: Call, name: string): Promise<number> =>
  (await call('GET', `/prompts/${name}?label=production`)).body.version;
