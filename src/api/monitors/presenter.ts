import type { z } from 'zod';
import { presentValues } from '../../services/monitors/change-state.ts';
import type { MonitorRow } from '../../services/monitors/monitors.ts';
import type { Monitor } from './schema.ts';

/** A monitor as callers see it. */
export function presentMonitor(row: MonitorRow): z.input<typeof Monitor> {
  return {
    name: row.name,
    prompt_name: row.prompt_name,
    label: row.label,
    window: row.window,
    checks: row.checks,
    notify: row.notify,
    enabled: row.enabled,
    state: row.state,
    since: row.since.toISOString(),
    values: presentValues(row.checks, row.progress),
    last_checked_at: row.last_checked_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
