import type { Api } from 'pms-client';
import { given } from './options.ts';

/** What executions are chosen by on the command line. */
export interface ExecutionOptions {
  prompt?: string;
  group?: string;
  label?: string;
  model?: string;
  since?: string;
}

export const EXECUTION_STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;

/** The same as the service takes it. */
export function executionQuery({ prompt, group, label, model, since }: ExecutionOptions) {
  return given({ prompt_name: prompt, group, label, model, since });
}

/** The prompt and its version, as people write them; a draft has neither. */
export function promptText({ prompt_name: name, prompt_version: version }: Api.Execution): string {
  return name === null ? 'a draft' : `${name}@${version}`;
}

/** What it has cost, as far as that is known. */
export const moneyText = ({ cost }: Pick<Api.Execution, 'cost'>): string | undefined =>
  cost?.amount == null ? undefined : `$${cost.amount}`;
