import { readFile, stat } from 'node:fs/promises';
import { isObject, type Json, listOf, objectOf, textOf } from '../../json.ts';
import { fileInside, readData, readText, type SourceFile } from '../source-files.ts';
import { TemplateError } from '../template-text.ts';
import { codeFileOf, isCode } from './scorer.ts';

const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_MEDIA_BYTES = 700_000;
const MEDIA = /\.(?:bmp|gif|jpe?g|png|svg|webp|mp3|wav|ogg|m4a|flac|mp4|mov|webm)$/i;
const DATA = /\.(?:ya?ml|json)$/i;

/** A test with the defaults of all tests, and with the content of its files. */
export interface PreparedTest {
  test: Json;
  options: Json;
  vars: Json;
  asserts: PreparedAssert[];
  metadata: Json;
}

/** An assert, or why it can't be read. */
export interface PreparedAssert {
  assert: Json;
  fault?: string;
}

/** The context for preparing tests. */
export interface TestSettings {
  /** The defaults of all tests. */
  defaults: Json;
  /** Named asserts that others refer to. */
  templates: Json;
  /** The folder of the configuration. */
  folder: string;
}

const isFile = (value: unknown): value is string => typeof value === 'string' && value.startsWith('file://');

async function requireFile(named: string, folder: string): Promise<SourceFile> {
  const file = await fileInside(folder, named.replace(/^file:\/\//, ''));
  if (file === undefined) throw new TemplateError(`there is no file "${named}" in the folder of the configuration`);
  return file;
}

/** The value of a variable in a file. @throws TemplateError */
async function valueIn(named: string, variable: string, folder: string): Promise<string> {
  if (/\.(?:[cm]?[jt]s|py|pdf)$/i.test(named))
    throw new TemplateError(`the variable "${variable}" is made by a program`);
  if (named.includes('*')) throw new TemplateError(`the variable "${variable}" is a pattern of file names`);
  const file = await requireFile(named, folder);
  if (MEDIA.test(named)) {
    if ((await stat(file.path)).size > MAX_MEDIA_BYTES)
      throw new TemplateError(`the variable "${variable}" is in a file that is too large for an example`);
    return (await readFile(file.path)).toString('base64');
  }
  if (/\.ya?ml$/i.test(named)) return JSON.stringify(await readData(file));
  return (await readText(file, MAX_TEXT_BYTES)).trim();
}

/** Variables, with the content of the files that they name. @throws TemplateError */
async function readVars(vars: unknown, folder: string): Promise<Json> {
  if (vars === undefined || isObject(vars)) {
    // Fast path: most name no file, and there may be millions of tests.
    if (!Object.values(vars ?? {}).some((value) => [value].flat().some(isFile))) return vars ?? {};
    const read: Json = {};
    for (const [name, value] of Object.entries(vars ?? {})) {
      const one = (item: unknown) => (isFile(item) ? valueIn(item, name, folder) : item);
      read[name] = Array.isArray(value) ? await Promise.all(value.map(one)) : await one(value);
    }
    return read;
  }
  const files = (Array.isArray(vars) ? vars : [vars]).map((named) => textOf(named) ?? '');
  const all: Json = {};
  for (const named of files) {
    if (!DATA.test(named)) throw new TemplateError('its variables are in a file that is not YAML or JSON');
    Object.assign(all, objectOf(await readData(await requireFile(named, folder))));
  }
  return readVars(all, folder);
}

async function readAssert(given: unknown, { templates, folder }: TestSettings): Promise<PreparedAssert> {
  const reference = isObject(given) ? textOf(given['$ref']) : undefined;
  const assert = objectOf(reference === undefined ? given : templates[reference.split('/').at(-1) ?? '']);
  const type = (textOf(assert['type']) ?? '').replace(/^not-/, '');
  try {
    for (const field of ['value', 'transform']) {
      const file = codeFileOf(assert[field]);
      if (file !== undefined) await requireFile(file.file, folder);
      else if (isFile(assert[field]) && !isCode(type)) {
        if (field === 'transform') throw new TemplateError('its transform is not a file with code');
        const found = await requireFile(assert[field], folder);
        const value = DATA.test(found.name) ? await readData(found) : (await readText(found, MAX_TEXT_BYTES)).trim();
        return { assert: { ...assert, value } };
      }
    }
    return { assert };
  } catch (error) {
    if (error instanceof TemplateError) return { assert, fault: error.message };
    throw error;
  }
}

async function readAsserts(asserts: unknown[], settings: TestSettings): Promise<PreparedAssert[]> {
  const isPlain = (assert: unknown) =>
    isObject(assert) && assert['$ref'] === undefined && !isFile(assert['value']) && !isFile(assert['transform']);
  if (asserts.every(isPlain)) return asserts.map((assert) => ({ assert: objectOf(assert) }));
  return Promise.all(asserts.map((assert) => readAssert(assert, settings)));
}

/** @throws TemplateError if a variable can't be read, ImportError if a file is broken */
export async function prepareTest(test: Json, settings: TestSettings): Promise<PreparedTest> {
  const { defaults, folder } = settings;
  // The test's own asserts come first, so that they take the expected value.
  const own = [...listOf(test['assert']), ...listOf(defaults['assert'])];
  const options = { ...objectOf(defaults['options']), ...objectOf(test['options']) };
  const transform = codeFileOf(options['transform'] ?? options['postprocess']);
  if (transform !== undefined) await requireFile(transform.file, folder);
  return {
    test: { ...(defaults['threshold'] !== undefined && { threshold: defaults['threshold'] }), ...test },
    options,
    vars: { ...(await readVars(defaults['vars'], folder)), ...(await readVars(test['vars'], folder)) },
    asserts: await readAsserts(own, settings),
    metadata: { ...objectOf(defaults['metadata']), ...objectOf(test['metadata']) },
  };
}
