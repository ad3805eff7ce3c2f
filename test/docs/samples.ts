import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { PROJECT } from '../support/processes.ts';

const { components } = JSON.parse(readFileSync(path.join(PROJECT, 'openapi.json'), 'utf8'));

/** A schema for excerpts: nothing is required, and only named properties are allowed. */
function ofExcerpts(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(ofExcerpts);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { required, ...rest } = schema as Record<string, unknown>;
  const kept = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, ofExcerpts(value)]));
  // A property can be called `required`.
  if (required !== undefined && !Array.isArray(required)) kept['required'] = ofExcerpts(required);
  const isClosed = kept['properties'] !== undefined && kept['additionalProperties'] === undefined;
  return isClosed ? { ...kept, additionalProperties: false } : kept;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'api', components: ofExcerpts(components) });

/**
 * Checks a JSON excerpt against its schema in the API. `…` stands for omitted parts.
 * @param name of the schema in `openapi.json`
 */
export function expectExcerpt(code: string, name: string): void {
  const value = JSON.parse(code.replaceAll(/,\s*…/g, ''));
  const validate = ajv.compile({ $ref: `api#/components/schemas/${name}` });
  expect({ isValid: validate(value), value, errors: validate.errors }).toEqual({ isValid: true, value, errors: null });
}
