import type { Readable } from 'node:stream';
import { type SqlBool, sql } from 'kysely';
import type { Database, WorkspaceDatabase } from '../../db/database.ts';
import { prepared } from '../../db/statement.ts';
import { ApiError } from '../../domain/errors.ts';
import { ENDED_EVALUATION, type EvaluationStatus } from '../../domain/evaluations/evaluation-states.ts';
import { type EvaluationRow, getCurrentEvaluation } from '../evaluations/evaluations.ts';
import type { Hub, Source } from './open-readers.ts';
import { createPollingHub, type PollingHubDeps } from './polling-hub.ts';

/** An event for a reader of an evaluation: its current state, or its end. */
export interface ProgressEvent {
  type: 'evaluation.progress' | `evaluation.${(typeof ENDED_EVALUATION)[number]}`;
  evaluation: EvaluationRow;
}

export interface ProgressFormat {
  encode(event: ProgressEvent): string;
  /** Sent so that the connection is not considered dead. */
  keepAlive: string;
}

/**
 * Streams running evaluations to callers of this process: the evaluation now and after every change, as bytes. The stream ends
 * with the evaluation; or without a last event if the evaluation is deleted or this process stops, and the caller then starts
 * again. Throws ApiError `not_found`.
 */
export type ProgressHub = Hub<(db: WorkspaceDatabase, id: string) => Promise<Readable>>;

/** Summing up the results of a run takes at most a twentieth of the time. */
const REST_FACTOR = 20;

/** `version` differs after every change of the row. */
const LOOK = prepared<{ ids: string[] }>()((db, { ids }) =>
  db
    .selectFrom('evaluations')
    .select(['id', 'workspace_id', 'status', sql<string>`xmin::text`.as('version')])
    .where(sql<SqlBool>`id = any(${ids}::uuid[])`),
);

const hasEnded = (status: EvaluationStatus) => ENDED_EVALUATION.find((ended) => ended === status);

/** An evaluation with readers, and what each reader was last sent. */
interface ReadEvaluation extends Source<Buffer | undefined> {
  db: WorkspaceDatabase;
  id: string;
  event: Buffer | undefined;
  hasEnded: boolean;
  /** The version of the row when it was last read. */
  version: string | undefined;
  reading: Promise<void> | undefined;
  /** The results are not summed up before this time. */
  restsUntil: number;
}

export interface ProgressHubDeps extends PollingHubDeps {
  db: Pick<Database, 'system'>;
  format: ProgressFormat;
}

/** Events contain the whole row, so a slow reader misses only intermediate steps, and nothing has to be stored for readers that reconnect. */
export function createProgressHub({ db: { system }, format, ...deps }: ProgressHubDeps): ProgressHub {
  /** By workspace and id. */
  const open = createPollingHub<Buffer | undefined, ReadEvaluation>(deps, {
    what: 'read progress',
    keepAlive: format.keepAlive,
    look,
  });

  async function look(looked: readonly ReadEvaluation[]): Promise<void> {
    const rows = await system.query(LOOK, { ids: looked.map(({ id }) => id) });
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const source of looked) {
      const row = found.get(source.id);
      if (row?.workspace_id !== source.db.workspaceId) {
        drop(source);
        continue;
      }
      const goesOn = row.status === 'running' || row.status === 'paused';
      if (row.version !== source.version || (goesOn && performance.now() >= source.restsUntil))
        read(source, row.version).catch(open.warn);
      else deliver(source);
    }
  }

  /** Reads the evaluation for all of its readers, and sends it to the readers that have not seen this state. */
  function read(source: ReadEvaluation, version: string | undefined): Promise<void> {
    source.reading ??= (async () => {
      const { db, id } = source;
      const startedAt = performance.now();
      try {
        const evaluation = await getCurrentEvaluation(db, id, db.heavy.query);
        const ended = hasEnded(evaluation.status);
        const event = Buffer.from(
          format.encode({ type: ended === undefined ? 'evaluation.progress' : `evaluation.${ended}`, evaluation }),
        );
        if (source.event?.equals(event) !== true) source.event = event;
        source.version = version;
        source.hasEnded = ended !== undefined;
        // A retry may continue it: new readers read it again.
        if (source.hasEnded) open.forget(source);
        deliver(source);
      } catch (error) {
        if (error instanceof ApiError) drop(source);
        throw error;
      } finally {
        source.reading = undefined;
        source.restsUntil = performance.now() + REST_FACTOR * (performance.now() - startedAt);
      }
    })();
    return source.reading;
  }

  function deliver(source: ReadEvaluation): void {
    const { event, readers } = source;
    if (event === undefined) return;
    for (const [reader, sent] of readers) {
      if (sent !== event && (reader.isReady || source.hasEnded)) {
        readers.set(reader, event);
        reader.send(event);
      }
      if (source.hasEnded) reader.finish();
    }
  }

  /** It was deleted: a caller that requests it again gets an error. */
  function drop(source: ReadEvaluation): void {
    open.forget(source);
    for (const reader of source.readers.keys()) reader.finish();
  }

  return open.hub(async (db, id) => {
    const source = open.enter(`${db.workspaceId} ${id}`, (common) => ({
      ...common,
      db,
      id,
      event: undefined,
      hasEnded: false,
      version: undefined,
      reading: undefined,
      restsUntil: 0,
    }));
    try {
      if (source.event === undefined) await read(source, undefined);
      const reader = open.add(source, undefined);
      deliver(source);
      if (open.isClosed) reader.finish();
      return reader;
    } catch (error) {
      open.leave(source);
      throw error;
    }
  });
}
