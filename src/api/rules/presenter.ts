import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { type EvaluatorSecrets, revealSecrets } from '../../services/evaluations/creation/evaluator-secrets.ts';
import type { BackfillRow } from '../../services/rules/backfills.ts';
import type { RuleRow } from '../../services/rules/rules.ts';
import { presentExecutionFilter } from '../executions/filter-schema.ts';
import { presentTraceFilter } from '../traces/filter-schema.ts';
import type { Backfill, Rule } from './schema.ts';

type LastError = { code: string; message: string; at: string } | null;

/**
 * Presents a rule.
 * @param secrets of its evaluators, for the one response that shows them
 */
export function presentRule(
  row: RuleRow,
  { waiting, secrets = new Map() }: { waiting?: number; secrets?: EvaluatorSecrets } = {},
): z.input<typeof Rule> {
  const evaluators: JsonValue[] = JSON.parse(JSON.stringify(revealSecrets(row.evaluators, secrets)));
  return {
    name: row.name,
    prompt_name: row.prompt_name,
    group: row.prompt_group,
    label: row.label,
    filter: row.filter === null ? null : JSON.parse(JSON.stringify(presentExecutionFilter(row.filter))),
    trace_filter: row.trace_filter === null ? null : JSON.parse(JSON.stringify(presentTraceFilter(row.trace_filter))),
    sample_rate: row.sample_rate,
    evaluators,
    max_cost_per_day: row.max_cost_per_day,
    enabled: row.enabled,
    scored: row.scored,
    failed: row.failed,
    skipped: row.skipped,
    skipped_budget: row.skipped_budget,
    spent: row.spent,
    spent_today: row.spent_today,
    ...(waiting !== undefined && { waiting }),
    last_error: row.last_error as LastError,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** When an id was created, in ms since 1970: a UUIDv7 starts with it. */
const madeAt = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** 0–1 */
function progressOf({ status, exhausted, position, since, until }: BackfillRow): number {
  if (status === 'completed' || exhausted) return 1;
  const share = (madeAt(position) - since.getTime()) / (until.getTime() - since.getTime());
  return Math.round(Math.min(0.99, Math.max(0, share)) * 1_000) / 1_000;
}

/** Presents a backfill. */
export function presentBackfill(row: BackfillRow): z.input<typeof Backfill> {
  return {
    id: publicId('backfill', row.id),
    rule: row.name,
    since: row.since.toISOString(),
    until: row.until.toISOString(),
    max_cost: row.max_cost,
    status: row.status,
    status_reason: row.status_reason,
    progress: progressOf(row),
    found: row.found,
    scored: row.scored,
    failed: row.failed,
    spent: row.spent,
    error: row.error as { code: string; message: string } | null,
    last_error: row.last_error as LastError,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
