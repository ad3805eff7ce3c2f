import type { Evaluator } from '../evaluations/evaluator.ts';
import { EMPTY_FILTER, type FilterForm, filterFormOf, toFilter } from '../scores/execution-filter.tsx';
import type { PutRule, Rule } from './types.ts';

/** The raw input of a rule. */
export interface RuleForm {
  name: string;
  of: 'all' | 'prompt' | 'group' | 'traces';
  prompts: string;
  label: string;
  filter: FilterForm;
  /** In percent. */
  sampleRate: string;
  evaluators: Evaluator[];
  /** US dollars. */
  maxCost: string;
}

export function formOf(rule: Rule | undefined): RuleForm {
  const { prompt_name: prompt = null, group = null, trace_filter: traces = null } = rule ?? {};
  const filter = (rule?.filter ?? traces ?? null) as Record<string, unknown> | null;
  return {
    name: rule?.name ?? '',
    of: traces !== null ? 'traces' : prompt !== null ? 'prompt' : group !== null ? 'group' : 'all',
    prompts: prompt ?? group ?? '',
    label: rule?.label ?? '',
    filter: filter === null ? EMPTY_FILTER : filterFormOf(filter),
    sampleRate: String(Number(((rule?.sample_rate ?? 1) * 100).toFixed(6))),
    evaluators: (rule?.evaluators as Evaluator[] | undefined) ?? [{ type: 'json_valid' }],
    maxCost: rule?.max_cost_per_day ?? '',
  };
}

/** The body of `PUT /rules/{name}`. */
export function toPut(form: RuleForm, enabled: boolean): PutRule {
  const filter = toFilter(form.filter);
  return {
    ...(form.of === 'traces'
      ? { trace_filter: filter as NonNullable<PutRule['trace_filter']> }
      : {
          ...(form.of === 'prompt' && { prompt_name: form.prompts.trim() }),
          ...(form.of === 'group' && { group: form.prompts.trim() }),
          ...(form.label.trim() !== '' && { label: form.label.trim() }),
          ...(Object.keys(filter).length > 0 && { filter: filter as NonNullable<PutRule['filter']> }),
        }),
    sample_rate: Number((Number(form.sampleRate) / 100).toFixed(8)),
    evaluators: form.evaluators as PutRule['evaluators'],
    max_cost_per_day: form.maxCost.trim() === '' ? null : form.maxCost.trim(),
    enabled,
  };
}
