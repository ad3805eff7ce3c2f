import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { arrayOf, given } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { invalidField } from '../../domain/errors.ts';
import { walkIncludes } from './include-walk.ts';

/** The maximum number of includes that one error names. */
const MAX_NAMED = 20;

/** The versions under protected labels to consider. Default: all of the workspace, including those of archived prompts. */
export interface HeldBy {
  promptId?: string | undefined;
  label?: string | undefined;
}

const nameOf = (ref: string) => sql<string>`split_part(${sql.ref(ref)}, '@', 1)`;
const selectorOf = (ref: string) => sql<string>`split_part(${sql.ref(ref)}, '@', 2)`;

/** The versions under protected labels. */
const selectHeld = (db: Builder, { promptId, label }: HeldBy) =>
  db
    .selectFrom('prompt_labels as held')
    .innerJoin('protected_labels as g', 'g.label', 'held.label')
    .innerJoin('prompt_versions as hv', (join) =>
      join.onRef('hv.prompt_id', '=', 'held.prompt_id').onRef('hv.version', '=', 'held.version'),
    )
    .where((eb) =>
      eb.and([
        ...given(promptId, (value) => eb('held.prompt_id', '=', value)),
        ...given(label, (value) => eb('held.label', '=', value)),
      ]),
    );

/** The references in their own texts. */
const heldRefs = (db: Builder, held: HeldBy) =>
  arrayOf(
    selectHeld(db, held)
      .innerJoinLateral(sql<{ ref: string }>`unnest(hv.include_refs)`.as<'own'>(sql`own(ref)`), (join) => join.onTrue())
      .select('own.ref')
      .distinct(),
  );

/** Whether any version under a protected label includes the prompt, at any depth and by any reference. */
export async function isHeld(query: Query, name: string): Promise<boolean> {
  // Most prompts are not included anywhere.
  const [included] = await query((db) =>
    db.selectFrom('prompt_includes').select('prompt_id').where('included_name', '=', name).limit(1),
  );
  if (included === undefined) return false;
  const [held] = await query((db) =>
    walkIncludes(db, heldRefs(db, {}))
      .selectFrom('walk')
      .select('walk.ref')
      .where(nameOf('walk.ref'), '=', name)
      .limit(1),
  );
  return held !== undefined;
}

/**
 * Checks that versions under protected labels include, at any depth, only prompts pinned to a version or to a protected label,
 * because anything else can be changed without `publish`. Call it with the lock `includes`.
 * @param at path of the invalid field
 * @param change the refused change, in words
 * @param selector only includes by this label count. Default: all
 * @throws ApiError `invalid_request`
 */
export async function requirePinned(
  query: Query,
  held: HeldBy,
  { at, change, selector }: { at: string; change: string; selector?: string | undefined },
): Promise<void> {
  const loose = await query((db) =>
    walkIncludes(db, heldRefs(db, held))
      .selectFrom('walk')
      .select('walk.ref')
      .distinct()
      .where(sql<SqlBool>`${selectorOf('walk.ref')} !~ '^[0-9]{1,9}$'`)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb.selectFrom('protected_labels as p').select('p.id').where('p.label', '=', selectorOf('walk.ref')),
          ),
        ),
      )
      .where((eb) => eb.and(given(selector, (value) => eb(selectorOf('walk.ref'), '=', value))))
      .orderBy('walk.ref')
      .limit(MAX_NAMED + 1),
  );
  if (loose.length === 0) return;
  const refs = loose.slice(0, MAX_NAMED).map(({ ref }) => ref);
  const includers = await query((db) =>
    walkIncludes(db, heldRefs(db, held))
      .selectFrom('prompt_versions as v')
      .innerJoin('prompts as p', 'p.id', 'v.prompt_id')
      .innerJoinLateral(sql<{ ref: string }>`unnest(v.include_refs)`.as<'own'>(sql`own(ref)`), (join) => join.onTrue())
      .select(['p.name', 'v.version', 'own.ref'])
      .where(sql<SqlBool>`own.ref = any(${refs}::text[])`)
      .where((eb) =>
        eb.or([
          eb('v.id', 'in', eb.selectFrom('walk').select('walk.version_id').where('walk.version_id', 'is not', null)),
          eb('v.id', 'in', selectHeld(db, held).select('hv.id')),
        ]),
      )
      .orderBy('p.name')
      .orderBy('v.version')
      .orderBy('own.ref')
      .limit(MAX_NAMED + 1),
  );
  const named = includers
    .slice(0, MAX_NAMED)
    .map(({ name, version, ref }) => `version ${version} of "${name}" includes "${ref}"`);
  throw invalidField(
    at,
    `${change}: ${named.join(', ')}${includers.length > MAX_NAMED ? ', and there are more' : ''}. A version with a protected label ` +
      'may include only prompts pinned to a version ("name@3") or to a protected label, at every level',
  );
}
