import type { Readable } from 'node:stream';
import type { AliasableExpression } from 'kysely';
import type { Logger } from 'pino';
import type { Database, WorkspaceDatabase } from '../../db/database.ts';
import { isDatabaseUnavailable } from '../../db/errors.ts';
import { unnestOf } from '../../db/sql.ts';
import { type Builder, prepared } from '../../db/statement.ts';
import { AUDITED_TYPES, type AuditedType } from '../../domain/audit.ts';
import { EVENT_TYPES } from '../../domain/webhooks/events.ts';
import { createOpenReaders, lookingTick, type Source } from './open-readers.ts';

export interface ChangesFormat {
  /** What has changed since the last time; nothing, to begin with: what changes from then on is told. */
  encode(resources: readonly AuditedType[]): string;
  /** What is sent so that the connection is not taken for dead. */
  keepAlive: string;
}

/** What callers of this process are told of changes in their workspaces. */
export interface ChangesHub {
  /** The types of what changes in the workspace, as bytes, until this process stops. */
  open(db: Pick<WorkspaceDatabase, 'workspaceId'>): Readable;
  /** Streams that are open. */
  readonly openCount: number;
  /** Ends all streams. */
  close(): void;
}

const LOOK_EVERY_MS = 1_000;

interface Look {
  workspaceIds: string[];
  types: string[];
}

/** The newest row of each type in each workspace: one look into an index for each. */
const newestOf = (rowsOf: (db: Builder) => AliasableExpression<{ workspace_id: string; type: string; id: string }>) =>
  prepared<Look>()((db, { workspaceIds, types }) =>
    db
      .selectFrom(unnestOf('watched', { workspace_id: ['uuid', workspaceIds] }))
      .innerJoin(unnestOf('each', { type: ['text', types] }), (join) => join.onTrue())
      .innerJoinLateral(
        (eb) =>
          eb
            .selectFrom(rowsOf(db).as('row'))
            .select('row.id')
            .whereRef('row.workspace_id', '=', 'watched.workspace_id')
            .whereRef('row.type', '=', 'each.type')
            .orderBy('row.id', 'desc')
            .limit(1)
            .as('newest'),
        (join) => join.onTrue(),
      )
      .select(['watched.workspace_id', 'each.type', 'newest.id']),
  );
const NEWEST_EVENTS = newestOf((db) => db.selectFrom('events').select(['workspace_id', 'type', 'id']));
const NEWEST_ENTRIES = newestOf((db) =>
  db.selectFrom('audit_log').select(['workspace_id', 'resource_type as type', 'id']),
);

/** A workspace that somebody watches; of each reader what it is still to be told, and nothing before it has been told anything. */
interface WatchedWorkspace extends Source<Set<AuditedType> | undefined> {
  /** The newest row of each type of event and of audited resource; none before the first look. */
  newest: Map<string, string> | undefined;
  /** What the last look has found. */
  changed: Set<AuditedType>;
}

export interface ChangesHubDeps {
  db: Pick<Database, 'system'>;
  format: ChangesFormat;
  log: Logger;
  /** Default: 1 s. */
  lookEveryMs?: number;
}

/**
 * One look at the database a second serves all readers of the process, however much changes. A change is told of again by the next look:
 * what was written at the same time, and committed a little later, may stand before it.
 */
export function createChangesHub({
  db: { system },
  format,
  log,
  lookEveryMs = LOOK_EVERY_MS,
}: ChangesHubDeps): ChangesHub {
  /** By workspace. */
  const open = createOpenReaders<Set<AuditedType> | undefined, WatchedWorkspace>({
    everyMs: lookEveryMs,
    onTick: lookingTick({ keepAlive: format.keepAlive, look, onError: warn }),
  });
  const { sources } = open;

  function warn(error: unknown): void {
    if (isDatabaseUnavailable(error)) log.warn({ err: error }, 'cannot check for changes; trying again');
    else log.error({ err: error }, 'cannot check for changes; trying again');
  }

  async function look(): Promise<void> {
    const looked = [...sources.values()];
    const workspaceIds = looked.map(({ key }) => key);
    const rows = [
      ...(await system.query(NEWEST_EVENTS, { workspaceIds, types: EVENT_TYPES })),
      ...(await system.query(NEWEST_ENTRIES, { workspaceIds, types: [...AUDITED_TYPES] })),
    ];
    const found = Map.groupBy(rows, ({ workspace_id: id }) => id);
    for (const source of looked) {
      const { newest } = source;
      const now = new Map(found.get(source.key)?.map(({ type, id }) => [type, id]));
      source.newest = now;
      const again = source.changed;
      source.changed = new Set(
        newest === undefined
          ? []
          : [...now].filter(([type, id]) => newest.get(type) !== id).map(([type]) => resourceOf(type)),
      );
      deliver(source, [...again, ...source.changed]);
    }
  }

  function deliver({ readers }: WatchedWorkspace, changed: readonly AuditedType[]): void {
    for (const [reader, untold] of readers) {
      const due = new Set(untold === undefined ? [] : [...untold, ...changed]);
      if (!reader.isReady) {
        if (untold !== undefined) readers.set(reader, due);
        continue;
      }
      readers.set(reader, new Set());
      if (untold === undefined || due.size > 0) reader.send(Buffer.from(format.encode([...due].sort())));
    }
  }

  return {
    open({ workspaceId }) {
      const source = open.enter(workspaceId, (common) => ({ ...common, newest: undefined, changed: new Set() }));
      const reader = open.add(source, undefined);
      if (open.isClosed) reader.finish();
      return reader;
    },
    get openCount() {
      return open.openCount;
    },
    close: () => open.close(),
  };
}

/** `execution` of `execution.completed`. */
const resourceOf = (type: string) => type.split('.')[0] as AuditedType;
