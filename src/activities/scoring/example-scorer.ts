import type { Example, Score } from '../../evaluators/evaluator.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { EvaluatorPool, Scorer } from '../../evaluators/threads/evaluator-pool.ts';
import type { ExampleInProgress } from './example-in-progress.ts';
import { Judges, type JudgesDeps } from './judges.ts';
import type { ScoringEndpoints } from './scoring-endpoints.ts';

export interface ExampleScorerDeps extends JudgesDeps {
  evaluatorPool: EvaluatorPool;
  /** Must belong to the same evaluators. */
  endpoints: ScoringEndpoints;
}

/** The scores of an example by evaluator name; if one finally failed, `error` is set and later scores are missing. */
export interface ScoredExampleResult {
  scores: Map<string, Score>;
  error?: { code: string; message: string };
}

const NOT_SCORED = { code: 'internal_error', message: 'The output could not be scored.' };

/** Scores outputs, for evaluations and for rules: calls the judges and the caller's scorers, then the other evaluators. */
export class ExampleScorer {
  readonly #judges: Judges;
  readonly #endpoints: ScoringEndpoints;
  /** The evaluators that make no calls. */
  readonly #scorer: Scorer;

  constructor(
    { evaluatorPool, endpoints, ...judges }: ExampleScorerDeps,
    { workspaceId, evaluators }: { workspaceId: string; evaluators: EvaluatorConfig[] },
  ) {
    this.#judges = new Judges(judges, evaluators);
    this.#endpoints = endpoints;
    this.#scorer = evaluatorPool.scorer(workspaceId, evaluators);
  }

  /** Number of judges and scorers called for an example. */
  get asked(): number {
    return this.#judges.count + this.#endpoints.count;
  }

  /** Whether such an output can be scored without calls and without waiting for a thread. */
  isFree(output: Parameters<Scorer['isFree']>[0]): boolean {
    return this.asked === 0 && this.#scorer.isFree(output);
  }

  /** @throws RunFailedError; a signal's reason or an `AbortError` if the example was given up */
  async score(example: Example, progress: ExampleInProgress): Promise<ScoredExampleResult> {
    const result = await this.#score(example, progress);
    progress.tellScores?.(result.scores, result.error);
    return result;
  }

  async #score(example: Example, progress: ExampleInProgress): Promise<ScoredExampleResult> {
    const judged = await this.#judges.judge(progress, example);
    if (judged.error !== undefined) return judged;
    const answered = await this.#endpoints.score(progress, example);
    const asked = [...judged.scores, ...answered.scores];
    if (answered.error !== undefined) return { scores: new Map(asked), error: answered.error };
    const { giveUp } = progress.stops;
    try {
      return { scores: new Map([...(await this.#scorer.score(example, giveUp)), ...asked]) };
    } catch (thrown) {
      if (giveUp.aborted) throw thrown;
      // A bug in scoring must not cause another model call.
      return { scores: new Map(asked), error: NOT_SCORED };
    }
  }
}
