import { KEEP_ALIVE, serverSentEvent } from '../../http/event-stream.ts';
import type { ChangesFormat } from '../../services/streams/changes-hub.ts';

/** The stream of changes. Its events have no ids: a caller that reconnects reads everything again. */
export const changesStream: ChangesFormat = {
  keepAlive: KEEP_ALIVE,
  encode: (resources) => serverSentEvent({ event: 'changes', data: { type: 'changes', resources } }),
};
