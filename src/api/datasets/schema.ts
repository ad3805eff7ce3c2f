import { z } from 'zod';
import { datasetNameProblem } from '../../domain/evaluations/dataset-name.ts';
import { Example } from '../../domain/evaluations/example.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { nameSchema } from '../../domain/name-schema.ts';
import { ScoreName } from '../../domain/scores/score-name.ts';
import { storableString, Timestamp, TimestampInput, wholeNumber } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { shown } from '../../http/unread.ts';
import { ExecutionFilterBody } from '../executions/filter-schema.ts';

const MAX_FROM_EXECUTIONS = 100_000;
const MAX_EXECUTION_IDS = 10_000;
const MAX_ADDED_EXAMPLES = 1_000;

/** A dataset name follows the rules of prompt names, except for the reserved words. */
export const DatasetName = nameSchema(datasetNameProblem, 'support/greetings');

const VersionNumber = wholeNumber({
  min: 1,
  max: 2_147_483_647,
  description: 'A version of the dataset, from 1. Default: the latest.',
});

export const NameParams = z.object({ name: DatasetName });

const Description = storableString().max(2000, 'must be at most 2000 characters').meta({
  description: 'The purpose of the dataset. If omitted, it is unchanged.',
  example: 'Greetings by first name.',
});

const Mode = z.enum(['add', 'replace'], 'must be add or replace');

export const UploadQuery = z.strictObject({
  description: Description.optional(),
  mode: Mode.default('replace').meta({
    description:
      '`replace`: the next version has only the examples of the upload. `add`: they are added to those of the latest version, and one with an existing id replaces that example.',
  }),
});
export const VersionQuery = z.strictObject({ version: VersionNumber.optional() });
export const ListQuery = z.strictObject(PageQuery);
export const ExamplesQuery = z.strictObject({
  ...PageQuery,
  version: VersionNumber.optional(),
  q: storableString()
    .min(1, 'must not be empty: omit it for all examples')
    .max(200, 'must be at most 200 characters')
    .optional()
    .meta({
      description:
        'Only examples that contain this text (case-insensitive) in their id or in a value of their variables, expected value or metadata.',
    }),
});
export const ExportQuery = z.strictObject({
  version: VersionNumber.optional(),
  format: z
    .enum(['jsonl', 'csv'], 'must be jsonl or csv')
    .default('jsonl')
    .meta({ description: '`jsonl` keeps everything. `csv` holds only text; other values become JSON.' }),
});

export const Dataset = z
  .object({
    name: shown(DatasetName),
    version: shown(z.int()),
    examples_total: shown(z.int()),
    hash: shown(
      z.string().meta({
        description:
          'SHA-256 over keys, variables and expected values in order. Two versions with the same examples have the same hash.',
        example: 'sha256:6d1f…',
      }),
    ),
    description: z.string().nullable(),
    created_at: shown(Timestamp),
    updated_at: shown(Timestamp),
    version_created_at: shown(Timestamp),
  })
  .meta({ id: 'Dataset' });

export const DatasetChange = Dataset.extend({
  delimiter: shown(
    z.string().optional().meta({ description: 'The delimiter used to read the uploaded CSV.', example: ';' }),
  ),
  added: shown(
    z.int().optional().meta({ description: 'The number of examples added to those of the previous version.' }),
  ),
  replaced: shown(
    z.int().optional().meta({ description: 'The number of examples of the previous version that have new content.' }),
  ),
  unchanged: shown(
    z.int().optional().meta({
      description:
        'The number of uploaded examples that the dataset already has. If it has all of them, no version is created.',
    }),
  ),
}).meta({ id: 'DatasetChange' });

export const DatasetPage = pageOf(Dataset).meta({ id: 'DatasetPage' });

export const ExampleRecord = z
  .object({
    seq: z.int().meta({ description: 'Its position in the version, from 0.' }),
    key: z
      .string()
      .meta({ description: 'The id of the example, or `sha256:` and a hash of its variables and expected value.' }),
    ...Example.shape,
  })
  .meta({ id: 'DatasetExample' });

export const ExamplePage = pageOf(ExampleRecord).meta({ id: 'DatasetExamplePage' });

export const AddExamples = z
  .strictObject({
    examples: z
      .array(Example, 'must be an array of examples')
      .min(1, 'must have at least one example')
      .max(MAX_ADDED_EXAMPLES, `must have at most ${MAX_ADDED_EXAMPLES} examples: add more by an upload with mode=add`),
  })
  .meta({ id: 'AddExamples' });

export const FromScores = z
  .strictObject({
    score: ScoreName.meta({ description: 'The name of the score that people gave.' }),
    feedback: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether scores submitted with feedback tokens count, too.' }),
    since: TimestampInput.optional().meta({ description: 'Scores stored at or after this time.' }),
    until: TimestampInput.optional().meta({ description: 'Scores stored before this time.' }),
    limit: z
      .int('must be a whole number from 1 to 1000')
      .min(1, 'must be a whole number from 1 to 1000')
      .max(1_000, 'must be a whole number from 1 to 1000')
      .default(1_000)
      .meta({ description: 'If people scored more outputs, those with the newest scores are used.' }),
  })
  .meta({ id: 'DatasetFromScores' });

export const FromExecutions = z
  .strictObject({
    ...ExecutionFilterBody.shape,
    status: z
      .enum(executionStates.states, `must be one of ${executionStates.states.join(', ')}`)
      .default('completed')
      .meta({ description: 'Only executions in this state.' }),
    execution_ids: z
      .array(z.string().max(100), 'must be an array of ids')
      .min(1, 'must not be empty')
      .max(MAX_EXECUTION_IDS, `must be at most ${MAX_EXECUTION_IDS} ids`)
      .optional()
      .meta({ description: 'Only these executions; all must match the other fields.' }),
    limit: z
      .int(`must be a whole number from 1 to ${MAX_FROM_EXECUTIONS}`)
      .min(1, `must be a whole number from 1 to ${MAX_FROM_EXECUTIONS}`)
      .max(MAX_FROM_EXECUTIONS, `must be a whole number from 1 to ${MAX_FROM_EXECUTIONS}`)
      .default(MAX_FROM_EXECUTIONS)
      .meta({ description: 'If more executions match, the newest are used.' }),
    expected: z
      .enum(['output', 'none'], 'must be output or none')
      .default('output')
      .meta({ description: 'The expected value of the examples: the output of the execution, or none.' }),
    mode: Mode.default('add').meta({
      description:
        '`add`: the examples of the latest version stay, and new ones follow. `replace`: the next version has only these.',
    }),
  })
  .meta({ id: 'DatasetFromExecutions' });
