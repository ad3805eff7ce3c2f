import { isObject, type Json, objectOf, shown } from '../json.ts';
import { TemplateError } from './template-text.ts';

const SCALARS = new Set(['any', 'boolean', 'integer', 'null', 'number', 'string']);

/** `string, what it is`: a type and a description. */
function split(text: string): { type: string; description: string | undefined } {
  const [, type = text, description] = /^([^,]*?)\s*,\s*([\s\S]*)$/.exec(text) ?? [];
  return { type: type.trim(), description: description === '' ? undefined : description };
}

function described(schema: Json, description: string | undefined): Json {
  return description === undefined ? schema : { ...schema, description };
}

function scalar(text: string): Json {
  const { type, description } = split(text);
  if (!SCALARS.has(type)) throw new TemplateError(`it names the schema "${type}", which is not in the file`);
  return described(type === 'any' ? {} : { type }, description);
}

function orNull(schema: Json): Json {
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return { ...schema, enum: values.includes(null) ? values : [...values, null] };
  return typeof type === 'string' ? { ...schema, type: [type, 'null'] } : schema;
}

function property(kind: string | undefined, value: unknown): Json {
  if (kind === undefined) return schemaOf(value);
  const { type, description } = split(kind);
  if (type === 'array') return described({ type: 'array', items: schemaOf(value) }, description);
  if (type === 'object') return described(schemaOf(value), description);
  if (type === 'enum') return described({ enum: value }, description);
  throw new TemplateError(`a field of a schema has the unsupported kind "${type}"`);
}

/** A schema inside Picoschema: a type, or fields with their types. */
function schemaOf(value: unknown): Json {
  if (typeof value === 'string') return scalar(value);
  if (!isObject(value)) throw new TemplateError(`a schema has ${shown(value)} for a type`);
  const properties: Json = {};
  const required: string[] = [];
  let additionalProperties: unknown = false;
  for (const [key, field] of Object.entries(value)) {
    if (key === '(*)') {
      additionalProperties = schemaOf(field);
      continue;
    }
    const [, before = key, kind] = /^([^(]*)\((.*)\)$/.exec(key) ?? [];
    const isOptional = before.endsWith('?');
    const name = isOptional ? before.slice(0, -1) : before;
    const schema = property(kind, field);
    properties[name] = isOptional ? orNull(schema) : schema;
    if (!isOptional) required.push(name);
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties };
}

/**
 * Converts a dotprompt schema to a JSON schema, which it may already be.
 * @throws TemplateError if it refers to a schema elsewhere
 */
export function readPicoschema(schema: unknown): Json {
  const given = objectOf(schema);
  const { type } = given;
  if (typeof type === 'string' && (SCALARS.has(type) || type === 'object' || type === 'array')) return given;
  if (isObject(given['properties'])) return { ...given, type: 'object' };
  return schemaOf(schema);
}
