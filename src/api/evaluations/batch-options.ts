import { z } from 'zod';
import { BATCH_LEFTOVERS, type BatchSettings, type EvaluationMode } from '../../domain/batches/batch-mode.ts';

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 };
const SHORTEST_WAIT = UNITS.h;
const LONGEST_WAIT = 7 * UNITS.d;

/** Parses a duration such as `24h` to seconds; NaN if it is invalid. */
function secondsOf(text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return Number(number) * UNITS[(unit ?? 's') as keyof typeof UNITS];
}

/** Formats seconds in the largest unit that divides them; days are shown as hours. */
function durationOf(seconds: number): string {
  const unit = (['h', 'm', 's'] as const).find((each) => seconds % UNITS[each] === 0) ?? 's';
  return `${seconds / UNITS[unit]}${unit}`;
}

/** The batch settings of a run in a request. They stay as written because schedules show them. */
export const BatchOptions = z
  .strictObject({
    max_wait: z
      .string('must be a duration with a unit, such as "24h"')
      .refine(
        (text) => secondsOf(text) >= SHORTEST_WAIT && secondsOf(text) <= LONGEST_WAIT,
        'must be a duration from "1h" to "7d", such as "24h"',
      )
      .default('24h')
      .meta({
        description: 'The longest wait for each batch after its submission, from `1h` to `7d`.',
        example: '24h',
      }),
    then: z
      .enum(BATCH_LEFTOVERS, `must be one of ${BATCH_LEFTOVERS.join(', ')}`)
      .default('interactive')
      .meta({
        description:
          'How calls without a response are handled then: made one by one, within `max_cost`, or their examples count as failed.',
      }),
  })
  .meta({ id: 'BatchOptions', description: 'Allowed only with the mode `batch` or `auto`.' });

/** Rejects `batch` for an interactive run. */
export function checkMode(fields: { mode?: unknown; batch?: unknown }, context: z.RefinementCtx): void {
  if (fields.mode === 'interactive' && fields.batch !== undefined)
    context.addIssue({
      code: 'custom',
      path: ['batch'],
      message: 'requires mode "batch" or "auto": set one of them, or omit this field',
    });
}

interface ModeInWords {
  mode: EvaluationMode;
  batch?: BatchSettings | undefined;
}

/** Converts request fields to the form that services use. */
export function toMode({
  mode,
  batch,
}: {
  mode: EvaluationMode;
  batch?: z.output<typeof BatchOptions> | undefined;
}): ModeInWords {
  return { mode, batch: batch && { max_wait: secondsOf(batch.max_wait), then: batch.then } };
}

/** Presents the batch settings of a run. */
export const presentBatch = ({ max_wait: maxWait, then }: BatchSettings): z.output<typeof BatchOptions> => ({
  max_wait: durationOf(maxWait),
  then,
});
