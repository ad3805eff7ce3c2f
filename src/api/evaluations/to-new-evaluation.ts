import type { z } from 'zod';
import type { NewEvaluation } from '../../services/evaluations/creation/create-evaluation.ts';
import { toMode } from './batch-options.ts';
import type { CreateEvaluation, ScheduledEvaluation } from './create-schema.ts';

/** Converts a parsed body to the form that services use. */
export function toNewEvaluation(
  body: z.output<typeof ScheduledEvaluation> | Omit<z.output<typeof CreateEvaluation>, 'start_at'>,
): NewEvaluation {
  const {
    prompt_name: promptName,
    max_cost: maxCost,
    example_threshold: exampleThreshold,
    mode,
    batch,
    ...rest
  } = body;
  return { ...rest, ...toMode({ mode, batch }), promptName, maxCost, exampleThreshold };
}
