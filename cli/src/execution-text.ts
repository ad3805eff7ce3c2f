import type { Api } from 'pms-client';
import { given } from './options.ts';

/** Options that filter executions. */
export interface ExecutionOptions {
  prompt?: string;
  group?: string;
  label?: string;
  model?: string;
  since?: string;
}

export const EXECUTION_STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;

/** The same as query parameters. */
export function executionQuery({ prompt, group, label, model, since }: ExecutionOptions) {
  return given({ prompt_name: prompt, group, label, model, since });
}

/** The prompt and its version in readable form; a draft has neither. */
export function promptText({ prompt_name: name, prompt_version: version }: Api.Execution): string {
  return name === null ? 'a draft' : `${name}@${version}`;
}

/** The cost, as far as known. */
export const moneyText = ({ cost }: { cost: Api.CostAmount | null }): string | undefined =>
  cost?.amount == null ? undefined : `$${cost.amount}`;
