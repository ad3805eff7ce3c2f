import { isObject, type Json, listOf, shown, textOf } from '../json.ts';
import type { TakenGrader } from './graders.ts';
import { TemplateError } from './template-text.ts';

const OUTPUT = /^\s*\{\{\s*sample\.output_text\s*\}\}\s*$/;
const ITEM = /^\s*\{\{\s*item\.([\w-]+)\s*\}\}\s*$/;

function requireOutput(grader: Json): void {
  if (!OUTPUT.test(textOf(grader['input']) ?? ''))
    throw new TemplateError('it grades something other than just the output');
}

function stringCheck(grader: Json): TakenGrader {
  requireOutput(grader);
  const reference = textOf(grader['reference']) ?? '';
  const operation = shown(grader['operation']);
  const field = ITEM.exec(reference)?.[1];
  if (field === undefined && reference.includes('{{')) throw new TemplateError('its reference is a template');
  if (operation === 'eq') {
    if (field === undefined)
      throw new TemplateError('it compares with a fixed text: an output is compared with what its example expects');
    return { evaluator: { type: 'exact_match', trim: false }, expectedField: field, notes: [] };
  }
  if (operation !== 'like' && operation !== 'ilike')
    throw new TemplateError(`no evaluator does the operation "${operation}"`);
  const evaluator = { type: 'contains', ...(operation === 'ilike' && { case_sensitive: false }) };
  if (field !== undefined) return { evaluator, expectedField: field, notes: [] };
  if (reference === '' || reference.length > 10_000) throw new TemplateError('its reference is empty or too long');
  return { evaluator: { ...evaluator, value: reference }, notes: [] };
}

function textSimilarity(grader: Json): TakenGrader {
  requireOutput(grader);
  const metric = shown(grader['evaluation_metric']);
  if (metric !== 'fuzzy_match') throw new TemplateError(`no evaluator measures "${metric}"`);
  const field = ITEM.exec(textOf(grader['reference']) ?? '')?.[1];
  if (field === undefined) throw new TemplateError('it compares with something other than one field of the item');
  const notes = ['similarity is measured by edits (levenshtein), which produces other numbers'];
  if (grader['pass_threshold'] !== undefined) notes.push('its pass threshold is left out: the score itself counts');
  return { evaluator: { type: 'levenshtein' }, expectedField: field, notes };
}

function textOfContent(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  const part = isObject(content) ? content : listOf(content).length === 1 ? listOf(content)[0] : undefined;
  return isObject(part) ? textOf(part['text']) : undefined;
}

/**
 * The grading instructions for a model. Judges here always see the output, so a grader can be imported if its last message is
 * only the output, and the messages before it have no variables.
 */
function rubricOf(input: unknown): string {
  const messages = listOf(input).map((message) => (isObject(message) ? textOfContent(message['content']) : undefined));
  const output = messages.pop();
  if (output === undefined || !OUTPUT.test(output) || messages.length === 0)
    throw new TemplateError('its prompt is not instructions and then just the output');
  const rubric = messages.map((text) => text ?? '{{').join('\n\n');
  if (rubric.includes('{{')) throw new TemplateError('its instructions have variables, which a rubric does not have');
  return rubric;
}

function judge(grader: Json, rubric: string, scale: { min: number; max: number }): Json {
  const model = textOf(grader['model']);
  if (model === undefined) throw new TemplateError('it names no model');
  if (rubric.length > 20_000) throw new TemplateError('its instructions are too long for a rubric');
  return { type: 'llm_judge', model, rubric, scale, include_expected: false, include_input: false };
}

function labelModel(grader: Json): TakenGrader {
  const passing = listOf(grader['passing_labels']).map(String);
  const others = listOf(grader['labels'])
    .map(String)
    .filter((label) => !passing.includes(label));
  if (passing.length === 0 || others.length === 0)
    throw new TemplateError('it has no labels that pass, or none that fail');
  const grades = `Grade 1 where the label is ${passing.join(' or ')}; grade 0 where it is ${others.join(' or ')}.`;
  const evaluator = judge(grader, `${rubricOf(grader['input'])}\n\n${grades}`, { min: 0, max: 1 });
  return { evaluator, notes: ['its labels are the grades 1 (passing) and 0'] };
}

function scoreModel(grader: Json): TakenGrader {
  const [min, max] = grader['range'] === undefined ? [0, 1] : listOf(grader['range']).map(Number);
  if (
    !Number.isInteger(min) ||
    !Number.isInteger(max) ||
    min === undefined ||
    max === undefined ||
    min >= max ||
    min < -1000 ||
    max > 1000
  )
    throw new TemplateError('its range is not two whole numbers within 1,000');
  if (max - min === 1) throw new TemplateError('its grades are fractions: judges return whole numbers');
  const notes = ['judges return whole numbers, which are scaled to 0–1'];
  if (grader['pass_threshold'] !== undefined) notes.push('its pass threshold is left out: the score itself counts');
  if (isObject(grader['sampling_params'])) notes.push('its sampling parameters are left out');
  return { evaluator: judge(grader, rubricOf(grader['input']), { min, max }), notes };
}

/**
 * Converts a grader of OpenAI's evals to an evaluator.
 * @throws TemplateError if there is no equivalent
 */
export function takeGrader(grader: Json): TakenGrader {
  switch (grader['type']) {
    case 'string_check':
      return stringCheck(grader);
    case 'text_similarity':
      return textSimilarity(grader);
    case 'label_model':
      return labelModel(grader);
    case 'score_model':
      return scoreModel(grader);
    case 'python':
      throw new TemplateError('it runs code');
    default:
      throw new TemplateError(`no evaluator matches the type "${shown(grader['type'])}"`);
  }
}
