import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { inStates } from '../../../db/state-change.ts';
import { prepared } from '../../../db/statement.ts';
import type { EvaluationTarget } from '../../../domain/evaluations/code-run.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import type { ModelParameters } from '../../../domain/prompts/parameters.ts';
import type { IncludeSet, PromptContent } from '../../../domain/prompts/prompt-content.ts';
import type { EvaluatorConfig } from '../../../evaluators/registry.ts';

/** One round of an evaluation: the first, or a retry of the failures of earlier rounds. */
export interface RunRef {
  evaluationId: string;
  /** 0, or the number of the retry. */
  round: number;
}

/** What a run does with each of its examples. */
export interface RunSpec {
  workspaceId: string;
  content: PromptContent;
  /** Everything that the content includes. */
  includes: IncludeSet;
  target: EvaluationTarget;
  promptName: string;
  /** `NO_VERSION` for code and for a draft. */
  promptVersion: number;
  model: string;
  /** Called in order after the model before has failed permanently. */
  fallbackModels: string[];
  parameters: ModelParameters;
  evaluators: EvaluatorConfig[];
  /** The encrypted secrets of the evaluators; null if there are none. */
  evaluatorSecrets: Buffer | null;
  /** Null once the dataset was deleted. */
  examplesId: string | null;
  /** 0, or the number of the retry. */
  round: number;
  /** The run whose outputs are scored; null if the model is called. */
  sourceEvaluationId: string | null;
  /** Examples with at least this score count 1, others 0; null: they count their score. */
  exampleThreshold: number | null;
  /** The maximum age, in seconds, of a response to reuse instead of making the call; null: none is reused. */
  reuseMaxAge: number | null;
}

const LOAD_SPEC = prepared<RunRef>()((db, { evaluationId, round }) =>
  db
    .selectFrom('evaluations')
    .select(['workspace_id as workspaceId', 'content', 'includes', 'model', 'fallback_models as fallbackModels'])
    .select([
      'parameters',
      'examples_id as examplesId',
      'retries as round',
      'source_evaluation_id as sourceEvaluationId',
    ])
    .select(['target', 'prompt_name as promptName', 'prompt_version as promptVersion'])
    .select(['reuse_max_age as reuseMaxAge', 'evaluator_secrets as evaluatorSecrets'])
    .select(['example_threshold as exampleThreshold'])
    .select([sql<EvaluatorConfig[]>`evaluators`.as('evaluators')])
    .where('id', '=', evaluationId)
    .where('retries', '=', round)
    .where(inStates(evaluationStates, ['running', 'paused'])),
);

/** Undefined if the run is gone or has ended. */
export async function loadRunSpec(query: Query, { evaluationId, round }: RunRef): Promise<RunSpec | undefined> {
  const [spec] = await query(LOAD_SPEC, { evaluationId, round });
  return spec;
}
