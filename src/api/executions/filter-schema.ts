import { z } from 'zod';
import { executionStates } from '../../domain/execution-states.ts';
import { publicId } from '../../domain/ids.ts';
import { Label } from '../../domain/prompts/label.ts';
import { ModelName } from '../../domain/prompts/prompt-version.ts';
import { ARMS } from '../../domain/releases/rollout.ts';
import { MAX_SCORE_CONDITIONS, ScoreConditionText, showScoreCondition } from '../../domain/scores/score-condition.ts';
import { CreationTime, Name, publicIdInput } from '../../http/fields.ts';
import type { ExecutionFilter } from '../../services/executions/filter.ts';

const CONDITIONS =
  'Conditions on scores, all of which hold: `NAME OPERATOR VALUE` with `<`, `<=`, `>`, `>=`, `=` or `!=`.';

/** The conditions on scores of a body. */
const ScoreConditions = z
  .array(ScoreConditionText, 'must be a list of conditions, such as ["helpful<0.5"]')
  .max(MAX_SCORE_CONDITIONS, `must be at most ${MAX_SCORE_CONDITIONS} conditions`)
  .meta({ description: CONDITIONS, example: ['helpful<0.5', 'topic=billing'] });

/** The same of a query string, where `score` is given once for each of them. */
const RepeatedScore = z
  .preprocess((given) => (typeof given === 'string' ? [given] : given), ScoreConditions)
  .meta({ description: `${CONDITIONS} May be repeated.` });

/** Which executions are meant: fields of a query string. */
export const executionFilterFields = {
  prompt_name: Name.optional(),
  group: Name.optional().meta({
    description: 'Only prompts whose name starts with this and a "/".',
    example: 'support',
  }),
  status: z.enum(executionStates.states, `must be one of ${executionStates.states.join(', ')}`).optional(),
  model: ModelName.optional(),
  label: Label.optional().meta({ description: 'By which the version was asked for.' }),
  release: publicIdInput('release').optional().meta({ description: 'Only those whose version this release decided.' }),
  arm: z.enum(ARMS, 'must be stable or candidate').optional().meta({ description: 'Of that release.' }),
  ...CreationTime,
};

/** The same and `score`, which may be repeated: the route says so (`repeatable`). */
export const executionFilterQuery = { ...executionFilterFields, score: RepeatedScore.optional() };

/** Which executions are meant, in a body. Nothing given: all. */
export const ExecutionFilterBody = z
  .strictObject({ ...executionFilterFields, score: ScoreConditions.optional() })
  .meta({ id: 'ExecutionFilter' });

/** A filter as services take it. */
export function toExecutionFilter({
  prompt_name: promptName,
  ...filter
}: z.output<typeof ExecutionFilterBody>): ExecutionFilter {
  return { promptName, ...filter };
}

/** A filter as callers have given it; of one that was stored, times may be texts. */
export function presentExecutionFilter({
  promptName,
  release,
  since,
  until,
  score,
  ...filter
}: ExecutionFilter): z.input<typeof ExecutionFilterBody> {
  const time = (given: Date | string | undefined) => given && new Date(given).toISOString();
  const fields = {
    prompt_name: promptName,
    ...filter,
    release: release && publicId('release', release),
    since: time(since),
    until: time(until),
    score: score?.map(showScoreCondition),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
