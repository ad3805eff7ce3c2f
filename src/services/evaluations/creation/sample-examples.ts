import { type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../../db/database.ts';
import { selectPage } from '../../../db/read-page.ts';
import { type Prompt, TemplateVariablesError, type Variables } from '../../../domain/prompts/prompt.ts';
import type { PromptContent } from '../../../domain/prompts/prompt-content.ts';
import { afterOthers } from '../../../lib/event-loop.ts';
import { findExamples } from '../../datasets/find-examples.ts';
import type { NewEvaluation } from './create-evaluation.ts';
import { inputTokens } from './expected-tokens.ts';

const SAMPLE_SIZE = 50;
/** Enough for a good mean, and a few milliseconds of work. */
const MAX_FILLED_TOKENS = 500_000;

/** A sample of a run's examples, spread over all of them. */
export interface ExampleSample {
  total: number;
  variables: Variables[];
}

const spread = (total: number) =>
  Array.from({ length: Math.min(SAMPLE_SIZE, total) }, (_, index) =>
    Math.floor((index * total) / Math.min(SAMPLE_SIZE, total)),
  );

/** Fewer if they are large, like `selectPage`. */
async function readSome(query: Query, examplesId: string, seqs: readonly number[]): Promise<Variables[]> {
  const { rows } = await selectPage(
    query,
    {
      select: (db) =>
        db
          .selectFrom('dataset_examples')
          .select(['seq', 'variables', 'bytes'])
          .where('dataset_version_id', '=', examplesId)
          .where(sql<SqlBool>`seq = any(${seqs}::int[])`),
      orderBy: [['seq', 'asc']],
      bytes: (eb) => eb.ref('bytes'),
    },
    seqs.length,
  );
  return rows.map(({ variables }) => variables);
}

/** @throws ApiError `not_found` if there is no such dataset */
export async function sampleExamples(
  db: WorkspaceDatabase,
  { examples = [], dataset }: Pick<NewEvaluation, 'examples' | 'dataset'>,
): Promise<ExampleSample> {
  if (dataset === undefined) {
    const some = new Set(spread(examples.length));
    return {
      total: examples.length,
      variables: examples.filter((_, index) => some.has(index)).map(({ variables }) => variables),
    };
  }
  const { examplesId, total } = await findExamples(db.query, dataset.name, dataset.version);
  return { total, variables: await readSome(db.heavy.query, examplesId, spread(total)) };
}

/** A prompt filled with sample examples. */
export interface FilledSample {
  /** The number of examples tried. */
  tried: number;
  /** How many of them fit the prompt: the model is not called for the others. */
  fitting: number;
  /** The mean of those that fit; 0 if none does. */
  meanInputTokens: number;
}

/** Fills a prompt with one example after another, until the work limit is reached. */
export async function fillSample(
  prompt: Prompt,
  content: PromptContent,
  variables: readonly Variables[],
): Promise<FilledSample> {
  let tried = 0;
  let fitting = 0;
  let tokens = 0;
  for (const values of variables) {
    if (tokens > MAX_FILLED_TOKENS) break;
    tried += 1;
    const added = tokensWith(prompt, content, values);
    if (added === undefined) continue;
    fitting += 1;
    tokens += added;
    await afterOthers(added);
  }
  return { tried, fitting, meanInputTokens: fitting === 0 ? 0 : tokens / fitting };
}

function tokensWith(prompt: Prompt, content: PromptContent, variables: Variables): number | undefined {
  try {
    return inputTokens(content, prompt.fill(variables));
  } catch (error) {
    if (error instanceof TemplateVariablesError) return undefined;
    throw error;
  }
}
