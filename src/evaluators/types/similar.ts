import { z } from 'zod';
import {
  type ComparedTexts,
  type EmbeddingEvaluator,
  type Example,
  type Judgement,
  requireExpected,
  type Score,
  ScoringError,
  scored,
  unscored,
} from '../evaluator.ts';
import { evaluatorFields } from '../fields.ts';
import { parseJson, toPlainText } from '../matching/json.ts';

/** Providers embed up to about 8,000 tokens per text. */
const MAX_EMBEDDED_LENGTH = 30_000;
const MAX_VALUES = 20;

const SimilarConfig = z
  .strictObject({
    ...evaluatorFields('similar'),
    model: z.string().min(1).max(200).meta({
      title: 'Model for embeddings',
      description: 'Such as openai/text-embedding-3-small.',
      'x-field': 'model',
    }),
    values: z.array(z.string().trim().min(1).max(MAX_EMBEDDED_LENGTH)).min(1).max(MAX_VALUES).optional().meta({
      title: 'Texts',
      description: 'One per line; the most similar one counts. If empty: the expected value.',
    }),
  })
  .meta({
    title: 'Similar meaning',
    description: 'How similar the output and a text are in meaning, by the embeddings of a model.',
  });

type SimilarConfig = z.output<typeof SimilarConfig>;

const Similarities = z.array(z.number()).min(1);

/** The cosine similarity of the output and the most similar text; negative values count 0. */
export const similar: EmbeddingEvaluator<SimilarConfig> & { config: typeof SimilarConfig } = {
  kind: 'embedding',
  config: SimilarConfig,
  prepare: ({ model, values }) => ({ model, request: (example) => compared(example, values), read }),
};

function compared(example: Example, values: readonly string[] | undefined): ComparedTexts | Score {
  const { output: text } = example;
  let others: string[];
  try {
    others = [...(values ?? [toPlainText(requireExpected(example))])];
  } catch (error) {
    if (error instanceof ScoringError) return unscored(error.code, error.message);
    throw error;
  }
  // Providers reject empty texts.
  if (text.trim() === '') return scored(0, 'the output is empty');
  if (others.some((other) => other.trim() === '')) return unscored('missing_expected', 'the expected value is empty');
  if ([text, ...others].some(({ length }) => length > MAX_EMBEDDED_LENGTH))
    return unscored('too_large', `a text is longer than ${MAX_EMBEDDED_LENGTH} characters and was not embedded`);
  return { text, others };
}

function read(response: string): Judgement {
  const parsed = parseJson(response);
  const similarities = Similarities.safeParse(parsed.ok ? parsed.value : undefined);
  if (!similarities.success) {
    const fault = 'no embeddings to compare';
    return { usable: false, reason: fault, fault };
  }
  const most = Math.max(...similarities.data);
  return { usable: true, score: scored(most, most >= 1 ? null : `the similarity is ${most.toFixed(3)}`) };
}
