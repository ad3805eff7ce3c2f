import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import { invalidField } from '../../domain/errors.ts';
import { backfillStates } from '../../domain/rules/backfill-states.ts';
import type { ScoreDataType, ScoreLimits } from '../../domain/scores/score.ts';
import { categoriesOf, type EvaluatorConfig, isPassOrFail } from '../../evaluators/registry.ts';

const SHOWN = 10;

/** The type that a name gets from the first score of an evaluator. */
export const typeOfEvaluator = (config: EvaluatorConfig): ScoreDataType =>
  categoriesOf(config) === undefined ? 'numeric' : 'categorical';

/** Only a type, as of a name without a definition. */
export const onlyType = (name: string, data_type: ScoreDataType): ScoreLimits => ({
  name,
  data_type,
  min: null,
  max: null,
  categories: null,
});

/** Why scores of an evaluator can never, or not always, be stored under its name; undefined if they can. */
function misfitOf(limits: ScoreLimits, config: EvaluatorConfig): string | undefined {
  const { name, data_type: type, min, max, categories } = limits;
  const own = categoriesOf(config);
  switch (type) {
    case 'numeric':
      if ((min ?? 0) <= 0 && (max ?? 1) >= 1) return undefined;
      return `scores named "${name}" are numbers from ${min ?? 'any'} to ${max ?? 'any'}, and an evaluator gives numbers from 0 to 1`;
    case 'boolean':
      if (isPassOrFail(config)) return undefined;
      return `scores named "${name}" are boolean, and "${config.type}" gives scores between 0 and 1: set a threshold, or use another name`;
    case 'categorical': {
      if (own === undefined)
        return `scores named "${name}" are categories, and "${config.type}" gives numbers: use a judge ("llm_judge") with these categories, or another name`;
      const known = categories?.map(({ value }) => value);
      const unknown = known === undefined ? [] : own.filter((value) => !known.includes(value));
      if (unknown.length === 0) return undefined;
      const shown = (known ?? []).slice(0, SHOWN).map((value) => `"${value}"`);
      return `scores named "${name}" are one of ${shown.join(', ')}${(known ?? []).length > SHOWN ? ', …' : ''}, and the judge can give "${unknown[0]}"`;
    }
    case 'text':
      return `scores named "${name}" are texts, and an evaluator gives numbers or categories: use another name`;
  }
}

/** The first evaluator whose scores can't be stored under its name, and why. @param limits by name */
export function firstMisfit(
  evaluators: readonly EvaluatorConfig[],
  limits: ReadonlyMap<string, ScoreLimits>,
): { config: EvaluatorConfig; misfit: string } | undefined {
  for (const config of evaluators) {
    const own = limits.get(config.name);
    const misfit = own && misfitOf(own, config);
    if (misfit !== undefined) return { config, misfit };
  }
  return undefined;
}

/** A resource that contains evaluators. */
interface Holder {
  /** A description: `the rule "tone"`. */
  called: string;
  evaluators: EvaluatorConfig[];
}

/** The rules whose evaluators have one of these names, and unfinished backfills of earlier forms of rules. @param except a rule to ignore */
async function holdersOf(query: Query, names: readonly string[], except?: string): Promise<Holder[]> {
  const hasName = sql<boolean>`exists (select from jsonb_array_elements(${sql.ref('evaluators')}) as one where one->>'name' = any(${names}::text[]))`;
  const rules = await query((db) =>
    db
      .selectFrom('rules')
      .select(['name', 'evaluators'])
      .where(hasName)
      .$if(except !== undefined, (all) => all.where('name', '<>', except ?? ''))
      .orderBy('name'),
  );
  const backfills = await query((db) =>
    db
      .selectFrom('rule_backfills')
      .select(['name', 'evaluators'])
      .where(hasName)
      .where(inStates(backfillStates, ['running', 'paused']))
      .orderBy('name'),
  );
  // They were validated when they were stored.
  const toHolder = (kind: string) => (row: { name: string; evaluators: object[] }) => ({
    called: `${kind} "${row.name}"`,
    evaluators: row.evaluators as EvaluatorConfig[],
  });
  return [...rules.map(toHolder('the rule')), ...backfills.map(toHolder('an unfinished backfill of the rule'))];
}

/** The rule that could no longer store its scores, and why; undefined if there is none. */
export async function unfitRuleOf(query: Query, changed: readonly ScoreLimits[]): Promise<string | undefined> {
  const byName = new Map(changed.map((limits) => [limits.name, limits]));
  for (const { called, evaluators } of await holdersOf(query, [...byName.keys()])) {
    const found = firstMisfit(evaluators, byName);
    if (found !== undefined) return `${called} has the evaluator "${found.config.name}": ${found.misfit}`;
  }
  return undefined;
}

/**
 * Makes sure that the scores of a rule's evaluators can be stored under their names; otherwise each would fail.
 * @param definitions of the names that have a definition or a score
 * @throws ApiError `invalid_request`
 */
export async function requireFit(
  query: Query,
  rule: string,
  evaluators: readonly EvaluatorConfig[],
  definitions: ReadonlyMap<string, ScoreLimits>,
): Promise<void> {
  const refuse = (config: EvaluatorConfig, misfit: string) =>
    invalidField(`evaluators.${evaluators.indexOf(config)}`, misfit);
  const found = firstMisfit(evaluators, definitions);
  if (found !== undefined) throw refuse(found.config, found.misfit);
  // A new name gets the type of the first score of any of them.
  const fresh = evaluators.filter(({ name }) => !definitions.has(name));
  if (fresh.length === 0) return;
  const holders = await holdersOf(
    query,
    fresh.map(({ name }) => name),
    rule,
  );
  for (const config of fresh)
    for (const { called, evaluators: others } of holders)
      for (const other of others) {
        if (other.name !== config.name || typeOfEvaluator(other) === typeOfEvaluator(config)) continue;
        const [limits, unfit] =
          typeOfEvaluator(other) === 'categorical'
            ? [onlyType(other.name, 'categorical'), config]
            : [onlyType(config.name, 'categorical'), other];
        const misfit = misfitOf(limits, unfit);
        if (misfit !== undefined)
          throw refuse(
            config,
            `${called} has an evaluator of this name that gives another type: define the score first`,
          );
      }
}
