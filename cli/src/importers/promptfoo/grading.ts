import { isObject, type Json } from '../../json.ts';
import { TemplateError } from '../template-text.ts';
import { requireText } from './assert-values.ts';
import type { AssertContext, CompiledAssert } from './asserts.ts';
import { embeddingModelOf, modelOf, providerId } from './models.ts';

const MAX_RUBRIC_LENGTH = 20_000;
const MAX_SIMILAR_LENGTH = 30_000;
const MAX_SIMILAR = 20;
/** Promptfoo's default embedding model and similarity threshold. */
const USUAL_EMBEDDINGS = 'openai/text-embedding-3-large';
const USUAL_SIMILARITY = 0.75;
/** Number of intermediate grades if there is a threshold. */
const FINE = 10;

const JUDGE_NOTE = 'a judge with a reworded rubric grades with 0 or 1';
const FINE_NOTE = `a judge with a reworded rubric grades from 0 to ${FINE}`;

/** Model-graded asserts, with the rubric of each. */
const RUBRICS: Record<string, (value: string) => string> = {
  'llm-rubric': (value) => value,
  'model-graded-closedqa': (value) => `The output meets this criterion: ${value}`,
  factuality: (value) => `The output says nothing that is at odds with this: ${value}`,
};

export const isGraded = (type: string): boolean => Object.hasOwn(RUBRICS, type);

/** A provider can have a separate one for each kind of model. */
function ofKind(provider: unknown, kind: 'text' | 'embedding'): unknown {
  return isObject(provider) && provider['id'] === undefined && kind in provider ? provider[kind] : provider;
}

/** The value of promptfoo's own threshold, which evaluators here have, too. */
export function requireShare({ threshold }: Json): number {
  if (typeof threshold !== 'number' || !(threshold >= 0 && threshold <= 1))
    throw new TemplateError('its threshold is not between 0 and 1');
  return threshold;
}

/** @throws TemplateError */
export function compileGraded(type: string, assert: Json, context: AssertContext): CompiledAssert {
  if (assert['rubricPrompt'] !== undefined) throw new TemplateError('it has its own grading prompt');
  const rubric = RUBRICS[type]?.(requireText(assert['value'], context)) ?? '';
  if (rubric.trim() === '' || rubric.length > MAX_RUBRIC_LENGTH)
    throw new TemplateError('its rubric is empty or too long');
  const named = ofKind(assert['provider'] ?? context.gradingProvider, 'text');
  const model = modelOf(named) ?? context.judge;
  if (model === undefined)
    throw new TemplateError('it names no grading model that can be called here: set one with --judge');
  const isFine = assert['threshold'] !== undefined || context.countsScores === true;
  const evaluator: Json = {
    type: 'llm_judge',
    model,
    rubric,
    scale: { min: 0, max: isFine ? FINE : 1 },
    include_expected: false,
    include_input: type !== 'llm-rubric',
    ...(isFine && !context.countsScores && { threshold: requireShare(assert) }),
  };
  const notes = [isFine ? FINE_NOTE : JUDGE_NOTE];
  const id = providerId(named);
  if (id !== undefined && modelOf(named) === undefined) notes.push(`${model} grades instead of ${id}`);
  return { evaluator, notes };
}

/** @throws TemplateError */
export function compileSimilar(assert: Json, context: AssertContext): CompiledAssert {
  const { value } = assert;
  const values = (Array.isArray(value) ? value : [value]).map((item) => requireText(item, context).trim());
  if (values.length === 0 || values.length > MAX_SIMILAR)
    throw new TemplateError(`its value is not a list of up to ${MAX_SIMILAR} texts`);
  if (values.some((text) => text === '' || text.length > MAX_SIMILAR_LENGTH))
    throw new TemplateError('its value is empty or too long');
  const named = ofKind(assert['provider'] ?? context.gradingProvider, 'embedding');
  const own = embeddingModelOf(named);
  const model = own ?? context.embeddings ?? USUAL_EMBEDDINGS;
  const threshold = assert['threshold'] === undefined ? USUAL_SIMILARITY : requireShare(assert);
  const notes = own === undefined ? [`${model} embeds the texts`] : [];
  const [first] = values;
  const evaluator: Json = { type: 'similar', model, ...(!context.countsScores && { threshold }) };
  // Tests that differ only in this text can share a dataset if it is the expected value.
  if (values.length === 1) return { evaluator, option: 'values', expected: { value: first, isRequired: false }, notes };
  return { evaluator: { ...evaluator, values }, notes };
}
