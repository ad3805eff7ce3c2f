import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { inStates } from '../../../db/state-change.ts';
import { prepared } from '../../../db/statement.ts';
import type { EvaluationTarget } from '../../../domain/evaluations/code-run.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import type { ModelParameters } from '../../../domain/prompts/parameters.ts';
import type { IncludeSet, PromptContent } from '../../../domain/prompts/prompt-content.ts';
import type { EvaluatorConfig } from '../../../evaluators/registry.ts';

/** One round of an evaluation: the first, or a retry of what failed in the rounds before. */
export interface RunRef {
  evaluationId: string;
  /** 0, or the retry this is. */
  round: number;
}

/** What a run does with each of its examples. */
export interface RunSpec {
  workspaceId: string;
  content: PromptContent;
  /** All that the content includes. */
  includes: IncludeSet;
  target: EvaluationTarget;
  promptName: string;
  /** `NO_VERSION` for code and for a draft. */
  promptVersion: number;
  model: string;
  /** Called in order where the model before has failed for good. */
  fallbackModels: string[];
  parameters: ModelParameters;
  evaluators: EvaluatorConfig[];
  /** Their secrets, encrypted; null where they have none. */
  evaluatorSecrets: Buffer | null;
  /** Null once the dataset was deleted. */
  examplesId: string | null;
  /** 0, or the retry this is. */
  round: number;
  /** The run whose outputs are scored; null where the model is called. */
  sourceEvaluationId: string | null;
  /** From this score on an example counts 1, below it 0; null: it counts its score. */
  exampleThreshold: number | null;
  /** How many seconds old a response may be that is taken in place of a call; null: none is. */
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

/** Undefined where the run is gone or has ended. */
export async function loadRunSpec(query: Query, { evaluationId, round }: RunRef): Promise<RunSpec | undefined> {
  const [spec] = await query(LOAD_SPEC, { evaluationId, round });
  return spec;
}
