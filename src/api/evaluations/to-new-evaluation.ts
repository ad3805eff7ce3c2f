import type { z } from 'zod';
import type { NewEvaluation } from '../../services/evaluations/creation/create-evaluation.ts';
import type { ExecutionsToReplay } from '../../services/evaluations/creation/replay-executions.ts';
import { parseExecutionIds } from '../../services/executions/parse-ids.ts';
import { toExecutionSearch } from '../executions/filter-schema.ts';
import { toMode } from './batch-options.ts';
import type { CreateEvaluation, EvaluatedExecutions, ScheduledEvaluation } from './create-schema.ts';

/** Converts a parsed body to the form that services use. */
export function toNewEvaluation(
  body: (
    | Omit<z.output<typeof ScheduledEvaluation>, 'evaluators'>
    | Omit<z.output<typeof CreateEvaluation>, 'start_at' | 'evaluators'>
  ) &
    Pick<NewEvaluation, 'evaluators'>,
): NewEvaluation {
  const {
    prompt_name: promptName,
    max_cost: maxCost,
    example_threshold: exampleThreshold,
    mode,
    batch,
    ...rest
  } = body;
  const executions = 'executions' in rest ? toExecutions(promptName, rest.executions) : undefined;
  return { ...rest, ...toMode({ mode, batch }), promptName, maxCost, exampleThreshold, executions };
}

function toExecutions(
  evaluated: string,
  given: z.output<typeof EvaluatedExecutions> | undefined,
): ExecutionsToReplay | undefined {
  if (given === undefined) return undefined;
  const { execution_ids: ids, trace_id: traceId, limit, expected, prompt_name: name, ...filter } = given;
  const isNamed = ids !== undefined || traceId !== undefined;
  const promptName = name === undefined && !isNamed ? evaluated : (name ?? undefined);
  const search = toExecutionSearch({ ...filter, prompt_name: promptName, trace_id: traceId }, 'executions.');
  const uuids = ids && parseExecutionIds(ids, 'executions.execution_ids');
  return { search, ids: uuids, limit: uuids?.length ?? limit, expected };
}
