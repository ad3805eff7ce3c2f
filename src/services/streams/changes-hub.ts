import type { Readable } from 'node:stream';
import type { AliasableExpression } from 'kysely';
import type { Database, WorkspaceDatabase } from '../../db/database.ts';
import { unnestOf } from '../../db/sql.ts';
import { type Builder, prepared } from '../../db/statement.ts';
import { AUDITED_TYPES, type AuditedType } from '../../domain/audit.ts';
import { EVENT_TYPES } from '../../domain/webhooks/events.ts';
import type { Hub, Source } from './open-readers.ts';
import { createPollingHub, type PollingHubDeps } from './polling-hub.ts';

export interface ChangesFormat {
  /** What has changed since the last event. Empty in the first event: later changes are sent from then on. */
  encode(resources: readonly AuditedType[]): string;
  /** Sent so that the connection is not considered dead. */
  keepAlive: string;
}

/** Streams the changes in a workspace to callers of this process: the types of changed resources, as bytes, until this process stops. */
export type ChangesHub = Hub<(db: Pick<WorkspaceDatabase, 'workspaceId'>) => Readable>;

interface Look {
  workspaceIds: string[];
  types: string[];
}

/** The newest row of each type in each workspace: one index look-up for each. */
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

/** A watched workspace, with the changes still to be sent to each reader; undefined before a reader's first event. */
interface WatchedWorkspace extends Source<Set<AuditedType> | undefined> {
  /** The newest row of each type of event and of audited resource; undefined before the first check. */
  newest: Map<string, string> | undefined;
  /** The changes found by the last check. */
  changed: Set<AuditedType>;
}

export interface ChangesHubDeps extends PollingHubDeps {
  db: Pick<Database, 'system'>;
  format: ChangesFormat;
}

/**
 * One check finds all changes, however many there are. The next check reports a change again: a row written at the same time, but
 * committed a little later, may come before it.
 */
export function createChangesHub({ db: { system }, format, ...deps }: ChangesHubDeps): ChangesHub {
  /** By workspace. */
  const open = createPollingHub<Set<AuditedType> | undefined, WatchedWorkspace>(deps, {
    what: 'check for changes',
    keepAlive: format.keepAlive,
    look,
  });

  async function look(looked: readonly WatchedWorkspace[]): Promise<void> {
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

  return open.hub(({ workspaceId }) => {
    const source = open.enter(workspaceId, (common) => ({ ...common, newest: undefined, changed: new Set() }));
    const reader = open.add(source, undefined);
    if (open.isClosed) reader.finish();
    return reader;
  });
}

/** `execution` of `execution.completed`. */
const resourceOf = (type: string) => type.split('.')[0] as AuditedType;
