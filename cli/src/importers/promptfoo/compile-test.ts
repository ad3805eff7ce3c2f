import { type Json, shown, textOf } from '../../json.ts';
import type { RawExample } from '../examples.ts';
import { TemplateError } from '../template-text.ts';
import { type AssertContext, type CompiledAssert, compileAssert } from './asserts.ts';
import type { PreparedTest } from './prepare-test.ts';
import { render } from './render.ts';

const MAX_EVALUATORS = 10;
/** Maximum number of tests from one test with lists of values. */
const MAX_COMBINATIONS = 10_000;
/** Maximum depth of references between variables. */
const MAX_REFERENCES = 5;

/** A test converted to an example, and its evaluators. */
export interface CompiledTest {
  example: RawExample;
  evaluators: Json[];
  /** The score required for the test to pass; undefined if each assert must pass. */
  threshold: number | undefined;
  /** Number of asserts left out. */
  leftOut: number;
}

/** Receives the notes on an assert: none if it is imported unchanged. */
export interface NoteAsserts {
  taken(type: string, notes: string[]): void;
  leftOut(type: string, why: string): void;
}

/** The models that grade and embed, and the scorer that runs code. */
export type CompileSettings = Pick<AssertContext, 'judge' | 'embeddings' | 'scorer'>;

/** All combinations of values for variables that are lists. @throws TemplateError */
function combinations(vars: Json): Json[] {
  let all: Json[] = [{}];
  for (const [name, value] of Object.entries(vars)) {
    const values = Array.isArray(value) ? value : [value];
    if (all.length * values.length > MAX_COMBINATIONS)
      throw new TemplateError(`its lists of values make more than ${MAX_COMBINATIONS} tests`);
    all = all.flatMap((known) => values.map((one) => ({ ...known, [name]: one })));
  }
  return all;
}

/** Resolves references between variables. @throws TemplateError */
function resolved(vars: Json): Json {
  let current = vars;
  for (let depth = 0; depth < MAX_REFERENCES; depth += 1) {
    let isChanged = false;
    const next = Object.fromEntries(
      Object.entries(current).map(([name, value]) => {
        if (typeof value !== 'string' || !/\{\{|\{%/.test(value)) return [name, value];
        isChanged = true;
        try {
          return [name, render(value, current)];
        } catch {
          throw new TemplateError(`the variable "${name}" is a template itself`);
        }
      }),
    );
    if (!isChanged) return current;
    current = next;
  }
  throw new TemplateError('its variables refer to each other too deeply');
}

/** Rejects tests that are more than variables and asserts. @throws TemplateError */
function requireSimple({ test, options }: PreparedTest): void {
  for (const field of [
    'provider',
    'providers',
    'prompts',
    'providerOutput',
    'assertScoringFunction',
    '__prefix',
    '__suffix',
    '__provider',
  ])
    if (test[field] !== undefined) throw new TemplateError(`it has "${field}", which applies only to this test`);
  for (const field of ['transformVars', 'prefix', 'suffix'])
    if (options[field] !== undefined) throw new TemplateError(`it has options.${field}, which changes what is sent`);
}

/** Code that transforms the output before the asserts. @throws TemplateError if nothing can run it */
function transformsOf({ options }: PreparedTest, { scorer }: CompileSettings): string[] {
  const transforms = [options['postprocess'], options['transform']].filter((code) => code !== undefined);
  if (transforms.length > 0 && scorer === undefined)
    throw new TemplateError('it has options.transform, which is code: --scorer-project writes a scorer that runs it');
  return transforms.map(shown);
}

/** @throws TemplateError */
function thresholdOf({ threshold }: Json): number | undefined {
  // Promptfoo treats 0 as none.
  if (threshold === undefined || threshold === null || threshold === 0) return undefined;
  if (typeof threshold !== 'number' || !(threshold > 0 && threshold <= 1))
    throw new TemplateError('its threshold is not between 0 and 1');
  return threshold;
}

function nameEvaluators(evaluators: Json[], metrics: (string | undefined)[]): Json[] {
  const used = new Set<string>();
  return evaluators.map((evaluator, index) => {
    const base = (metrics[index] ?? shown(evaluator['type'])).replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60) || 'metric';
    let name = base;
    for (let number = 2; used.has(name); number += 1) name = `${base}-${number}`;
    used.add(name);
    return { ...evaluator, name };
  });
}

/** Converts to an evaluator that does not use the example's expected value. */
function byItself({ evaluator, expected, option }: CompiledAssert): Json {
  if (expected === undefined) return evaluator;
  return { ...evaluator, ...(option === 'values' ? { values: [expected.value] } : { value: expected.value }) };
}

/**
 * Converts a test, including the defaults of all tests, to examples and their evaluators.
 * @throws TemplateError if it can't be imported
 */
export function compileTest(prepared: PreparedTest, settings: CompileSettings, notes: NoteAsserts): CompiledTest[] {
  requireSimple(prepared);
  const { test, options, asserts } = prepared;
  const threshold = thresholdOf(test);
  const description = textOf(test['description']);
  const metadata = { ...prepared.metadata, ...(description && { description }) };
  const base = {
    ...settings,
    gradingProvider: options['provider'],
    transforms: transformsOf(prepared, settings),
    countsScores: threshold !== undefined,
  };
  return combinations(prepared.vars).map((given) => {
    const variables = resolved(given);
    const compiled: { taken: CompiledAssert; assert: Json; type: string }[] = [];
    for (const { assert, fault } of asserts) {
      const type = textOf(assert['type']) ?? 'none';
      try {
        if (fault !== undefined) throw new TemplateError(fault);
        compiled.push({ taken: compileAssert(assert, { ...base, variables }), assert, type });
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        notes.leftOut(type, error.message);
      }
    }
    const example: RawExample = { input: variables, metadata };
    // Only one assert can use the example's expected value: the one that requires it, otherwise the first with a text.
    const chosen =
      compiled.find(({ taken }) => taken.expected?.isRequired) ?? compiled.find(({ taken }) => taken.expected);
    if (chosen?.taken.expected !== undefined) example.expected = chosen.taken.expected.value;
    const evaluators: Json[] = [];
    const metrics: (string | undefined)[] = [];
    for (const one of compiled) {
      if (one.taken.expected?.isRequired === true && one !== chosen)
        notes.leftOut(one.type, 'an example expects one value, which another assert already sets');
      else if (evaluators.length === MAX_EVALUATORS)
        notes.leftOut(one.type, `an evaluation has at most ${MAX_EVALUATORS} evaluators`);
      else {
        evaluators.push(one === chosen ? one.taken.evaluator : byItself(one.taken));
        metrics.push(textOf(one.assert['metric']));
        notes.taken(one.type, one.taken.notes);
      }
    }
    const leftOut = asserts.length - evaluators.length;
    return { example, evaluators: nameEvaluators(evaluators, metrics), threshold, leftOut };
  });
}
