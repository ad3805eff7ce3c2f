import { z } from 'zod';
import { invalidField, tooManyWaiting } from '../../domain/errors.ts';
import { weightedMean } from '../../domain/evaluations/scoring.ts';
import { publicId } from '../../domain/ids.ts';
import { ChatMessages, MAX_RENDERED_CHARS, ToolCall } from '../../domain/prompts/messages.ts';
import { AnyJson } from '../../domain/text/json-object.ts';
import { readableInput } from '../../domain/text/readable-messages.ts';
import { CostAmount } from '../../domain/usage.ts';
import { type Example, type Score, unscored } from '../../evaluators/evaluator.ts';
import { GivenEvaluators, type PreparedJudging, prepareEvaluator } from '../../evaluators/registry.ts';
import { Variables } from '../../http/fields.ts';
import { toApiError } from '../../http/middleware/error-responses.ts';
import { waitMsOf } from '../../http/prefer.ts';
import { defineRoute, type Route, type RouteRequest } from '../../http/route.ts';
import { shown } from '../../http/unread.ts';
import { outcomeOf } from '../../services/executions/executions.ts';
import { resolveJudges } from '../../services/saved-evaluators/resolve-judges.ts';
import { type RunExecutionDeps, runPart } from '../executions/run-execution.ts';
import { PreferHeader } from '../executions/schema.ts';
import { toEvaluators } from '../saved-evaluators/given-evaluators.ts';

/** If a judge returns no usable score, it is called once more with the problem stated, as in an evaluation. */
const MAX_ASKS = 2;
const MAX_TOOL_CALLS = 100;

const TryEvaluators = z
  .strictObject({
    evaluators: GivenEvaluators.meta({
      description:
        'As in `POST /evaluations`, except `similar`, `pairwise` and `http`, which cannot score a single output.',
    }),
    output: z
      .string('must be a string')
      .max(MAX_RENDERED_CHARS, `must be at most ${MAX_RENDERED_CHARS} characters`)
      .meta({ description: 'The output to score.' }),
    tool_calls: z
      .array(ToolCall)
      .max(MAX_TOOL_CALLS, `must be at most ${MAX_TOOL_CALLS} tool calls`)
      .default([])
      .meta({ description: 'The tool calls that the model requested.' }),
    expected: AnyJson.optional().meta({ override: { description: 'The expected output. Omit it if there is none.' } }),
    variables: Variables.default({}).meta({ description: 'The variables that filled the prompt.' }),
    input: z
      .union([z.string().max(MAX_RENDERED_CHARS), ChatMessages], 'must be a string or a list of messages')
      .default('')
      .meta({ description: 'The input sent to the model. It is shown to judges.' }),
    model_ms: z
      .int()
      .min(0)
      .max(2_147_483_647)
      .nullable()
      .default(null)
      .meta({ description: 'The duration of the call that produced the output; null if unknown.' }),
    cost: z
      .string()
      .regex(/^\d{1,9}(\.\d{1,18})?$/, 'must be a decimal number of US dollars, such as "0.0012"')
      .nullable()
      .default(null)
      .meta({ description: 'The cost of the output in US dollars; null if unknown.', example: '0.0012' }),
  })
  .meta({ id: 'TryEvaluators' });

const TriedScores = z
  .object({
    score: shown(
      z.number().nullable().meta({
        description: 'The weighted mean of those that have a score, 0–1; null if none has.',
      }),
    ),
    scores: shown(
      z.array(
        z.object({
          name: z.string(),
          type: z.string(),
          score: z.number().nullable().meta({ description: 'Null if there is none.' }),
          reason: z.string().nullable(),
          category: z
            .exactOptional(z.string())
            .meta({ description: 'The category that the judge gave, if it gives categories.' }),
          problem: z.string().nullable().meta({
            description: 'Why the output could not be scored. Such a score is 0, or null if its judge gave none.',
          }),
          execution_id: z.string().nullable().meta({ description: 'The last execution that called the judge.' }),
          cost: CostAmount.nullable().meta({ description: 'The cost of the judge; null if no model was called.' }),
        }),
      ),
    ),
  })
  .meta({ id: 'TriedScores' });

type Body = z.output<typeof TryEvaluators>;
type Request = RouteRequest<unknown, unknown, Body>;

/** A judge's score and the executions that produced it. */
interface Judged {
  score: Score;
  /** The last execution; null if the judge could not be called. */
  executionId: string | null;
  /** Null if the price of a call is unknown. */
  costs: (string | null)[];
}

/** `POST /evaluators/try` */
export function tryEvaluatorsRoute(deps: RunExecutionDeps): Route {
  return defineRoute({
    method: 'post',
    path: '/evaluators/try',
    operationId: 'tryEvaluators',
    audit: 'none',
    tag: 'Evaluations',
    summary: 'Score one output',
    description:
      'Scores an output with the given evaluators and stores no score. Judges are called by executions (`metadata.source` is ' +
      '`evaluator`), which appear in lists and usage like any other; their cost is also in the response. Waits up to 60 s for all judges; ' +
      '`Prefer: wait=N` (0–300 seconds) sets the wait.',
    scope: 'execute',
    headers: PreferHeader,
    body: TryEvaluators,
    bodyExamples: {
      'By a text': {
        evaluators: [{ type: 'contains', values: ['Ada'] }],
        output: 'Hello Ada!',
      },
      'By a judge': {
        evaluators: [{ type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: 'Is it polite?' }],
        input: 'Greet Ada',
        output: 'Hello Ada!',
        expected: 'A greeting',
      },
    },
    response: TriedScores,
    responseExample: {
      score: 0.75,
      scores: [
        {
          name: 'llm_judge',
          type: 'llm_judge',
          score: 0.75,
          reason: 'It greets, but with few words.',
          problem: null,
          execution_id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
          cost: { amount: '0.00012', currency: 'USD' },
        },
      ],
    },
    errors: ['quota_exceeded', 'payload_too_large', 'temporarily_unavailable'],
    async handler(request) {
      const { db, body, signal } = request;
      // Judges are slow, and their responses can be long.
      request.endTurn();
      // Before any judge is called, because calls cost money.
      const given = await toEvaluators(request, deps.evaluatorPool, body.evaluators, 'evaluators');
      for (const [index, { type }] of given.entries())
        if (type === 'similar' || type === 'pairwise' || type === 'http')
          throw invalidField(
            `evaluators.${index}.type`,
            `"${type}" can't score a single output: use it in an evaluation`,
          );
      const evaluators = resolveJudges(deps.models, given);
      const example: Example = {
        output: body.output,
        toolCalls: body.tool_calls,
        expected: body.expected,
        variables: body.variables,
        input: readableInput(body.input),
        modelMs: body.model_ms,
        costUsd: body.cost,
      };
      const until = performance.now() + waitMsOf(request.header('Prefer'));
      const byTexts = await deps.evaluatorPool
        .scorer(db.workspaceId, evaluators)
        .score(example, signal)
        .catch((error: unknown) => {
          throw signal.aborted ? tooManyWaiting(error) : error;
        });
      const judges = evaluators
        .filter(({ name }) => !byTexts.has(name))
        .map(prepareEvaluator)
        .filter((prepared) => prepared.kind === 'judging');
      const judged = await askAll(judges, (each) => judge(deps, request, each, example, until));
      const scores = evaluators.map(({ name, type }) => {
        const asked = judged.get(name);
        const score = byTexts.get(name) ?? asked?.score ?? unscored('evaluator_error', 'the evaluator gave no score');
        return {
          ...score,
          // A judge that could not be called or understood has not scored the output.
          score: asked !== undefined && score.problem !== null ? null : score.score,
          name,
          type,
          execution_id: asked?.executionId ?? null,
          cost: asked ? costOf(asked) : null,
        };
      });
      const counted = scores.flatMap(({ score: own }, index) =>
        own === null ? [] : [{ score: own, weight: evaluators[index]?.weight ?? 1 }],
      );
      return { score: counted.length === 0 ? null : weightedMean(counted), scores };
    },
  });
}

/**
 * Calls all judges and maps the results by name. A failing judge does not discard the scores of the others.
 * @throws the first error if every judge fails
 */
async function askAll(
  judges: readonly PreparedJudging[],
  ask: (judging: PreparedJudging) => Promise<Judged>,
): Promise<Map<string, Judged>> {
  const asked = await Promise.allSettled(judges.map(ask));
  const failures = asked.filter((each) => each.status === 'rejected');
  if (failures.length > 0 && failures.length === judges.length) throw failures[0]?.reason;
  return new Map(
    judges.map(({ name }, index) => {
      const each = asked[index];
      if (each?.status === 'fulfilled') return [name, each.value];
      const message = `the judge could not be called: ${toApiError(each?.reason).message}`;
      return [name, { score: unscored('evaluator_error', message), executionId: null, costs: [] }];
    }),
  );
}

/** Calls a judge in its own execution. @param until when the response is due, as `performance.now()` */
async function judge(
  deps: RunExecutionDeps,
  request: Request,
  judging: PreparedJudging,
  example: Example,
  until: number,
): Promise<Judged> {
  const { name, model } = judging;
  let fault: string | undefined;
  const costs: (string | null)[] = [];
  for (;;) {
    const { input, parameters } = judging.request(example, fault);
    const seen = await runPart(
      deps,
      request,
      {
        // The text is not a template: it is inserted literally.
        draft: { template: '{{ judgement }}', model },
        variables: { judgement: input },
        parameters,
        metadata: { source: 'evaluator', evaluator: name },
      },
      { waitMs: Math.max(0, until - performance.now()), bytes: input.length },
    );
    const { status, output, cost_amount: cost, error } = await outcomeOf(request.db, seen);
    const executionId = publicId('execution', seen.id);
    costs.push(cost);
    const give = (score: Score): Judged => ({ score, executionId, costs });
    if (status === 'queued' || status === 'running')
      return give(unscored('timed_out', 'the judge did not respond in time; its execution is still running'));
    if (status !== 'completed')
      return give(unscored('evaluator_error', error?.message ?? `the execution that calls the judge was ${status}`));
    const judgement = judging.read(output ?? '');
    if (judgement.usable) return give(judgement.score);
    if (costs.length === MAX_ASKS || performance.now() >= until)
      return give(unscored('unusable_judgement', judgement.reason));
    fault = judgement.fault;
  }
}

/** The total cost of all calls of a judge. */
function costOf({ costs }: Judged): z.input<typeof CostAmount> | null {
  if (costs.length === 0) return null;
  const [first = null, ...others] = costs;
  if (others.length === 0) return { amount: first, currency: 'USD' };
  return { amount: costs.includes(null) ? null : addDecimals(costs), currency: 'USD' };
}

const addDecimals = (amounts: readonly (string | null)[]): string =>
  amounts
    .reduce((sum, amount) => sum + Number(amount), 0)
    .toFixed(12)
    .replace(/\.?0+$/, '');
