import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import type { EventType } from '../../domain/events.ts';
import { newId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/json.ts';

/** Writes an event in the transaction of the change that it tells of, and wakes the relay when that commits. */
export async function writeEvent(query: Query, type: EventType, data: { [key: string]: JsonValue }): Promise<void> {
  await query(
    {
      text: `with written as (
               insert into events (workspace_id, id, type, data, created_at) values ($1, $2, $3, $4, now()) returning 1
             ) select pg_notify('${CHANNELS.eventWritten}', '') from written`,
    },
    [newId(), type, data],
  );
}
