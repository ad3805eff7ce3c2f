import { defineEntity, p } from '@mikro-orm/core';

/** The content of a stream row: a piece of the text, or a tool call as JSON. */
export const STREAM_DELTA_TYPES = ['text', 'tool_call'] as const;
export type StreamDeltaType = (typeof STREAM_DELTA_TYPES)[number];

/**
 * A piece of a response on its way from the worker to stream readers. The table is unlogged: after a crash of PostgreSQL it is empty, and
 * readers get the rest from the execution, which remains the source of truth. Rows are deleted some minutes after the end of their execution.
 */
export const StreamDelta = defineEntity({
  name: 'StreamDelta',
  tableName: 'stream_deltas',
  properties: {
    executionId: p.uuid().primary(),
    /** The number of the call of the execution, from 1. */
    attempt: p.integer().primary(),
    /** Counts the events of an attempt. 1 is its start, which has no row. */
    sequence: p.integer().primary(),
    workspaceId: p.uuid(),
    type: p.enum(() => Object.fromEntries(STREAM_DELTA_TYPES.map((type) => [type, type]))).$type<StreamDeltaType>(),
    data: p.text(),
  },
});
