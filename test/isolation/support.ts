import process from 'node:process';
import { createOtherWorkspace } from '../api/workspace.ts';
import { TEST_KEY } from '../support/providers/models.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import type { StandIn } from '../support/providers/stand-in.ts';
import { type Call, startTestService, type TestService } from '../support/service.ts';

/**
 * Time limit for work of another workspace. It takes well under a second on a quiet machine (docs/reliability.md), and took
 * minutes without its own slots: the limit in between leaves room for a busy machine.
 */
export function maxMs(idleMs: number): number {
  return 10_000 + 20 * idleMs;
}

/** Two workspaces at one service and one provider, which never responds to prompts that start with `stall`. */
export interface TwoTenants {
  service: TestService;
  openai: StandIn;
  /** The workspace that overloads the service. */
  hostile: Call;
  /** The workspace with small requests. */
  other: Call;
  stop(): Promise<void>;
}

export async function startTwoTenants(environment: Record<string, string> = {}): Promise<TwoTenants> {
  const openai = await startOpenAiServer({ keepCalls: false });
  openai.behave({ mode: 'stall', matching: 'stall' });
  const service = await startTestService({
    OPENAI_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: openai.baseUrl,
    MODEL_TIMEOUT: '20s',
    // Hanging requests never end.
    SHUTDOWN_GRACE: '1s',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    ...environment,
  });
  const other = await createOtherWorkspace(service, 'other');
  for (const call of [service.call, other.call]) {
    const prompt = { name: 'say', template: '{{ text }}', model: 'openai/gpt-4o-mini' };
    const { status, body } = await call('POST', '/prompts', { body: prompt });
    if (status !== 201) throw new Error(JSON.stringify(body));
  }
  return {
    service,
    openai,
    hostile: service.call,
    other: other.call,
    async stop() {
      // Stalled calls end with their connections.
      await openai.close();
      await service.stop();
    },
  };
}

/** Runs `work` again and again, one after the other. @returns the median of how long it took, in ms */
export async function medianMs(times: number, work: (index: number) => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const begun = performance.now();
    await work(index);
    took.push(performance.now() - begun);
  }
  return took.sort((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
}

/** Runs all of `works`, `atOnce` at a time. */
export async function flood(count: number, atOnce: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** `ISOLATION_REPORT=true` prints the measurements. */
export function report(measured: Record<string, number>): void {
  if (process.env['ISOLATION_REPORT'] === 'true') console.info(measured);
}
