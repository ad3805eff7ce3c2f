// The subset of JSON Schema for Anthropic's structured outputs. The service uses the same rules.

type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'];
/** Supported keywords. */
const KEPT = [
  '$schema',
  '$id',
  'title',
  'description',
  'default',
  'const',
  'enum',
  'type',
  'required',
  'properties',
  'items',
];
/** Moved to the description, in this order. */
const SAID =
  `minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems
  minProperties maxProperties not`.split(/\s+/);
const MAX_OPTIONAL = 10;

const mapped = (schemas: Schema): Schema =>
  Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, adapted(each)]));

function adapted(value: unknown): unknown {
  return isSchema(value) ? adaptedSchema(value) : value;
}

/** Adapts a schema for Anthropic: unsupported limits move to the description, and objects are closed. */
export function adaptedSchema(schema: Schema): Schema {
  const definitions: Schema = {};
  for (const name of ['definitions', '$defs']) if (isSchema(schema[name])) definitions[name] = mapped(schema[name]);
  if (schema['$ref'] != null) return { $ref: schema['$ref'], ...definitions };
  const result: Schema = { ...definitions };
  const isObject = schema['type'] === 'object' || schema['properties'] != null;
  for (const name of KEPT) {
    const value = schema[name];
    if (value == null && !(name === 'default' || name === 'const')) continue;
    if (value === undefined) continue;
    if (name === 'properties') result[name] = isSchema(value) ? mapped(value) : value;
    else if (name === 'items') result[name] = Array.isArray(value) ? value.map(adapted) : adapted(value);
    else if (name !== 'required' || isObject) result[name] = value;
  }
  if (isObject) result['additionalProperties'] = false;
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) result['anyOf'] = choices.map(adapted);
  if (Array.isArray(schema['allOf'])) result['allOf'] = schema['allOf'].map(adapted);
  const { format } = schema;
  if (typeof format === 'string' && FORMATS.includes(format)) result['format'] = format;
  const said = SAID.filter((name) => schema[name] != null && schema[name] !== false).map((name) => {
    const value = schema[name];
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return `${words}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  if (typeof format === 'string' && !FORMATS.includes(format)) said.push(`format: ${format}`);
  if (said.length > 0)
    result['description'] = [
      ...(typeof schema['description'] === 'string' ? [schema['description']] : []),
      `${said.join('; ')}.`,
    ].join('\n');
  return result;
}

const SCHEMAS = ['additionalProperties', 'contains', 'else', 'if', 'items', 'not', 'then'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['dependentSchemas', 'patternProperties', 'properties'];

/** The direct subschemas. */
function inside(schema: Schema): Schema[] {
  const found = [
    ...SCHEMAS.flatMap((name) => schema[name]),
    ...LISTS.flatMap((name) => (Array.isArray(schema[name]) ? schema[name] : [])),
    ...MAPS.flatMap((name) => (isSchema(schema[name]) ? Object.values(schema[name]) : [])),
  ];
  return found.filter(isSchema);
}

function resolved(root: Schema, pointer: string): unknown {
  let at: unknown = root;
  for (const segment of pointer.split('/').slice(1)) {
    const name = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    at = Array.isArray(at) ? at[Number(name)] : isSchema(at) ? at[name] : undefined;
  }
  return at;
}

function isOpen({ type, properties, patternProperties, additionalProperties }: Schema): boolean {
  if (additionalProperties === true || isSchema(additionalProperties)) return true;
  if (isSchema(patternProperties) && Object.keys(patternProperties).length > 0) return true;
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  return isObject && properties == null && additionalProperties !== false;
}

/** Whether structured outputs support a schema: not if it is recursive, or has open objects or many optional fields. */
export function isStructured(root: Schema): boolean {
  let optional = 0;
  const visit = (schema: Schema, open: readonly string[]): boolean => {
    if (isOpen(schema)) return false;
    const { properties, required, $ref } = schema;
    const needed = Array.isArray(required) ? required : [];
    if (isSchema(properties)) optional += Object.keys(properties).filter((name) => !needed.includes(name)).length;
    if (optional > MAX_OPTIONAL) return false;
    if (typeof $ref === 'string' && $ref.startsWith('#')) {
      const target = resolved(root, $ref);
      if (open.includes($ref)) return false;
      if (isSchema(target) && !visit(target, [...open, $ref])) return false;
    }
    return inside(schema).every((each) => visit(each, open));
  };
  return visit(root, ['#']);
}
