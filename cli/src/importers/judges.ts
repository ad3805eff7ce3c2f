import type { Json } from '../json.ts';
import { TemplateError } from './template-text.ts';

const MAX_RUBRIC_LENGTH = 20_000;
/** Maximum number of steps when scores are converted to integer grades. */
const MAX_STEPS = 10;

/** What a judge sees in addition to its rubric. */
export type Shown = 'output' | 'expected' | 'input';

/** The grading instructions for a model, and its possible answers. */
export interface FoundJudge {
  model: string | undefined;
  /** The prompt, in which the output and other values are at the ends of lines. */
  prompt: string;
  /** Matches placeholders; the first group is the name. With the flag g. */
  placeholder: RegExp;
  /** What each placeholder stands for. */
  shows: Record<string, Shown>;
  choices: { choice: string; score: number }[];
}

/** A value can be preceded by a label: `[Submission]: `. */
const LABEL = /^(?:.{0,60}[:：][*_\s]*)?$/;

/**
 * The instructions of a prompt, without the lines that show the output and other values, which judges here see anyway.
 * @throws TemplateError if a value is inside a sentence, or the output is not shown
 */
function rubricOf({ prompt, placeholder, shows }: FoundJudge): { rubric: string; shown: Set<Shown> } {
  const shown = new Set<Shown>();
  const lines = prompt.split(/\r?\n/).filter((line) => {
    const found = [...line.matchAll(placeholder)];
    const [first] = found;
    if (first === undefined) return true;
    const name = first[1] ?? '';
    const what = Object.hasOwn(shows, name) ? shows[name] : undefined;
    const isAlone = found.length === 1 && line.slice(first.index + first[0].length).trim() === '';
    if (what === undefined)
      throw new TemplateError(`its instructions have the variable "${name}", which a rubric does not have`);
    if (!isAlone || !LABEL.test(line.slice(0, first.index).trim()))
      throw new TemplateError(
        `its instructions have "${name}" within a sentence: a judge is shown it apart from its rubric`,
      );
    shown.add(what);
    return false;
  });
  if (!shown.has('output')) throw new TemplateError('its instructions do not show the output');
  return { rubric: lines.join('\n').trim(), shown };
}

/** Integer choices whose scores are evenly spaced between 0 and 1. */
function evenScale(choices: FoundJudge['choices']): { min: number; max: number } | undefined {
  const grades = choices.map(({ choice }) => (/^-?\d{1,4}$/.test(choice.trim()) ? Number(choice) : Number.NaN));
  const [min, max] = [Math.min(...grades), Math.max(...grades)];
  if (!(min < max && min >= -1000 && max <= 1000)) return undefined;
  const isEven = choices.every(({ score }, at) => Math.abs(score - ((grades[at] ?? 0) - min) / (max - min)) < 1e-9);
  return isEven ? { min, max } : undefined;
}

/** The same for choices that are words: each gets a grade, explained in the rubric. */
function gradesOf(choices: FoundJudge['choices']): { scale: { min: number; max: number }; text: string } {
  const isWhole = (number: number) => Math.abs(number - Math.round(number)) < 1e-9;
  const steps = Array.from({ length: MAX_STEPS }, (_, at) => at + 1).find((count) =>
    choices.every(({ score }) => isWhole(score * count)),
  );
  const scores = choices.map(({ score }) => score);
  if (steps === undefined || !scores.every((score) => score >= 0 && score <= 1) || new Set(scores).size < 2)
    throw new TemplateError(`its choices have no scores from 0 to 1 that are grades in up to ${MAX_STEPS} steps`);
  const lines = choices.map(
    ({ choice, score }) => `Grade ${Math.round(score * steps)} where the answer is "${choice}".`,
  );
  return { scale: { min: 0, max: steps }, text: lines.join('\n') };
}

/**
 * Converts a model that grades by choices to an evaluator.
 * @throws TemplateError if its prompt or its choices have no equivalent
 */
export function takeJudge(found: FoundJudge): { evaluator: Json; notes: string[] } {
  const { model, choices } = found;
  if (model === undefined) throw new TemplateError('it names no model');
  const { rubric: instructions, shown } = rubricOf(found);
  const even = evenScale(choices);
  const { scale, text } = even === undefined ? gradesOf(choices) : { scale: even, text: undefined };
  const rubric = text === undefined ? instructions : `${instructions}\n\n${text}`;
  if (instructions === '' || rubric.length > MAX_RUBRIC_LENGTH)
    throw new TemplateError('its instructions are empty, or too long for a rubric');
  const evaluator = {
    type: 'llm_judge',
    model,
    rubric,
    scale,
    include_expected: shown.has('expected'),
    include_input: shown.has('input'),
  };
  const notes = ['lines that show the output and other values are left out of its rubric: a judge is shown them apart'];
  if (shown.has('input')) notes.push('it is shown the whole prompt as the input');
  if (text !== undefined) notes.push('its choices are grades');
  return { evaluator, notes };
}
