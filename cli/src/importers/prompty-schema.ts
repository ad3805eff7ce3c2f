import { isObject, type Json, listOf, objectOf, textOf } from '../json.ts';

/** A property of Prompty, from a list of named ones or from an object. */
export interface PromptyProperty {
  name: string;
  /** `{kind, description, …}`. */
  given: Json;
}

const TYPES: Record<string, string> = {
  string: 'string',
  integer: 'integer',
  float: 'number',
  number: 'number',
  boolean: 'boolean',
  array: 'array',
  object: 'object',
};

/** Properties in v1 or v2 syntax: a bare value is a default. */
export function propertiesOf(value: unknown): PromptyProperty[] {
  if (Array.isArray(value)) return value.map(objectOf).map((given) => ({ name: textOf(given['name']) ?? '', given }));
  return Object.entries(objectOf(value)).map(([name, one]) => {
    const isProperty = isObject(one) && ['kind', 'type', 'default', 'sample', 'description'].some((key) => key in one);
    return { name, given: isProperty ? one : { default: one } };
  });
}

export const kindOf = ({ kind, type }: Json): string | undefined => textOf(kind) ?? textOf(type);

function schemaOfProperty(given: Json, strict: boolean): Json {
  const kind = kindOf(given);
  const type = kind !== undefined && Object.hasOwn(TYPES, kind) ? TYPES[kind] : undefined;
  const { description, items, properties } = given;
  const values = listOf(given['enumValues'] ?? given['enum']);
  return {
    ...(type !== undefined && { type: strict && given['required'] !== true ? [type, 'null'] : type }),
    ...(textOf(description) !== undefined && { description }),
    ...(values.length > 0 && { enum: values }),
    ...(type === 'array' && items !== undefined && { items: schemaOfProperty(objectOf(items), false) }),
    ...(type === 'object' && properties !== undefined && schemaOfProperties(propertiesOf(properties), strict)),
  };
}

/**
 * Converts properties to a JSON schema.
 * @param strict for OpenAI: all are required, and optional ones are nullable
 */
export function schemaOfProperties(properties: PromptyProperty[], strict: boolean): Json {
  const required = properties.filter(({ given }) => strict || given['required'] === true).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(({ name, given }) => [name, schemaOfProperty(given, strict)])),
    ...(required.length > 0 && { required }),
    ...(strict && { additionalProperties: false }),
  };
}
