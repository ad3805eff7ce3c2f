import { z } from 'zod';
import { BUILT_IN_MASKS } from './mask-texts.ts';

const MAX_MASKS = 10;
export const MAX_MASK_PATTERN_CHARS = 200;
const MAX_DROPPED = 50;
const RATE = 'must be a number from 0 to 1';

const Mask = z.union(
  [
    z.enum(BUILT_IN_MASKS),
    z.strictObject({
      pattern: z
        .string()
        .min(1, 'must not be empty')
        .max(MAX_MASK_PATTERN_CHARS, `must be at most ${MAX_MASK_PATTERN_CHARS} characters`)
        .meta({ description: "In RE2's syntax. It masks at most 1,024 characters at once." }),
    }),
  ],
  `must be one of ${BUILT_IN_MASKS.join(', ')}, or {"pattern": "…"}`,
);
export type Mask = z.output<typeof Mask>;

/** Which parts of traces and recorded runs are kept. */
export const TracePolicy = z
  .strictObject({
    contents: z
      .enum(['keep', 'drop'], 'must be keep or drop')
      .default('keep')
      .meta({ description: '`drop`: inputs, outputs, tool calls, variables and attributes are not stored.' }),
    mask: z
      .array(Mask, 'must be a list')
      .max(MAX_MASKS, `must be at most ${MAX_MASKS}`)
      .default(['secret'])
      .meta({
        description:
          'Patterns to replace in all texts before they are stored. `secret`: keys and tokens of known forms, and attributes such as `authorization` or ' +
          '`password`. Names of users, conversations, models and tools are not masked.',
      }),
    drop_attributes: z
      .array(z.string('must be a string').min(1, 'must not be empty').max(200, 'must be at most 200 characters'))
      .max(MAX_DROPPED, `must be at most ${MAX_DROPPED}`)
      .default([])
      .meta({
        description: 'Attributes to ignore. A `*` at the end matches any suffix.',
        example: ['user.id', 'http.*'],
      }),
    sample_rate: z.number(RATE).min(0, RATE).max(1, RATE).default(1).meta({
      description:
        'The share of traces to store. The trace id decides, so a trace is stored with all its spans or not at all.',
    }),
    others: z
      .enum(['skeleton', 'keep', 'drop'], 'must be skeleton, keep or drop')
      .default('keep')
      .meta({
        description:
          'Steps of the type `other`. `skeleton`: only names, times and errors; `drop`: none, so that steps below them are at the top. With either, ' +
          'traces without any other step are deleted when they are settled.',
      }),
  })
  .meta({ id: 'SetTracePolicy' });
export type TracePolicy = z.output<typeof TracePolicy>;

export const DEFAULT_TRACE_POLICY: TracePolicy = TracePolicy.parse({});

const WHOLE = 2 ** 32;

/** Whether a trace is stored. @param id 32 hexadecimal digits, the last of which are random */
export const isSampled = ({ sample_rate: rate }: Pick<TracePolicy, 'sample_rate'>, id: string): boolean =>
  rate >= 1 || Number.parseInt(id.slice(-8), 16) < rate * WHOLE;

/** Whether an attribute is dropped. */
export function droppedBy({ drop_attributes: names }: Pick<TracePolicy, 'drop_attributes'>): (name: string) => boolean {
  const whole = new Set(names);
  const prefixes = names.flatMap((name) => (name.endsWith('*') ? [name.slice(0, -1)] : []));
  return (name) => whole.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
