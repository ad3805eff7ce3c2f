import type { Json } from '../json.ts';
import type { Report } from './report.ts';
import { TemplateError } from './template-text.ts';

const MAX_EVALUATORS = 10;

/** A grader of another product, converted to an evaluator. */
export interface TakenGrader {
  evaluator: Json;
  /** The field of an item that becomes the example's expected value. */
  expectedField?: string;
  /** Differences from the original. */
  notes: string[];
}

/** A grader in the source. */
export interface FoundGrader {
  name: string;
  /** @throws TemplateError if there is no equivalent */
  take: () => TakenGrader;
}

/** The converted graders. */
export interface TakenGraders {
  /** With unique names. */
  evaluators: Json[];
  /** The one field of the items that graders compare with. */
  expectedField: string | undefined;
  leftOut: number;
}

/**
 * Converts graders to evaluators. Each gets a line in the report.
 * @param of their owner, if there are several
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
