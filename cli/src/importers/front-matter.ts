import { isObject, type Json } from '../json.ts';
import { ImportError } from './model.ts';
import { parseYaml } from './source-files.ts';

/** Enclosed in lines of three dashes; comments and empty lines may precede it. */
const FRONT_MATTER = /^\uFEFF?((?:(?:#[^\n]*|[ \t]*)\r?\n)*---[ \t]*\r?\n)(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/;

/** A file that starts with settings in YAML. */
export interface FrontMatter {
  settings: Json;
  /** The content after the settings. */
  body: string;
}

/**
 * Splits a file; undefined if it has no front matter.
 * @throws ImportError naming the line, if that is not a YAML mapping
 */
export function splitFrontMatter(text: string, file: string): FrontMatter | undefined {
  const match = FRONT_MATTER.exec(text);
  if (match === null) return undefined;
  const [whole, opening = '', yaml = ''] = match;
  const firstLine = opening.split('\n').length;
  const settings = parseYaml(yaml, file, { firstLine }) ?? {};
  if (!isObject(settings)) throw new ImportError(`${file}:${firstLine}: the front matter is not a mapping`);
  return { settings, body: text.slice(whole.length) };
}
