import { z } from 'zod';
import { executionStates } from '../../domain/execution-states.ts';
import { publicId } from '../../domain/ids.ts';
import { MAX_GENERATED } from '../../domain/improvements/generation.ts';
import { Label } from '../../domain/prompts/label.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { ModelName } from '../../domain/prompts/prompt-version.ts';
import { BodyVersion, growing, Name } from '../../http/fields.ts';
import { waitMsOf } from '../../http/prefer.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { prepareGeneration } from '../../services/improvements/generate-examples.ts';
import { NameParams } from '../datasets/schema.ts';
import { MaxCost } from '../evaluations/create-schema.ts';
import { type RunExecutionDeps, runExecution } from '../executions/run-execution.ts';
import { PreferHeader } from '../executions/schema.ts';

const COUNT = `must be a whole number from 1 to ${MAX_GENERATED}`;

const GenerateExamples = z
  .strictObject({
    prompt_name: Name,
    version: BodyVersion.optional(),
    label: Label.optional(),
    model: ModelName.meta({ description: 'The model that writes the examples.', example: 'openai/gpt-4.1' }),
    parameters: ModelParameters.default({}),
    count: z.int(COUNT).min(1, COUNT).max(MAX_GENERATED, COUNT).default(20),
    instructions: z
      .string('must be a string')
      .max(4_000, 'must be at most 4,000 characters')
      .default('')
      .meta({ description: 'Further instructions for the inputs.', example: 'Angry customers, in several languages.' }),
    max_cost: MaxCost.optional().meta({
      description:
        'US dollars. A call that could cost more is refused. Default: only the budget of the workspace applies.',
    }),
  })
  .refine(
    ({ version, label }) => version === undefined || label === undefined,
    'give either version or label, not both',
  )
  .meta({ id: 'GenerateExamples' });

const GeneratedExamples = z
  .object({
    prompt_name: z.string(),
    prompt_version: z.int(),
    examples: z
      .array(z.object({ variables: z.record(z.string(), z.unknown()), metadata: z.record(z.string(), z.unknown()) }))
      .meta({ description: 'In the form of `POST /datasets/{name}/examples`, with `generated` in their metadata.' }),
    dropped: z.object({
      invalid: z.int().meta({ description: 'Inputs that do not fill the prompt.' }),
      duplicate: z.int().meta({ description: 'Inputs that repeat another one, or an example of the dataset.' }),
    }),
    status: growing(executionStates.states).meta({ description: 'The status of the call.' }),
    execution_id: z.string(),
    cost: z.string().nullable().meta({ description: 'US dollars, as in the execution.' }),
  })
  .meta({ id: 'GeneratedExamples' });

/** `POST /datasets/{name}/generate` */
export function generateExamplesRoute(deps: RunExecutionDeps): Route {
  return defineRoute({
    method: 'post',
    path: '/datasets/{name}/generate',
    operationId: 'generateDatasetExamples',
    audit: 'none',
    tag: 'Datasets',
    summary: 'Generate examples for a dataset from a prompt, with one call',
    description:
      'A model writes inputs for the prompt. Inputs that do not fill it, repeat another one or are in the dataset already are dropped. Nothing is stored: ' +
      'look at the examples, then add them with `POST /datasets/{name}/examples`. They have no `expected` value, and an improvement only learns from them. ' +
      'Up to 8 examples of the dataset are shown to the model; a later improvement never holds these out. `Prefer: wait=N` (0–300 seconds; default 60) sets ' +
      'the wait for the model; afterwards `status` is not final, and `GET /executions/{id}` has the answer.',
    scope: 'execute',
    alsoScope: 'read',
    status: 201,
    idempotent: true,
    params: NameParams,
    body: GenerateExamples,
    bodyExamples: { 'Twenty tickets': { prompt_name: 'support/greeting', model: 'openai/gpt-4.1', count: 20 } },
    headers: PreferHeader,
    response: GeneratedExamples,
    responseExample: {
      prompt_name: 'support/greeting',
      prompt_version: 3,
      examples: [{ variables: { name: 'Ada' }, metadata: { generated: true } }],
      dropped: { invalid: 0, duplicate: 1 },
      status: 'completed',
      execution_id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a10',
      cost: '0.0021',
    },
    errors: ['not_found', 'prompt_archived', 'quota_exceeded', 'temporarily_unavailable'],
    async handler(request) {
      const { prompt_name: promptName, max_cost: maxCost, ...wanted } = request.body;
      const { version, execution, read } = await prepareGeneration(request.db, deps.models, {
        ...wanted,
        promptName,
        datasetName: request.params.name,
        maxCost: maxCost === undefined ? undefined : Number(maxCost),
      });
      return runExecution(deps, request, execution, {
        waitMs: waitMsOf(request.header('Prefer')),
        present: async (row): Promise<z.input<typeof GeneratedExamples>> => {
          const { examples, dropped } = await read(row.status === 'completed' ? row.output : null);
          return {
            prompt_name: promptName,
            prompt_version: version,
            examples: examples.map(({ variables, metadata = {} }) => ({ variables, metadata })),
            dropped,
            status: row.status,
            execution_id: publicId('execution', row.id),
            cost: row.cost_amount,
          };
        },
      });
    },
  });
}
