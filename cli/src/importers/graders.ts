import type { Json } from '../json.ts';
import type { Report } from './report.ts';
import { TemplateError } from './template-text.ts';

const MAX_EVALUATORS = 10;

/** A grader of another product as an evaluator. */
export interface TakenGrader {
  evaluator: Json;
  /** The field of an item that the example has to expect. */
  expectedField?: string;
  /** What is not quite the same. */
  notes: string[];
}

/** A grader as it was found. */
export interface FoundGrader {
  name: string;
  /** @throws TemplateError where nothing here grades the same */
  take: () => TakenGrader;
}

/** What graders come to. */
export interface TakenGraders {
  /** With names of their own. */
  evaluators: Json[];
  /** The one field of the items that graders compare with. */
  expectedField: string | undefined;
  leftOut: number;
}

/**
 * Makes evaluators of graders. Each has its line in the report.
 * @param of what they belong to, where there may be graders of several
 */
export function takeGraders(found: FoundGrader[], report: Report, of?: string): TakenGraders {
  const evaluators: Json[] = [];
  let field: string | undefined;
  for (const { name, take } of found) {
    const thing = report.add('grader', of === undefined ? name : `${of}: ${name}`);
    try {
      const { evaluator, expectedField, notes } = take();
      if (expectedField !== undefined && field !== undefined && expectedField !== field)
        throw new TemplateError(
          `it compares with "${expectedField}", and another grader with "${field}": an example expects one value`,
        );
      if (evaluators.length === MAX_EVALUATORS)
        throw new TemplateError(`an evaluation has at most ${MAX_EVALUATORS} evaluators`);
      field = expectedField ?? field;
      for (const note of notes) thing.change(note);
      const own = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60) || 'grader';
      const isTaken = evaluators.some((known) => known['name'] === own);
      evaluators.push({ ...evaluator, name: isTaken ? `${own}-${evaluators.length + 1}` : own });
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      thing.leaveOut(error.message);
    }
  }
  return { evaluators, expectedField: field, leftOut: found.length - evaluators.length };
}
