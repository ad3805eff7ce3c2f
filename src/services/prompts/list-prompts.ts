import { type Expression, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { readSort, type Sort } from '../../db/sort.ts';
import { containing, escapeLike } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { type PromptRow, selectPrompts, versionOfLabel } from './prompts.ts';

export interface PromptFilter {
  /** The part of the name before a `/`. */
  group?: string | undefined;
  /** Part of the name or the description, ignoring case. */
  q?: string | undefined;
  model?: string | undefined;
  /** Prompts with this label, each shown in the labelled version. */
  label?: string | undefined;
  /** Prompts that include this one, in their latest version or in a version with a label. */
  includes?: string | undefined;
  archived: 'true' | 'false' | 'all';
  sort: Sort<'name' | 'created_at' | 'updated_at'>;
}

const bytes = () => sql<number>`bytes + coalesce(octet_length(description), 0) + pg_column_size(labels)`;

/** A condition: the name in this column starts with the group and a `/`. */
export const isInGroup = (column: string, group: string) =>
  sql<SqlBool>`${sql.ref(column)} like ${`${escapeLike(group)}/%`}`;

/**
 * The prompts that include the one of this name, in their latest version or in a version with a label. Independent of the
 * surrounding statement, so that PostgreSQL can start here if they are few.
 */
const includersOf = (db: Builder, name: string) =>
  db
    .selectFrom('prompt_includes as i')
    .innerJoin('prompts as q', 'q.id', 'i.prompt_id')
    .select('i.prompt_id')
    .where('i.included_name', '=', name)
    .where((include) =>
      include.or([
        include('i.version', '=', include.ref('q.latest_version')),
        include.exists(
          include
            .selectFrom('prompt_labels as l')
            .select('l.id')
            .whereRef('l.prompt_id', '=', 'i.prompt_id')
            .whereRef('l.version', '=', 'i.version'),
        ),
      ]),
    );

/** A version, and the versions that all labels of its prompt point at. */
export type ListedPromptRow = PromptRow & { all_labels: { label: string; version: number }[] };

/** Prompts of the workspace, by default in order of name: a page of at most `limit` after `after`. */
export function listPrompts(
  db: WorkspaceDatabase,
  { archived, group, q, model, label, includes, sort }: PromptFilter,
  limit: number,
  after: [value: string, name: string] | undefined,
): Promise<Page<ListedPromptRow>> {
  const { by: column, direction } = readSort(sort);
  const select = (own: Builder) =>
    selectPrompts(own)
      .select((eb) =>
        jsonArrayFrom(
          eb
            .selectFrom('prompt_labels as l')
            .select(['l.label', 'l.version'])
            .whereRef('l.prompt_id', '=', 'p.id')
            .orderBy('l.label'),
        ).as('all_labels'),
      )
      .where((eb) => {
        const conditions: Expression<SqlBool>[] = [];
        if (archived !== 'all') conditions.push(eb('p.archived_at', archived === 'true' ? 'is not' : 'is', null));
        if (group !== undefined) conditions.push(isInGroup('p.name', group));
        if (q !== undefined) {
          const pattern = containing(q);
          conditions.push(eb.or([eb('p.name', 'ilike', pattern), eb('p.description', 'ilike', pattern)]));
        }
        if (model !== undefined) conditions.push(eb('v.model', '=', model));
        if (includes !== undefined) conditions.push(eb('p.id', 'in', includersOf(own, includes)));
        const version =
          label === undefined || label === 'latest' ? eb.ref('p.latest_version') : versionOfLabel(eb, label);
        conditions.push(eb('v.version', '=', version));
        if (after !== undefined) {
          const [value, name] = after;
          const key = column === 'name' ? sql<string>`${value}` : sql<Date>`${value}::timestamptz`;
          conditions.push(
            eb(eb.refTuple(`p.${column}`, 'p.name'), direction === 'desc' ? '<' : '>', eb.tuple(key, name)),
          );
        }
        return eb.and(conditions);
      });
  return selectPage(
    db.query,
    {
      select,
      orderBy: [[column, direction], ...(column === 'name' ? [] : [['name', direction] as const])],
      bytes: () => sql<number>`${bytes()} + pg_column_size(all_labels)`,
    },
    limit,
  );
}

/** All versions of one prompt, newest first: a page of at most `limit` below version `before`. */
export function listVersions(
  db: WorkspaceDatabase,
  promptId: string,
  limit: number,
  before: number | undefined,
): Promise<Page<PromptRow>> {
  const select = (own: Builder) =>
    selectPrompts(own)
      .where('p.id', '=', promptId)
      .$if(before !== undefined, (all) => all.where('v.version', '<', before ?? 0));
  return selectPage(db.query, { select, orderBy: [['version', 'desc']], bytes }, limit);
}
