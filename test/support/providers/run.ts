import { parseArgs } from 'node:util';
import { Behaviour, type RecordedCall } from './protocol.ts';
import type { StandIn, StandInOptions } from './stand-in.ts';

/**
 * Runs a stand-in as a separate process, so that its counts outlive its callers. Prints its port on one line when it is ready.
 * Flags: `--port`, `--latency` (ms), `--rate-limit-every`, `--retry-after`, `--fail-every`, `--mode`, `--status`, `--answer`
 * (the same text for every prompt), `--tokens` (usage of every prompt, and of its response).
 */
export async function runStandIn(start: (options: StandInOptions) => Promise<StandIn>): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      latency: { type: 'string' },
      'rate-limit-every': { type: 'string' },
      'retry-after': { type: 'string' },
      'fail-every': { type: 'string' },
      mode: { type: 'string' },
      status: { type: 'string' },
      answer: { type: 'string' },
      tokens: { type: 'string' },
    },
  });
  const { answer, tokens } = values;
  const usage = tokens === undefined ? undefined : { input: Number(tokens), output: Number(tokens) };
  const standIn = await start({
    keepCalls: false,
    port: Number(values.port ?? 0),
    latencyMs: Number(values.latency ?? 0),
    ...((answer !== undefined || usage !== undefined) && {
      answer: ({ prompt }: RecordedCall) => ({ text: answer ?? `Answer to: ${prompt}`, ...(usage && { usage }) }),
    }),
  });
  standIn.behave(
    Behaviour.parse({
      rateLimitEvery: numberOrNone(values['rate-limit-every']),
      retryAfter: values['retry-after'],
      failEvery: numberOrNone(values['fail-every']),
      mode: values.mode,
      status: numberOrNone(values.status),
    }),
  );
  process.stdout.write(`${standIn.port}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void standIn.close().then(() => process.exit(0)));
  }
}

function numberOrNone(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
