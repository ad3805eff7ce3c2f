import { parseArgs } from 'node:util';
import { Behaviour } from './protocol.ts';
import type { StandIn, StandInOptions } from './stand-in.ts';

/**
 * Runs a stand-in as a process of its own, so that its counts outlive whatever calls it. Prints one line, its port, when it
 * is ready. Flags: `--port`, `--latency` (ms), `--rate-limit-every`, `--retry-after`, `--fail-every`, `--mode`, `--status`,
 * `--answer` (the same text to every prompt).
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
    },
  });
  const { answer } = values;
  const standIn = await start({
    keepCalls: false,
    port: Number(values.port ?? 0),
    latencyMs: Number(values.latency ?? 0),
    ...(answer !== undefined && { answer: () => answer }),
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
