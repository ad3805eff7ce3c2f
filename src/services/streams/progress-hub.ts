import type { Readable } from 'node:stream';
import { type SqlBool, sql } from 'kysely';
import type { Database, WorkspaceDatabase } from '../../db/database.ts';
import { prepared } from '../../db/statement.ts';
import { ApiError } from '../../domain/errors.ts';
import { ENDED_EVALUATION } from '../../domain/evaluations/evaluation-states.ts';
import type { Hub, Source } from './open-readers.ts';
import { createPollingHub, type PollingHubDeps } from './polling-hub.ts';

/** What an event says: that the record changed, or how it ended. */
export type ProgressStep = 'progress' | (typeof ENDED_EVALUATION)[number];

/** How records of one kind are found, read and sent. */
export interface ProgressFormat<Row> {
  table: 'evaluations' | 'improvements';
  /** Reads the record as it is now. @throws ApiError `not_found` */
  read(db: WorkspaceDatabase, id: string): Promise<Row>;
  statusOf(row: Row): string;
  encode(step: ProgressStep, row: Row): string;
  /** Sent so that the connection is not considered dead. */
  keepAlive: string;
}

/**
 * Streams running records to callers of this process: the record now and after every change, as bytes. The stream ends with the
 * run; or without a last event if the record is deleted or this process stops, and the caller then starts again. Throws ApiError
 * `not_found`.
 */
export type ProgressHub = Hub<(db: WorkspaceDatabase, id: string) => Promise<Readable>>;

/** Reading a record, such as summing up the results of a run, takes at most a twentieth of the time. */
const REST_FACTOR = 20;

/** `version` differs after every change of the row. */
const lookIn = (table: ProgressFormat<never>['table']) =>
  prepared<{ ids: string[] }>()((db, { ids }) =>
    db
      .selectFrom(table)
      .select(['id', 'workspace_id', 'status', sql<string>`xmin::text`.as('version')])
      .where(sql<SqlBool>`id = any(${ids}::uuid[])`),
  );
const LOOKS = { evaluations: lookIn('evaluations'), improvements: lookIn('improvements') };

const hasEnded = (status: string) => ENDED_EVALUATION.find((ended) => ended === status);

/** A record with readers, and what each reader was last sent. */
interface ReadRecord extends Source<Buffer | undefined> {
  db: WorkspaceDatabase;
  id: string;
  event: Buffer | undefined;
  hasEnded: boolean;
  /** The version of the row when it was last read. */
  version: string | undefined;
  reading: Promise<void> | undefined;
  /** It is not read before this time unless its row changes. */
  restsUntil: number;
}

export interface ProgressHubDeps<Row> extends PollingHubDeps {
  db: Pick<Database, 'system'>;
  format: ProgressFormat<Row>;
}

/** Events contain the whole record, so a slow reader misses only intermediate steps, and nothing has to be stored for readers that reconnect. */
export function createProgressHub<Row>({ db: { system }, format, ...deps }: ProgressHubDeps<Row>): ProgressHub {
  /** By workspace and id. */
  const open = createPollingHub<Buffer | undefined, ReadRecord>(deps, {
    what: 'read progress',
    keepAlive: format.keepAlive,
    look,
  });

  async function look(looked: readonly ReadRecord[]): Promise<void> {
    const rows = await system.query(LOOKS[format.table], { ids: looked.map(({ id }) => id) });
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

  /** Reads the record for all of its readers, and sends it to the readers that have not seen this state. */
  function read(source: ReadRecord, version: string | undefined): Promise<void> {
    source.reading ??= (async () => {
      const { db, id } = source;
      const startedAt = performance.now();
      try {
        const row = await format.read(db, id);
        const ended = hasEnded(format.statusOf(row));
        const event = Buffer.from(format.encode(ended ?? 'progress', row));
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

  function deliver(source: ReadRecord): void {
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
  function drop(source: ReadRecord): void {
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
