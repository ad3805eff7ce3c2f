import { KEEP_ALIVE, serverSentEvent } from '../../http/event-stream.ts';
import type { ChangesFormat } from '../../services/streams/changes-hub.ts';

/** The stream of changes as callers see it. Its events have no ids: whoever comes anew reads everything anew. */
export const changesStream: ChangesFormat = {
  keepAlive: KEEP_ALIVE,
  encode: (resources) => serverSentEvent({ event: 'changes', data: { type: 'changes', resources } }),
};
