import { formatCost } from '../../format.ts';
import { t } from '../../strings.ts';
import type { Rule } from './types.ts';

/** Today's spending and the budget: "$0.12 of $5.00". */
export const spentWords = ({ spent_today, max_cost_per_day }: Rule) =>
  `${formatCost({ amount: spent_today })}${max_cost_per_day === null ? t(', no limit') : t(` of ${formatCost({ amount: max_cost_per_day })}`)}`;

/** What a rule scores: "support/…@production". */
export function scopeWords({ prompt_name, group, label, trace_filter }: Rule): string {
  if (trace_filter !== null) return t('traces');
  const prompts = prompt_name ?? (group === null ? t('all prompts') : `${group}/…`);
  return label === null ? prompts : t(`${prompts} by ${label}`);
}
