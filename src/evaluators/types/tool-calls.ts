import { z } from 'zod';
import type { ToolCall } from '../../domain/prompts/messages.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { parseKeepingDigits } from '../../domain/text/json-digits.ts';
import { AnyJson } from '../../domain/text/json-object.ts';
import { requireExpected, type ScoredExample, ScoringError, type ScoringEvaluator, scored } from '../evaluator.ts';
import { evaluatorFields, PartialCredit } from '../fields.ts';
import { isJsonValue, jsonFault, MAX_JSON_DEPTH, parseJson } from '../matching/json.ts';
import { matchJson } from '../matching/json-matcher.ts';
import { quote } from '../matching/text.ts';

const MAX_EXPECTED = 100;
/** More calls than this are not scored: each is compared with each expected one. */
const MAX_CALLS = 1_000;

const ExpectedCall = z.strictObject({
  name: z.string('must be a string').min(1, 'must not be empty').max(64, 'must be at most 64 characters'),
  /** If omitted, any input matches. */
  input: AnyJson.refine(
    (input) => jsonFault(input) === null,
    `must be nested at most ${MAX_JSON_DEPTH} levels`,
  ).optional(),
});
type ExpectedCall = z.infer<typeof ExpectedCall>;
const ExpectedCalls = z.array(ExpectedCall).max(MAX_EXPECTED, `must have at most ${MAX_EXPECTED} calls`);

const ToolCallsConfig = z
  .strictObject({
    ...evaluatorFields('tool_calls'),
    value: ExpectedCalls.optional().meta({
      title: 'Expected calls',
      description: 'A list of {"name", "input"}. Default: the expected value.',
    }),
    input: z
      .enum(['exact', 'subset', 'ignore'])
      .default('exact')
      .meta({
        title: 'Inputs of the tools',
        'x-enumDescriptions': { exact: 'Must be the same', subset: 'May hold more', ignore: 'Do not matter' },
      }),
    ordered: z.boolean().default(false).meta({ title: 'In this order' }),
    allow_extra: z.boolean().default(false).meta({ title: 'Allow other calls' }),
    partial_credit: PartialCredit,
  })
  .meta({ title: 'Tool calls', description: 'The model asks for the expected tools.' });

type ToolCallsConfig = z.output<typeof ToolCallsConfig>;

/** The share of expected tool calls that the model requested: 1 for exactly these. */
export const toolCalls: ScoringEvaluator<ToolCallsConfig> & { config: typeof ToolCallsConfig } = {
  kind: 'scoring',
  isPassOrFail: (config) => !config.partial_credit,
  config: ToolCallsConfig,
  needsExpected: ({ value }) => value === undefined,
  prepare: (config) => (example) => {
    const expected = config.value ?? expectedOf(example);
    const { toolCalls: made = [] } = example;
    if (made.length > MAX_CALLS)
      throw new ScoringError('too_large', `the output has more than ${MAX_CALLS} tool calls and was not examined`);
    const fits = expected.map((wanted) => made.map((call) => isSameCall(wanted, call, config.input)));
    const matched = config.ordered ? longestInOrder(fits) : mostPairs(fits);
    const total = config.allow_extra ? expected.length : Math.max(expected.length, made.length);
    if (matched === total) return scored(1);
    const reason = `${matched} of ${expected.length} expected tool calls match; the output has ${namesOf(made)} and not ${namesOf(expected)}`;
    return scored(config.partial_credit ? matched / total : 0, reason);
  },
};

/** A list of calls, one call, or either under `tool_calls`; also as JSON in a string, as in CSV. */
function expectedOf(example: ScoredExample): ExpectedCall[] {
  const value = requireExpected(example);
  const parsed = typeof value === 'string' ? parseJson(value, parseKeepingDigits) : undefined;
  const json: JsonValue = parsed?.ok ? parsed.value : value;
  const given = isObject(json) && Object.hasOwn(json, 'tool_calls') ? json['tool_calls'] : json;
  const calls = ExpectedCalls.safeParse(Array.isArray(given) ? given : [given]);
  if (calls.success) return calls.data;
  throw new ScoringError(
    'missing_expected',
    `the expected value is not a list of tool calls such as [{"name": "look_up", "input": {…}}]`,
  );
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSameCall({ name, input }: ExpectedCall, call: ToolCall, how: ToolCallsConfig['input']): boolean {
  if (name !== call.name) return false;
  if (input === undefined || how === 'ignore') return true;
  if (!isJsonValue(call.input)) return false;
  // It stays a string if a number in it would lose digits.
  const text = typeof call.input === 'string' ? parseJson(call.input, parseKeepingDigits) : undefined;
  const made = typeof input !== 'string' && text?.ok ? text.value : call.input;
  const { matched, total } = matchJson(input, made, { mode: how, ignoreArrayOrder: false });
  return matched === total;
}

/** The maximum number of expected calls that can be matched to distinct calls (Kuhn's algorithm). */
function mostPairs(fits: readonly boolean[][]): number {
  const ownerOf = new Map<number, number>();

  function findFor(wanted: number, tried: Set<number>): boolean {
    for (const [call, fit] of (fits[wanted] ?? []).entries()) {
      if (!fit || tried.has(call)) continue;
      tried.add(call);
      const owner = ownerOf.get(call);
      if (owner !== undefined && !findFor(owner, tried)) continue;
      ownerOf.set(call, wanted);
      return true;
    }
    return false;
  }

  return fits.filter((_, wanted) => findFor(wanted, new Set())).length;
}

/** The longest common subsequence of expected and actual calls. */
function longestInOrder(fits: readonly boolean[][]): number {
  let before: number[] = [];
  for (const row of fits) {
    const lengths: number[] = [];
    for (const [call, fit] of row.entries())
      lengths.push(fit ? (before[call - 1] ?? 0) + 1 : Math.max(before[call] ?? 0, lengths[call - 1] ?? 0));
    before = lengths;
  }
  return before.at(-1) ?? 0;
}

function namesOf(calls: readonly { name: string }[]): string {
  if (calls.length === 0) return 'none';
  const names = calls.slice(0, 5).map(({ name }) => quote(name));
  return calls.length > 5 ? `${names.join(', ')} …` : names.join(', ');
}
