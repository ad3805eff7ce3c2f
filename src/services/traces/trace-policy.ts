import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { now } from '../../db/sql.ts';
import { asJson, prepared } from '../../db/statement.ts';
import { invalidField } from '../../domain/errors.ts';
import { type BuiltInMask, mapTexts, maskOf, maskText } from '../../domain/traces/mask-texts.ts';
import type { Step } from '../../domain/traces/step.ts';
import { DEFAULT_TRACE_POLICY, type Mask, TracePolicy } from '../../domain/traces/trace-policy.ts';
import { compileLinearRegex, PatternError } from '../../evaluators/matching/linear-regex.ts';
import { afterOthers } from '../../lib/event-loop.ts';
import { recordChange } from '../audit/record-change.ts';
import type { RecordedRun } from '../executions/recording/recorded-run.ts';

const FIND = prepared<Record<string, never>>()((db) =>
  db.selectFrom('trace_policies').select(sql<unknown>`policy`.as('policy')),
);

/** The policy of the workspace, or the default. */
export async function readTracePolicy(query: Query): Promise<TracePolicy> {
  const [row] = await query(FIND, {});
  return row === undefined ? DEFAULT_TRACE_POLICY : TracePolicy.parse(row.policy);
}

/** @throws ApiError `invalid_request` if a pattern cannot be used */
export function setTracePolicy(db: WorkspaceDatabase, policy: TracePolicy): Promise<TracePolicy> {
  ownPatterns(policy.mask);
  return db.transaction(async (query) => {
    await lockInWorkspace(query, 'trace policy');
    if (isDeepStrictEqual(await readTracePolicy(query), policy)) return policy;
    await query((own) =>
      own
        .insertInto('trace_policies')
        .values({ policy: asJson(policy), updated_at: now })
        .onConflict((conflict) =>
          conflict.columns(['workspace_id']).doUpdateSet((eb) => ({
            policy: eb.ref('excluded.policy').$castTo<never>(),
            updated_at: now,
          })),
        ),
    );
    await recordChange(query, 'trace_policy.updated', 'trace-policy', { ...policy, mask: policy.mask.map(nameOf) });
    return policy;
  });
}

const nameOf = (mask: Mask) => (typeof mask === 'string' ? mask : mask.pattern);

function ownPatterns(masks: readonly Mask[]) {
  return masks.flatMap((mask, index) => {
    if (typeof mask === 'string') return [];
    try {
      return [compileLinearRegex(mask.pattern)];
    } catch (error) {
      if (error instanceof PatternError) throw invalidField(`mask.${index}.pattern`, error.message);
      throw error;
    }
  });
}

/** Characters that a caller's pattern searches before other work gets a turn, and how far a match can extend beyond them. */
const [WINDOW_CHARS, MATCH_CHARS] = [4 * 1024, 1024];

/** Masks the matches of a caller's pattern in small parts: such a pattern can take long. */
async function maskFound(text: string, pattern: ReturnType<typeof compileLinearRegex>): Promise<string> {
  let masked = '';
  for (let from = 0; from < text.length; ) {
    const part = text.slice(from, from + WINDOW_CHARS + MATCH_CHARS);
    let end = 0;
    for (const { start, length } of pattern.matches(part)) {
      if (start >= WINDOW_CHARS) break;
      if (length === 0) continue;
      masked += part.slice(end, start) + maskOf('masked');
      end = start + length;
    }
    const next = Math.max(end, Math.min(WINDOW_CHARS, part.length));
    masked += part.slice(end, next);
    from += next;
    await afterOthers(Number.POSITIVE_INFINITY);
  }
  return masked;
}

/** Masks the texts of a value. Texts that cannot be masked are not kept. */
export function createMasker({ mask }: TracePolicy): <Value>(value: Value) => Promise<Value> {
  const builtIn = mask.filter((each): each is BuiltInMask => typeof each === 'string');
  const patterns = ownPatterns(mask);
  return async (value) => {
    if (mask.length === 0) return value;
    const known = mapTexts(value, (text, name) => maskText(text, builtIn, name));
    if (patterns.length === 0) return known;
    const masked = new Map<string, string>();
    mapTexts(known, (text) => {
      masked.set(text, text);
      return text;
    });
    for (const text of masked.keys()) {
      let left = text;
      for (const pattern of patterns) left = await maskFound(left, pattern).catch(() => '');
      masked.set(text, left);
    }
    return mapTexts(known, (text) => masked.get(text) ?? '');
  };
}

const NOTHING = { input: null, output: null, toolCalls: [], parameters: {}, attributes: {}, events: [], links: [] };

/** Reduces a step to what the policy keeps. @returns null if that is nothing */
export async function keptOf(
  step: Step,
  policy: TracePolicy,
  mask: ReturnType<typeof createMasker>,
): Promise<Step | null> {
  const isOther = step.type === 'other' && step.executionId === null;
  if (isOther && policy.others === 'drop') return null;
  const isBare = isOther && policy.others === 'skeleton';
  const kept: Step = isBare
    ? { ...step, ...NOTHING, resource: {}, metadata: {}, tags: [] }
    : policy.contents === 'drop'
      ? { ...step, ...NOTHING }
      : step;
  const texts = {
    name: kept.name,
    error: kept.error,
    input: kept.input,
    output: kept.output,
    toolCalls: kept.toolCalls,
    parameters: kept.parameters,
    attributes: kept.attributes,
    events: kept.events,
    links: kept.links,
    resource: kept.resource,
    metadata: kept.metadata,
    tags: kept.tags,
    scores: kept.scores,
  };
  return { ...kept, ...(await mask(texts)) };
}

/** The same for a run that an application recorded. */
export async function keptRun(
  run: RecordedRun,
  policy: TracePolicy,
  mask: ReturnType<typeof createMasker>,
): Promise<RecordedRun> {
  const kept = policy.contents === 'drop' ? { ...run, input: '', output: null, toolCalls: [], variables: {} } : run;
  const { input, output, toolCalls, variables, metadata } = kept;
  const { message, ...texts } = await mask({
    input,
    output,
    toolCalls,
    variables,
    metadata,
    message: kept.error?.message ?? '',
  });
  return { ...kept, ...texts, error: kept.error && { ...kept.error, message } };
}
