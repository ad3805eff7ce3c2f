import { z } from 'zod';
import { parsePublicId } from '../../domain/ids.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { readableOutput } from '../../domain/text/readable-messages.ts';
import { type Example, type PairEvaluator, type PairOrder, type Score, scored, unscored } from '../evaluator.ts';
import { evaluatorFields } from '../fields.ts';
import { isJsonValue, toPlainText } from '../matching/json.ts';
import { buildPairPrompt } from './judge-prompt.ts';
import { readResponse, responseFormat } from './llm-judge.ts';

const PairwiseConfig = z
  .strictObject({
    ...evaluatorFields('pairwise'),
    model: z.string().min(1).max(200).meta({
      title: 'Model of the judge',
      description: 'As in a prompt. It is called twice for each example.',
      'x-field': 'model',
    }),
    rubric: z.string().trim().min(1).max(20_000).meta({
      title: 'Rubric',
      description: 'Criteria of the better output.',
      'x-field': 'long-text',
    }),
    against: z
      .string()
      .refine((id) => parsePublicId('evaluation', id) !== undefined, 'must be the id of an evaluation')
      .optional()
      .meta({
        title: 'Compare with the outputs of',
        description: 'The id of a completed evaluation of the same examples. If empty: with the expected values.',
      }),
    include_expected: z.boolean().default(true).meta({
      title: 'Show it the expected value',
      description: 'If outputs are compared with those of an evaluation.',
    }),
    include_input: z.boolean().default(true).meta({ title: 'Show it the prompt' }),
    parameters: ModelParameters.omit({ response_format: true }).default({}).meta({
      title: 'Parameters of the judge',
      description: 'Such as {"temperature": 0}; all but `response_format`, which this evaluator sets.',
      'x-field': 'json',
    }),
  })
  .meta({
    title: 'Better of two',
    description: 'A model prefers the output to another one, in both orders. A tie scores 0.5.',
  });

type PairwiseConfig = z.output<typeof PairwiseConfig>;

const ANSWERS = ['first', 'second', 'tie'] as const;

/** How its answers are read. */
const readingOf = (order: PairOrder) => ({
  scale: { min: 0, max: 1 },
  categories: ANSWERS.map((value) => ({
    value,
    score: value === 'tie' ? 0.5 : Number((value === 'first') === (order === 'given')),
  })),
});

/**
 * Asks a model which of two outputs is better, in both orders: judges prefer the first or the second more often than chance
 * would. Two opposite answers are a tie.
 */
export const pairwise: PairEvaluator<PairwiseConfig> & { config: typeof PairwiseConfig } = {
  kind: 'pair',
  config: PairwiseConfig,
  prepare(config) {
    const { model, rubric, parameters } = config;
    const against = config.against === undefined ? undefined : parsePublicId('evaluation', config.against);
    return {
      model,
      against,
      known(example) {
        const other = otherOf(config, example);
        if (other === undefined && config.against !== undefined)
          return unscored('unusable_judgement', 'the other evaluation has no output for this example');
        if (other === undefined) return unscored('missing_expected', 'the example has no expected value');
        return other === outputOf(example) ? scored(0.5, 'both outputs are the same') : undefined;
      },
      request: (example, order, fault) => ({
        input: buildPairPrompt({ rubric, sections: sectionsOf(config, example, order), answers: ANSWERS, fault }),
        parameters: { ...parameters, response_format: responseFormat(readingOf(order)) },
      }),
      read(response, order) {
        const judgement = readResponse(response, readingOf(order));
        return judgement.usable
          ? { usable: true, score: scored(judgement.score.score, judgement.score.reason) }
          : judgement;
      },
      combine,
    };
  },
};

const outputOf = ({ output, toolCalls }: Example) => readableOutput(output, toolCalls);

function otherOf({ against }: PairwiseConfig, { other, expected }: Example): string | undefined {
  if (against !== undefined) return other;
  return expected === undefined ? undefined : textOf(expected);
}

const textOf = (value: NonNullable<Example['expected']> | null) =>
  isJsonValue(value) ? toPlainText(value) : '(nested too deeply to show)';

function sectionsOf(config: PairwiseConfig, example: Example, order: PairOrder) {
  const outputs = [outputOf(example), otherOf(config, example) ?? ''];
  if (order === 'swapped') outputs.reverse();
  const [first = '', second = ''] = outputs;
  const isShown = config.against !== undefined && config.include_expected && example.expected !== undefined;
  return [
    ...(config.include_input ? [{ title: 'Prompt', text: example.input }] : []),
    ...(isShown ? [{ title: 'Expected', text: textOf(example.expected ?? null) }] : []),
    { title: 'First output', text: first },
    { title: 'Second output', text: second },
  ];
}

function combine(given: Score, swapped: Score): Score {
  const score = (given.score + swapped.score) / 2;
  const why = given.reason === null ? '' : `: ${given.reason}`;
  if (score === 0.5 && given.score !== 0.5) {
    const position = given.score === 1 ? 'first' : 'second';
    return scored(score, `a tie: the judge preferred the ${position} output in both orders`);
  }
  if (score === 0.5) return scored(score, `a tie${why}`);
  const preferred = score > 0.5 ? 'this output' : 'the other output';
  const decided = given.score === swapped.score ? 'in both orders' : 'in one order';
  // The reason of the order that decided it.
  const reason = given.score === 0.5 ? swapped.reason : given.reason;
  return scored(score, `${preferred} is better ${decided}${reason === null ? '' : `: ${reason}`}`);
}
