import { ApiError, type ErrorDetail, temporarilyUnavailable } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { type OptionFault, type Score, type ScoredExample, unscored } from '../evaluator.ts';
import {
  type EvaluatorConfig,
  type PreparedScoring,
  prepareEvaluator,
  runsCallersCode,
  scoresByItself,
} from '../registry.ts';
import type { ThreadTask } from './thread-task.ts';
import { createThreads, type ThreadEnd, type ThreadOutcome } from './threads.ts';

/**
 * Texts and options together, in characters: up to this size our own evaluators take about a millisecond, less than passing them to a
 * thread.
 */
const MAX_INLINE_CHARS = 4_096;
/** How long a request waits for a thread. */
const MAX_WAIT_MS = 5_000;

/** A JSON schema from a caller, and its path in the request. */
export interface CallersSchema {
  path: string;
  schema: Record<string, JsonValue>;
}

/** Compiles and runs evaluators in threads, so that none of them blocks the process. Workspaces share the threads fairly. */
export interface EvaluatorPool {
  /**
   * Compiles the expressions and schemas of a request, with one time limit for all of them.
   * @throws ApiError `invalid_request` naming each invalid one, `temporarily_unavailable` if no thread is free
   * @param at path of an evaluator in the request
   */
  check(workspaceId: string, evaluators: EvaluatorConfig[], at: (index: number) => string): Promise<void>;
  /**
   * Compiles JSON schemas for providers, with one time limit for all of them.
   * @throws ApiError as `check`, naming each by its path
   */
  checkSchemas(workspaceId: string, schemas: CallersSchema[]): Promise<void>;
  /** For the examples of a run. */
  scorer(workspaceId: string, evaluators: EvaluatorConfig[]): Scorer;
  close(): Promise<void>;
}

/** Scores examples with the evaluators that need no request, with one time limit per example. */
export interface Scorer {
  /** Whether an example with this output can be scored without waiting for a thread. */
  isFree(output: Pick<ScoredExample, 'output' | 'toolCalls'>): boolean;
  /**
   * The scores by evaluator name. An evaluator stopped at the limit scores 0.
   * @param signal ends the wait for a thread; its reason is thrown
   * @throws Error if no thread can be started
   */
  score(example: ScoredExample, signal?: AbortSignal): Promise<Map<string, Score>>;
}

/** @param onError called for threads that died outside of a task */
export function createEvaluatorPool(options: { onError: (error: unknown) => void }): EvaluatorPool {
  const threads = createThreads(options);

  function compile(task: ThreadTask, workspaceId: string) {
    return threads
      .run<OptionFault | null>(task, { workspaceId, urgent: true, signal: AbortSignal.timeout(MAX_WAIT_MS) })
      .catch((error: unknown) => {
        if (error instanceof DOMException && error.name === 'TimeoutError')
          throw temporarilyUnavailable('No thread was available to compile the expressions and schemas.');
        throw error;
      });
  }

  return {
    async check(workspaceId, evaluators, at) {
      if (!evaluators.some(runsCallersCode)) return;
      const outcome = await compile({ kind: 'check', evaluators: JSON.stringify(evaluators) }, workspaceId);
      refuseFaulty(outcome, evaluators.length, (index, option) => {
        const compiled = evaluators[index]?.type === 'regex' ? 'pattern' : 'schema';
        return `${at(index)}.${option ?? compiled}`;
      });
    },

    async checkSchemas(workspaceId, schemas) {
      if (schemas.length === 0) return;
      const task = { kind: 'schemas' as const, schemas: JSON.stringify(schemas.map(({ schema }) => schema)) };
      const outcome = await compile(task, workspaceId);
      refuseFaulty(outcome, schemas.length, (index) => schemas[index]?.path ?? '');
    },

    scorer(workspaceId, configs) {
      const evaluators = JSON.stringify(configs);
      const scoring = [...configs.entries()].filter(([, config]) => scoresByItself(config));
      // Pairing list items takes many comparisons, however short the texts are.
      const inThread = configs.some(
        (config) => runsCallersCode(config) || (config.type === 'json_match' && config.ignore_array_order),
      );
      const maxInlineChars = inThread ? -1 : MAX_INLINE_CHARS - evaluators.length;
      let prepared: PreparedScoring[] | undefined;

      function scoreHere(example: ScoredExample): Map<string, Score> {
        prepared ??= scoring.map(([, config]) => prepareEvaluator(config)).filter((each) => each.kind === 'scoring');
        return new Map(prepared.map((evaluator) => [evaluator.name, evaluator.score(example)]));
      }

      return {
        isFree: (output) => charsOf(output) <= maxInlineChars || threads.isFree(workspaceId),
        async score(example, signal) {
          if (scoring.length === 0) return new Map();
          const { output, expected, toolCalls, modelMs, costUsd } = example;
          const rest = JSON.stringify({ expected, toolCalls, modelMs, costUsd });
          if (output.length + rest.length <= maxInlineChars) return scoreHere(example);
          const task = { kind: 'score' as const, evaluators, output, rest };
          const outcome = await threads.run<Score>(task, { workspaceId, signal });
          return new Map(
            scoring.map(([index, { name }]) => [name, outcome.results.get(index) ?? missingScore(outcome)]),
          );
        },
      };
    },

    close: () => threads.close(),
  };
}

/** The number of characters in a model's output. */
function charsOf({ output, toolCalls = [] }: Pick<ScoredExample, 'output' | 'toolCalls'>): number {
  return output.length + (toolCalls.length === 0 ? 0 : JSON.stringify(toolCalls).length);
}

/** @param pathOf the path of an entry in the request; `option` is the invalid option, if known */
function refuseFaulty(
  { results, end, limitMs }: ThreadOutcome<OptionFault | null>,
  count: number,
  pathOf: (index: number, option?: string) => string,
): void {
  const details: ErrorDetail[] = [];
  for (let index = 0; index < count; index += 1) {
    const fault = results.get(index);
    if (fault) details.push({ path: pathOf(index, fault.option), message: fault.message });
    if (fault !== undefined || end === undefined) continue;
    // The entry at which it stopped; later ones were not checked.
    details.push({ path: pathOf(index), message: compileFault(end, limitMs) });
    break;
  }
  if (details.length === 0) return;
  const message = details.map((detail) => `${detail.path}: ${detail.message}`).join('; ');
  throw new ApiError('invalid_request', message, { details });
}

function compileFault(end: ThreadEnd, limitMs: number): string {
  if (end === 'timed_out')
    return `takes too long to compile: the limit for a whole request is ${limitMs} ms. Make it smaller`;
  return end === 'out_of_memory' ? 'takes too much memory to compile: make it smaller' : 'cannot be compiled';
}

function missingScore({ end, limitMs }: ThreadOutcome<Score>): Score {
  if (end === 'timed_out')
    return unscored('timed_out', `the evaluators of this example took longer than ${limitMs} ms and were stopped`);
  if (end === 'out_of_memory') return unscored('too_large', 'took too much memory on this output and was stopped');
  return unscored('evaluator_error', 'the evaluator failed (its thread ended)');
}
