import { z } from 'zod';

// The fields that a key without `read` sees in the response of a change: those marked as shown. Unmarked fields are hidden.

interface Mark {
  shown?: true;
  /** The field's replacement, if its type does not determine it. */
  instead?: unknown;
  /** The object's hidden fields, in the order for the document. Default: schema order. */
  listed?: readonly string[];
}

/** Separate from `.meta()`, which ends up in the document. */
const marks = z.registry<Mark>();

/** Marks a copy, because the schema may be used for other fields, too. */
function marked<Schema extends z.ZodType>(schema: Schema, mark: Mark): Schema {
  const { id, ...meta } = schema.meta() ?? {};
  const copy = schema.clone(undefined, { parent: true });
  // Keeps a field-specific description next to the reference to its component.
  if (id === undefined && schema._zod.parent !== undefined) {
    copy._zod.parent = schema._zod.parent;
    z.globalRegistry.add(copy, meta);
  }
  marks.add(copy, mark);
  return copy;
}

/** Marks a field that keys without `read` see, including everything in it except hidden fields of marked objects. */
export const shown = <Schema extends z.ZodType>(schema: Schema): Schema => marked(schema, { shown: true });

/** Sets the replacement of a hidden field for keys without `read`. Default: null or empty, according to its type. */
export const unread = <Schema extends z.ZodType>(schema: Schema, instead: z.input<Schema>): Schema =>
  marked(schema, { instead });

/** Sets the order in which the document lists an object's hidden fields. */
export function hiding<Schema extends z.ZodObject>(
  schema: Schema,
  listed: readonly (keyof z.input<Schema> & string)[],
): Schema {
  marks.add(schema, { listed });
  return schema;
}

/** Unwraps optional and nullable schemas. */
const inside = (schema: unknown): unknown =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? inside(schema.unwrap()) : schema;

/** The fields of an object, or of a union of objects. */
function fieldsOf(schema: unknown): [name: string, schema: z.ZodType][] {
  const own = inside(schema);
  if (own instanceof z.ZodObject) return Object.entries<z.ZodType>(own.shape);
  return own instanceof z.ZodUnion ? own.options.flatMap(fieldsOf) : [];
}

const isShown = (field: z.ZodType) => marks.get(field)?.shown === true;

/** The empty value of a type; undefined if there is none. */
function emptyOf(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional) return emptyOf(schema.unwrap());
  if (schema instanceof z.ZodNullable) return null;
  if (schema instanceof z.ZodArray) return [];
  if (schema instanceof z.ZodString) return '';
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return {};
  if (schema instanceof z.ZodPipe) return emptyOf(schema.out);
  return schema instanceof z.ZodUnion ? schema.options.map(emptyOf).find((empty) => empty !== undefined) : undefined;
}

/** An operation's response, and the fields that it shows or hides despite the marks. */
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
 * Fields of a response hidden from keys without `read`, with their replacements.
 * @throws Error if a replacement is unknown, or the operation names a field that does not exist
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

/** Filters a response for a key without `read`. Fields that its schema does not name are dropped. */
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

/** Inside a shown field, unmarked objects are shown unchanged. */
function hideMarked(schema: unknown, value: unknown, route: Hiding): unknown {
  const own = inside(schema);
  const isMarked = own instanceof z.ZodArray || fieldsOf(own).some(([, field]) => isShown(field));
  return isMarked ? hideIn(own, value, route) : value;
}
