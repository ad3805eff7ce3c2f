import { isObject, type Json, listOf, objectOf, shown, textOf } from '../../json.ts';
import type { RawExample } from '../examples.ts';
import { TemplateError } from '../template-text.ts';
import { type CompiledAssert, compileAssert } from './asserts.ts';

const MAX_EVALUATORS = 10;
/** Tests that one test with lists of values becomes. */
const MAX_COMBINATIONS = 10_000;

/** A test as an example, and what scores it. */
export interface CompiledTest {
  example: RawExample;
  evaluators: Json[];
  /** Asserts that are left out. */
  leftOut: number;
}

/** Is told what an assert comes to: nothing where it is taken as it is. */
export interface NoteAsserts {
  taken(type: string, notes: string[]): void;
  leftOut(type: string, why: string): void;
}

/** All combinations of the values of variables that are lists. @throws TemplateError */
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

function requirePlain(vars: Json): void {
  for (const [name, value] of Object.entries(vars))
    for (const text of Array.isArray(value) ? value : [value]) {
      if (typeof text !== 'string') continue;
      if (/^(?:file|package|https?):/.test(text) && text.startsWith('file:'))
        throw new TemplateError(`the variable "${name}" is in a file`);
      if (/\{\{|\{%/.test(text)) throw new TemplateError(`the variable "${name}" is a template itself`);
    }
}

/** What makes a test something else than variables and asserts. @throws TemplateError */
function requireSimple(test: Json, options: Json): void {
  if (test['vars'] !== undefined && !isObject(test['vars'])) throw new TemplateError('its variables are in a file');
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
    if (test[field] !== undefined) throw new TemplateError(`it has "${field}", which is for this test alone`);
  for (const field of ['transform', 'postprocess', 'transformVars', 'prefix', 'suffix'])
    if (options[field] !== undefined)
      throw new TemplateError(`it has options.${field}, which changes what is scored or sent`);
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

/**
 * A test with what all tests have, as examples and their evaluators.
 * @throws TemplateError where it can't come over
 */
export function compileTest(test: Json, defaults: Json, notes: NoteAsserts): CompiledTest[] {
  const options = { ...objectOf(defaults['options']), ...objectOf(test['options']) };
  requireSimple(test, options);
  const vars = { ...objectOf(defaults['vars']), ...objectOf(test['vars']) };
  requirePlain(vars);
  // The test's own come first, so that what it expects is theirs.
  const asserts = [...listOf(test['assert']), ...listOf(defaults['assert'])].map(objectOf);
  const description = textOf(test['description']);
  const metadata = {
    ...objectOf(defaults['metadata']),
    ...objectOf(test['metadata']),
    ...(description && { description }),
  };
  return combinations(vars).map((variables) => {
    const compiled: { taken: CompiledAssert; assert: Json; type: string }[] = [];
    for (const assert of asserts) {
      const type = textOf(assert['type']) ?? 'none';
      try {
        compiled.push({
          taken: compileAssert(assert, { variables, gradingProvider: options['provider'] }),
          assert,
          type,
        });
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        notes.leftOut(type, error.message);
      }
    }
    const example: RawExample = { input: variables, metadata };
    // One assert can be about the example's expected value: one that has no other way, else the first that has a text.
    const chosen =
      compiled.find(({ taken }) => taken.expected?.isRequired) ?? compiled.find(({ taken }) => taken.expected);
    if (chosen?.taken.expected !== undefined) example.expected = chosen.taken.expected.value;
    const evaluators: Json[] = [];
    const metrics: (string | undefined)[] = [];
    for (const one of compiled) {
      const { expected, evaluator } = one.taken;
      if (expected?.isRequired === true && one !== chosen)
        notes.leftOut(one.type, 'an example expects one value, and another assert has it');
      else if (evaluators.length === MAX_EVALUATORS)
        notes.leftOut(one.type, `an evaluation has at most ${MAX_EVALUATORS} evaluators`);
      else {
        evaluators.push(expected === undefined || one === chosen ? evaluator : { ...evaluator, value: expected.value });
        metrics.push(textOf(one.assert['metric']));
        notes.taken(one.type, one.taken.notes);
      }
    }
    return { example, evaluators: nameEvaluators(evaluators, metrics), leftOut: asserts.length - evaluators.length };
  });
}
