import { createHash } from 'node:crypto';
import { z } from 'zod';
import { createSchema } from 'zod-openapi';
import { ApiError } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { clipPath } from '../../domain/text/schema-details.ts';
import { describe } from '../../http/json-body.ts';
import { withoutNoise } from '../../http/openapi.ts';
import type { Route } from '../../http/route.ts';
import { isList } from '../../http/run-route.ts';
import { asText, type JsonObject, type ToolSpec } from './tool.ts';

export const DEFAULT_PAGE = 20;
const MAX_PAGE = 100;
const MAX_UNKNOWN = 5;
const DEFS = '#/$defs/';

/** The part of JSON Schema that is inspected here. */
const ObjectSchema = z.looseObject({
  properties: z.record(z.string(), z.looseObject({})).default({}),
  required: z.array(z.string()).default([]),
});
const Reference = z.object({ $ref: z.string() });
const Components = z.record(z.string(), z.looseObject({}));

/** The part of the request that gets an argument. */
type Place = 'params' | 'query' | 'body';

/** A tool's arguments, sorted into the parts of its operation's request. */
export interface RoutedInput {
  params: Record<string, string>;
  query: Record<string, string | string[]>;
  body: JsonObject;
  headers: Record<string, string>;
  /** A part of the result, and the offset in it. */
  part: { pointer: string; from: number } | undefined;
  /** Identifies a repeated call. */
  hash: Buffer;
}

export interface ToolInput {
  /** For `tools/list`: a JSON Schema of the arguments. */
  schema: JsonObject & { type: 'object' };
  /** The operation's schemas check the arguments later; unknown ones are left for them to reject. */
  route(given: JsonObject): RoutedInput;
}

const PART: Record<string, JsonObject> = {
  part: {
    type: 'string',
    description:
      'A JSON pointer, as cut has it (/data/0/output): returns only that part of the result, and more of it.',
  },
  part_from: { type: 'integer', minimum: 0, description: 'With part: the character, item or field to begin with.' },
};
const IDEMPOTENCY_KEY: JsonObject = {
  type: 'string',
  maxLength: 255,
  description:
    'A text of your own for this one change: with the same one, a repeated call does nothing and gives the first result.',
};

function schemaOf(schema: z.ZodType, form: number | undefined, defs: Record<string, JsonObject>) {
  const chosen = form !== undefined && schema instanceof z.ZodUnion ? (schema.options[form] as z.ZodType) : schema;
  const result = createSchema(chosen, { io: 'input', schemaRefPath: DEFS, opts: { override: withoutNoise } });
  const components = Components.parse(result.components) as Record<string, JsonObject>;
  Object.assign(defs, components);
  const { schema: own } = result;
  const reference = Reference.safeParse(own);
  return ObjectSchema.parse(reference.success ? components[reference.data.$ref.slice(DEFS.length)] : own);
}

/** The definitions that a schema refers to, recursively. */
function usedDefs(schema: unknown, defs: Record<string, JsonObject>): Record<string, JsonObject> {
  const used: Record<string, JsonObject> = {};
  const waiting: unknown[] = [schema];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const [, name = ''] of JSON.stringify(at).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)) {
      const found = defs[name];
      if (found === undefined || name in used) continue;
      used[name] = found;
      waiting.push(found);
    }
  }
  return used;
}

const clash = ({ name }: ToolSpec, argument: string) => new Error(`${name}: two arguments are called ${argument}.`);

/** @throws Error if two parts of the request have an argument of the same name: the table of tools is wrong */
export function toolInput(spec: ToolSpec, route: Route): ToolInput {
  const defs: Record<string, JsonObject> = {};
  const places = new Map<string, Place>();
  const properties: Record<string, JsonObject> = {};
  const required: string[] = [];
  const omitted = new Set(spec.omit);
  const add = (place: Place, schema: z.ZodType | undefined, form?: number) => {
    if (schema === undefined) return;
    const found = schemaOf(schema, form, defs);
    for (const [name, property] of Object.entries(found.properties)) {
      if (places.has(name)) throw clash(spec, name);
      places.set(name, place);
      if (!omitted.has(name)) properties[name] = spec.brief?.[name] ?? (property as JsonObject);
    }
    required.push(...found.required.filter((name) => !omitted.has(name)));
  };
  add('params', route.params);
  add('query', route.query);
  if (route.body !== 'stream') add('body', route.body, spec.form);
  if (isList(route))
    properties['limit'] = {
      type: 'integer',
      minimum: 1,
      maximum: MAX_PAGE,
      default: DEFAULT_PAGE,
      description: 'The maximum number. If they are too large together, fewer are returned; next_cursor leads on.',
    };
  const own = {
    ...spec.own,
    ...(spec.hints.readOnly && route.method === 'get' && PART),
    ...(route.idempotent && { idempotency_key: IDEMPOTENCY_KEY }),
  };
  for (const name of Object.keys(own)) if (places.has(name)) throw clash(spec, name);
  Object.assign(properties, own);
  const used = usedDefs(properties, defs);
  const repeatable = new Set(route.repeatable);

  return {
    schema: {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      ...(Object.keys(used).length > 0 && { $defs: used }),
    },
    route(given) {
      refuseUnknown(given, properties);
      const { part, part_from: from, idempotency_key: idempotencyKey, ...present } = withoutAbsent(given);
      const nulls = Object.entries(given).filter(([name, value]) => value === null && places.get(name) === 'body');
      const operands = Object.entries(spec.translate?.(present) ?? present).filter(([name]) => places.has(name));
      const sorted: RoutedInput = {
        params: {},
        query: isList(route) ? { limit: String(DEFAULT_PAGE) } : {},
        body: Object.fromEntries(nulls),
        headers: {
          ...spec.headers?.(present),
          ...(idempotencyKey !== undefined && { 'idempotency-key': asText(idempotencyKey) }),
        },
        part: part === undefined ? undefined : { pointer: asText(part), from: beginningOf(from) },
        hash: createHash('sha256').update(`tool ${route.operationId}\n`).update(JSON.stringify(present)).digest(),
      };
      for (const [name, value] of operands) {
        const place = places.get(name);
        if (place === 'body') sorted.body[name] = value;
        else if (place === 'params') sorted.params[name] = asText(value);
        else sorted.query[name] = repeatable.has(name) && Array.isArray(value) ? value.map(asText) : asText(value);
      }
      if (isList(route)) sorted.query['limit'] = String(Math.min(Number(sorted.query['limit']), MAX_PAGE));
      return sorted;
    },
  };
}

/** @throws ApiError `invalid_request` naming unknown arguments and the accepted ones */
function refuseUnknown(given: JsonObject, known: JsonObject): void {
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length === 0) return;
  const details = unknown.slice(0, MAX_UNKNOWN).map((name) => ({
    path: clipPath(name),
    message: `is not an argument of this tool: it accepts ${Object.keys(known).join(', ') || 'none'}`,
  }));
  throw new ApiError('invalid_request', describe(details), { details });
}

/** Anything other than a whole number from 0 means the beginning. */
const beginningOf = (from: JsonValue | undefined): number =>
  typeof from === 'number' ? Math.max(0, Math.floor(from)) : Number(/^\d{1,15}$/.exec(asText(from ?? 0))?.[0] ?? 0);

/** Models send null for omitted arguments. */
const withoutAbsent = (given: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
