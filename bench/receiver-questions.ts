import { z } from 'zod';
import { startHelper } from './child.ts';

/** Questions for `receiver.ts`. */
export const ReceiverQuestion = z.discriminatedUnion('what', [
  z.object({ what: z.literal('port') }),
  z.object({ what: z.literal('forget') }),
  z.object({ what: z.literal('arrivals'), count: z.int(), quietMs: z.number() }),
]);

/** The received requests: total number, and first arrival of each event (milliseconds since 1970, in order). */
export const Arrivals = z.object({ requests: z.int(), firstAt: z.array(z.number()) });
export type Arrivals = z.infer<typeof Arrivals>;

/** A webhook receiver in a separate process. */
export interface Receiver {
  url: string;
  forget(): Promise<void>;
  /** Waits until this many events have arrived, or none for 2 min, and nothing more for `quietMs`. */
  arrivals(count: number, quietMs?: number): Promise<Arrivals>;
  stop(): Promise<void>;
}

/** @param answerMs response time */
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
