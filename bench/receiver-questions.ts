import { z } from 'zod';
import { startHelper } from './child.ts';

/** What `receiver.ts` is asked. */
export const ReceiverQuestion = z.discriminatedUnion('what', [
  z.object({ what: z.literal('port') }),
  z.object({ what: z.literal('forget') }),
  z.object({ what: z.literal('arrivals'), count: z.int(), quietMs: z.number() }),
]);

/** What it has received: requests in all, and when each event came first (milliseconds since 1970, in order). */
export const Arrivals = z.object({ requests: z.int(), firstAt: z.array(z.number()) });
export type Arrivals = z.infer<typeof Arrivals>;

/** A receiver of webhooks in a process of its own. */
export interface Receiver {
  url: string;
  forget(): Promise<void>;
  /** Once so many events have arrived, or none for 2 min, and nothing has come for `quietMs`. */
  arrivals(count: number, quietMs?: number): Promise<Arrivals>;
  stop(): Promise<void>;
}

/** @param answerMs how long it takes to answer */
export async function startReceiver(answerMs: number): Promise<Receiver> {
  const helper = await startHelper('receiver.ts', [String(answerMs)]);
  const { port } = await helper.ask({ what: 'port' }, z.object({ port: z.int() }));
  return {
    url: `http://127.0.0.1:${port}/hook`,
    async forget() {
      await helper.ask({ what: 'forget' }, Arrivals);
    },
    arrivals: (count, quietMs = 0) => helper.ask({ what: 'arrivals', count, quietMs }, Arrivals),
    stop: () => helper.stop(),
  };
}
