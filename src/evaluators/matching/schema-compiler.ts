import { Ajv, type AnySchemaObject, type ErrorObject, MissingRefError, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { jsonFault } from './json.ts';
import { compileLinearRegex } from './linear-regex.ts';

/** Maximum length of the schema as compact JSON, in characters. */
const MAX_SCHEMA_LENGTH = 65_536;
/** Maximum nesting of arrays and objects. */
const MAX_SCHEMA_DEPTH = 64;

const DRAFT_2020_12 = 'https://json-schema.org/draft/2020-12/schema';
const DRAFT_07 = 'http://json-schema.org/draft-07/schema';

/** The schema can't be used; the message tells its author why. */
class SchemaError extends Error {
  readonly code = 'bad_schema';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SchemaError';
  }
}

/** The violations of a value, as `/path must be …`; empty if it is valid. */
type SchemaCheck = (value: unknown) => string[];

/**
 * Compiles a JSON Schema (draft 2020-12, or draft-07 if `$schema` says so), with the formats of ajv-formats asserted.
 *
 * @param allViolations whether a check collects all violations or stops at the first, which takes less memory
 * @throws SchemaError if it is not a schema, has external references or is too large
 */
export function compileSchema(schema: AnySchemaObject, allViolations: boolean): SchemaCheck {
  refuseOversized(schema);
  // An asynchronous schema's validator returns a promise, which would be taken for "valid".
  if (Object.hasOwn(schema, '$async')) throw new SchemaError('$async is not part of JSON Schema');
  const warnings: string[] = [];
  const ajv = createAjv(schema['$schema'], allViolations, warnings);
  const validate = compile(ajv, schema);
  // Ajv ignores what it warns about, such as a misspelled format, so the schema would accept too much.
  if (warnings[0] !== undefined) throw new SchemaError(warnings[0]);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(describeViolation));
}

/** Why a schema can't be used, or null if it can. Also tries it on a value, which detects infinitely recursive schemas. */
export function schemaFault(schema: AnySchemaObject): string | null {
  try {
    compileSchema(schema, false)(null);
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    if (error instanceof RangeError) return 'the schema refers to itself without end';
    throw error;
  }
}

/**
 * Why a schema can't be sent to a provider, or null if it can. It is never used for validation here, so unknown formats and
 * slow expressions are left to the provider.
 */
export function providerSchemaFault(schema: AnySchemaObject): string | null {
  try {
    refuseOversized(schema);
    const ajv = createAjv(schema['$schema'], false, [], { validateFormats: false, unicodeRegExp: false, code: {} });
    compile(ajv, schema);
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
}

function refuseOversized(schema: AnySchemaObject): void {
  const fault = jsonFault(schema, MAX_SCHEMA_DEPTH);
  if (fault !== null) throw new SchemaError(`the schema is ${fault}`);
  if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) {
    throw new SchemaError(`the schema is longer than ${MAX_SCHEMA_LENGTH} characters`);
  }
}

function createAjv(dialect: unknown, allErrors: boolean, warnings: string[], more: Options = {}): Ajv {
  const warn = (message: unknown) => warnings.push(String(message));
  const options: Options = {
    allErrors,
    // Unknown keywords are annotations (JSON Schema Core 2020-12, section 6.5), and many schemas carry some.
    strict: false,
    logger: { log: () => {}, warn, error: warn },
    // Otherwise `required: ["toString"]` would hold for every object.
    ownProperties: true,
    // A definition used a thousand times would be inlined a thousand times.
    inlineRefs: false,
    code: { regExp: createRegexEngine() },
    ...more,
  };
  const ajv = isDialect(dialect, DRAFT_07) ? new Ajv(options) : createAjv2020(dialect, options);
  addFormats.default(ajv);
  return ajv;
}

function createAjv2020(dialect: unknown, options: Options): Ajv2020 {
  if (dialect === undefined || isDialect(dialect, DRAFT_2020_12)) return new Ajv2020(options);
  throw new SchemaError(`$schema must be ${DRAFT_2020_12} or ${DRAFT_07}#`);
}

function isDialect(dialect: unknown, uri: string): boolean {
  return dialect === uri || dialect === `${uri}#`;
}

/** Patterns in a schema run on model output, so they must not backtrack either. */
function createRegexEngine() {
  // Ajv uses `code` only to write validators to files.
  return Object.assign((pattern: string) => compileLinearRegex(pattern), { code: 'compileLinearRegex' });
}

function compile(ajv: Ajv, schema: AnySchemaObject): ValidateFunction {
  try {
    return ajv.compile(schema);
  } catch (error) {
    if (error instanceof MissingRefError) {
      throw new SchemaError(`$ref ${error.missingRef} is not in the schema; references to elsewhere are not followed`, {
        cause: error,
      });
    }
    // Ajv nests the checks of an object or list, and the stack overflows above about a thousand.
    if (error instanceof RangeError) {
      throw new SchemaError('the schema has too many keywords in one place to be compiled', { cause: error });
    }
    throw new SchemaError(error instanceof Error ? error.message : 'the schema cannot be compiled', { cause: error });
  }
}

function describeViolation(error: ErrorObject): string {
  const subject = error.instancePath === '' ? 'the output' : error.instancePath;
  const property = error.params['additionalProperty'] ?? error.params['unevaluatedProperty'];
  return `${subject} ${error.message}${typeof property === 'string' ? `: ${property}` : ''}`;
}
