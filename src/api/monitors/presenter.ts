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

/** What stands in place of what a monitor has seen for a key that may not read it. */
export const UNREAD_STATE = { state: 'no_data', values: [], last_checked_at: null } as const satisfies Partial<
  z.input<typeof Monitor>
>;

/** The same of all that it is. */
export const UNREAD_MONITOR = {
  ...UNREAD_STATE,
  prompt_name: null,
  label: null,
  checks: [],
} as const satisfies Partial<z.input<typeof Monitor>>;
