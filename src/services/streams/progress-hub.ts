import type { Readable } from 'node:stream';
import { type SqlBool, sql } from 'kysely';
import type { Database, WorkspaceDatabase } from '../../db/database.ts';
import { prepared } from '../../db/statement.ts';
import { ApiError } from '../../domain/errors.ts';
import { ENDED_EVALUATION, type EvaluationStatus } from '../../domain/evaluations/evaluation-states.ts';
import { type EvaluationRow, getCurrentEvaluation } from '../evaluations/evaluations.ts';
import type { Hub, Source } from './open-readers.ts';
import { createPollingHub, type PollingHubDeps } from './polling-hub.ts';

/** What a reader of an evaluation is told: how it is now, and how it has ended. */
export interface ProgressEvent {
  type: 'evaluation.progress' | `evaluation.${(typeof ENDED_EVALUATION)[number]}`;
  evaluation: EvaluationRow;
}

export interface ProgressFormat {
  encode(event: ProgressEvent): string;
  /** What is sent so that the connection is not taken for dead. */
  keepAlive: string;
}

/**
 * What callers of this process read of evaluations while they run: the evaluation as it is, and whenever it has changed, as bytes. It ends with
 * the evaluation; or without its last event where the evaluation is deleted or this process stops: the caller then begins anew. Throws
 * ApiError `not_found`.
 */
export type ProgressHub = Hub<(db: WorkspaceDatabase, id: string) => Promise<Readable>>;

/** Summing up the results of a run takes at most a twentieth of the time. */
const REST_FACTOR = 20;

/** `version` is another one after every change of the row. */
const LOOK = prepared<{ ids: string[] }>()((db, { ids }) =>
  db
    .selectFrom('evaluations')
    .select(['id', 'workspace_id', 'status', sql<string>`xmin::text`.as('version')])
    .where(sql<SqlBool>`id = any(${ids}::uuid[])`),
);

const hasEnded = (status: EvaluationStatus) => ENDED_EVALUATION.find((ended) => ended === status);

/** An evaluation that somebody reads; of each reader what it was sent last. */
interface ReadEvaluation extends Source<Buffer | undefined> {
  db: WorkspaceDatabase;
  id: string;
  event: Buffer | undefined;
  hasEnded: boolean;
  /** Of the row, when it was read last. */
  version: string | undefined;
  reading: Promise<void> | undefined;
  /** The results are not summed up before. */
  restsUntil: number;
}

export interface ProgressHubDeps extends PollingHubDeps {
  db: Pick<Database, 'system'>;
  format: ProgressFormat;
}

/**
 * What is told is how the row is, so a reader who takes nothing for a while misses nothing but steps in between, and nothing is kept for
 * readers who come again.
 */
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

  /** Reads the evaluation, for all of its readers, each of whom is sent it where it has changed. */
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
        // A retry may go on with it: whoever comes now reads it anew.
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

  /** It was deleted: whoever asks again is told so. */
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
