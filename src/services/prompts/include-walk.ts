import { type Expression, type RawBuilder, sql } from 'kysely';
import { unnestOf } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { BUCKETS } from '../../domain/releases/rollout.ts';

/** The version that the label `l` refers to: the candidate of its release if the key is in its share. Like `armOf`. */
const versionFor = (key: Expression<string | null>): RawBuilder<number> => sql`case when l.candidate is not null
  and ('x' || encode(substr(sha256(convert_to(l.salt || ':' || ${key}::text, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint % ${sql.lit(BUCKETS)}
    < round(l.percent * ${sql.lit(BUCKETS / 100)}) then l.candidate else l.version end`;

/**
 * Starts a statement with the CTE `walk`: everything that the references resolve to, at any depth, in one snapshot. Each
 * reference is followed once, so a cycle ends the walk; cycles are detected afterwards. An unresolved reference has no version.
 * @param key decides which version a label refers to while a release runs; default: the stable one
 */
export function walkIncludes(
  db: Builder,
  refs: Expression<string[]>,
  key: Expression<string | null> = sql<null>`null`,
) {
  return db.withRecursive('walk(ref, version_id)', (cte) => {
    const found = (ref: string) => {
      const name = sql<string>`split_part(${sql.ref(ref)}, '@', 1)`;
      const selector = sql<string>`split_part(${sql.ref(ref)}, '@', 2)`;
      return cte
        .selectFrom('prompts as p')
        .innerJoin('prompt_versions as v', 'v.prompt_id', 'p.id')
        .select('v.id')
        .where('p.name', '=', name)
        .where((eb) =>
          eb(
            'v.version',
            '=',
            eb
              .case()
              .when(sql<boolean>`${selector} in ('', 'latest')`)
              .then(eb.ref('p.latest_version'))
              .when(sql<boolean>`${selector} ~ '^[0-9]{1,9}$'`)
              .then(sql<number>`${selector}::int`)
              .else(
                eb
                  .selectFrom('prompt_labels as l')
                  .select(versionFor(key).as('version'))
                  .whereRef('l.prompt_id', '=', 'p.id')
                  .where('l.label', '=', selector),
              )
              .end(),
          ),
        );
    };
    return cte
      .selectFrom(unnestOf('root', { ref: ['text', refs] }))
      .leftJoinLateral(found('root.ref').as('found'), (join) => join.onTrue())
      .select(['root.ref', 'found.id as version_id'])
      .union(
        cte
          .selectFrom('walk')
          .innerJoin('prompt_versions as v', 'v.id', 'walk.version_id')
          .innerJoinLateral(sql<{ ref: string }>`unnest(v.include_refs)`.as<'inner'>(sql`"inner"(ref)`), (join) =>
            join.onTrue(),
          )
          .leftJoinLateral(found('inner.ref').as('found'), (join) => join.onTrue())
          .select(['inner.ref', 'found.id as version_id']),
      );
  });
}
