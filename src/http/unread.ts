import { z } from 'zod';

// What a key without `read` sees of the response of a change: the fields that are marked as shown. A field without a mark is hidden.

interface Mark {
  shown?: true;
  /** What stands in the field's place, where its type does not say it. */
  instead?: unknown;
  /** Of an object: its hidden fields, as the document lists them. Default: as the schema does. */
  listed?: readonly string[];
}

/** Apart from `.meta()`, which ends up in the document. */
const marks = z.registry<Mark>();

/** Of a copy: the same schema may stand for other fields, too. */
function marked<Schema extends z.ZodType>(schema: Schema, mark: Mark): Schema {
  const { id, ...meta } = schema.meta() ?? {};
  const copy = schema.clone(undefined, { parent: true });
  // What describes a component for one field stays next to the reference to it.
  if (id === undefined && schema._zod.parent !== undefined) {
    copy._zod.parent = schema._zod.parent;
    z.globalRegistry.add(copy, meta);
  }
  marks.add(copy, mark);
  return copy;
}

/** Marks a field that keys without `read` see, with all that is in it but for hidden fields of objects that have marks of their own. */
export const shown = <Schema extends z.ZodType>(schema: Schema): Schema => marked(schema, { shown: true });

/** Says what keys without `read` see in place of a hidden field. Default: null or empty, as its type allows. */
export const unread = <Schema extends z.ZodType>(schema: Schema, instead: z.input<Schema>): Schema =>
  marked(schema, { instead });

/** An object whose hidden fields the document lists in this order. */
export function hiding<Schema extends z.ZodObject>(
  schema: Schema,
  listed: readonly (keyof z.input<Schema> & string)[],
): Schema {
  marks.add(schema, { listed });
  return schema;
}

/** What a schema is about, be it optional or nullable. */
const inside = (schema: unknown): unknown =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? inside(schema.unwrap()) : schema;

/** Fields of an object, or of one object or another. */
function fieldsOf(schema: unknown): [name: string, schema: z.ZodType][] {
  const own = inside(schema);
  if (own instanceof z.ZodObject) return Object.entries<z.ZodType>(own.shape);
  return own instanceof z.ZodUnion ? own.options.flatMap(fieldsOf) : [];
}

const isShown = (field: z.ZodType) => marks.get(field)?.shown === true;

/** The empty value of a type; undefined: there is none. */
function emptyOf(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional) return emptyOf(schema.unwrap());
  if (schema instanceof z.ZodNullable) return null;
  if (schema instanceof z.ZodArray) return [];
  if (schema instanceof z.ZodString) return '';
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return {};
  if (schema instanceof z.ZodPipe) return emptyOf(schema.out);
  return schema instanceof z.ZodUnion ? schema.options.map(emptyOf).find((empty) => empty !== undefined) : undefined;
}

/** An operation's response, and what it shows and hides in spite of the marks. */
export interface Hiding {
  response: z.ZodType;
  shows?: readonly string[];
  hides?: readonly string[];
}

function hiddenOf(schema: unknown, { shows = [], hides = [] }: Hiding): Map<string, unknown> {
  const hidden = fieldsOf(schema).filter(
    ([name, field]) => hides.includes(name) || !(isShown(field) || shows.includes(name)),
  );
  return new Map(hidden.map(([name, field]) => [name, marks.get(field)?.instead ?? emptyOf(field)]));
}

/**
 * Fields of a response that are hidden from keys without `read`, and what stands in their place.
 * @throws Error where it can't be said what stands there, or the operation names a field that is none
 */
export function hiddenFields(route: Hiding): Record<string, unknown> {
  const { response, shows = [], hides = [] } = route;
  const hidden = hiddenOf(response, route);
  const names = new Set(fieldsOf(response).map(([name]) => name));
  const unknown = [...shows, ...hides].find((name) => !names.has(name));
  if (unknown !== undefined) throw new Error(`The response has no field ${unknown}.`);
  for (const [name, instead] of hidden)
    if (instead === undefined) throw new Error(`Mark the field ${name} of the response with shown() or unread().`);
  const listed = (response instanceof z.ZodObject && marks.get(response)?.listed) || [];
  const order = [...listed, ...hidden.keys()].filter((name) => hidden.has(name));
  return Object.fromEntries(order.map((name) => [name, hidden.get(name)]));
}

/** A response as a key without `read` may see it. What its schema does not name is left out. */
export const hideStored = (route: Hiding, response: unknown): unknown => hideIn(route.response, response, route);

function hideIn(schema: unknown, value: unknown, route: Hiding): unknown {
  const own = inside(schema);
  if (own instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => hideMarked(own.element, item, route));
  if (typeof value !== 'object' || value === null) return value;
  const fields = new Map(fieldsOf(own));
  const hidden = hiddenOf(own, route);
  const known = Object.entries(value).filter(([name]) => fields.has(name) && !hidden.has(name));
  return {
    ...Object.fromEntries(known.map(([name, field]) => [name, hideMarked(fields.get(name), field, route)])),
    ...Object.fromEntries(hidden),
  };
}

/** Inside of a field that is shown, objects without any mark are shown as they are. */
function hideMarked(schema: unknown, value: unknown, route: Hiding): unknown {
  const own = inside(schema);
  const isMarked = own instanceof z.ZodArray || fieldsOf(own).some(([, field]) => isShown(field));
  return isMarked ? hideIn(own, value, route) : value;
}
