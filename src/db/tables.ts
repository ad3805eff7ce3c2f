import type { InferKyselyDB } from '@mikro-orm/postgresql';
import type { ColumnType } from 'kysely';
import { entities } from './entities/index.ts';

type EntityTables = InferKyselyDB<(typeof entities)[number]>;

/** Statements of a workspace never write this column: binding the statement sets it. Nothing moves to another workspace. */
type WorkspaceColumn = ColumnType<string, string | undefined, never>;

/** The columns of every table, derived from the entities, with the types that the driver returns. */
export type Tables = {
  [Table in keyof EntityTables]: {
    [Column in keyof EntityTables[Table]]: Column extends 'workspace_id'
      ? WorkspaceColumn
      : EntityTables[Table][Column];
  };
};

/** The owner of a table's rows: the workspace in the column `workspace_id`, a row in a parent table, or no workspace. */
export type Ownership =
  | { kind: 'workspace' }
  | { kind: 'child'; parent: string /** The foreign key, such as `evaluation_id`. */; column: string }
  | { kind: 'none' };

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function ownershipOf(entity: (typeof entities)[number]): Ownership {
  const properties = Object.entries(entity.meta.properties);
  if (properties.some(([name]) => name === 'workspaceId')) return { kind: 'workspace' };
  for (const [name, property] of properties) {
    const target = property.primary && property.kind === 'm:1' ? property.entity() : undefined;
    if (typeof target === 'object' && 'meta' in target)
      return { kind: 'child', parent: target.meta.tableName, column: `${snakeCase(name)}_id` };
  }
  return { kind: 'none' };
}

/** The ownership of every table, by name. Derived from the entities, so that a new table can't be forgotten. */
export const OWNERSHIP: ReadonlyMap<string, Ownership> = new Map(
  entities.map((entity) => [entity.meta.tableName, ownershipOf(entity)]),
);
