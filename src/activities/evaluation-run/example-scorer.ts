import type { Example, Score } from '../../evaluators/evaluator.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { EvaluatorPool, Scorer } from '../../evaluators/threads/evaluator-pool.ts';
import type { ExampleInProgress } from './example-in-progress.ts';
import { Judges, type JudgesDeps } from './judges.ts';
import type { ScoringEndpoints } from './scoring-endpoints.ts';

export interface ExampleScorerDeps extends JudgesDeps {
  evaluatorPool: EvaluatorPool;
  /** Of the same evaluators. */
  endpoints: ScoringEndpoints;
}

/** What the evaluators say of an example, by their names; `error` where one of them failed for good: those after it are then missing. */
export interface ScoredExampleResult {
  scores: Map<string, Score>;
  error?: { code: string; message: string };
}

const NOT_SCORED = { code: 'internal_error', message: 'The output could not be scored.' };

/** Scores outputs by evaluators: asks the judges and the caller's scorers, then the others. For evaluations as well as for rules. */
export class ExampleScorer {
  readonly #judges: Judges;
  readonly #endpoints: ScoringEndpoints;
  /** The evaluators that ask nobody. */
  readonly #scorer: Scorer;

  constructor(
    { evaluatorPool, endpoints, ...judges }: ExampleScorerDeps,
    { workspaceId, evaluators }: { workspaceId: string; evaluators: EvaluatorConfig[] },
  ) {
    this.#judges = new Judges(judges, evaluators);
    this.#endpoints = endpoints;
    this.#scorer = evaluatorPool.scorer(workspaceId, evaluators);
  }

  /** How many judges and scorers are asked about an example. */
  get asked(): number {
    return this.#judges.count + this.#endpoints.count;
  }

  /** Whether nobody is asked, and no thread is waited for, to score such an output. */
  isFree(output: Parameters<Scorer['isFree']>[0]): boolean {
    return this.asked === 0 && this.#scorer.isFree(output);
  }

  /** @throws RunFailedError; a signal's reason or an `AbortError` where the example was given up */
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
      // A bug in scoring must not have the model called again.
      return { scores: new Map(asked), error: NOT_SCORED };
    }
  }
}
