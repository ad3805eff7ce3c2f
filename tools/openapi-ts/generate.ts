import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { installedTools } from '../../scripts/installed-tools.ts';

// What clients/typescript is made from: the types of openapi.json (by @hey-api/openapi-ts), its operations, and the methods that they are
// called by, which clients/methods.json names; and the page that lists the methods of both clients.
//
// `npm run generate` writes them; with --check, it compares them and fails where they differ.

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const from = (file: string) => path.join(root, file);
const TARGET = 'clients/typescript/src/generated';
const PAGE = 'docs/clients/operations.md';
const HEADER = '// Made by `npm run generate`: do not edit.';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Operations with handwritten methods: they take or return more than a JSON record, or have a special form. */
const BY_HAND = new Set([
  'createScores',
  'createFeedbackToken',
  'uploadDataset',
  'streamExecution',
  'streamEvaluation',
  'streamImprovement',
  'streamChanges',
]);

interface Schema {
  $ref?: string;
  enum?: string[];
  'x-extensible-enum'?: string[];
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

type Content = Record<string, { schema: Schema }>;

interface Operation {
  operationId: string;
  summary: string;
  /** Shared parameters are references. */
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { content: Content }>;
}

interface OpenApi {
  paths: Record<string, Partial<Record<(typeof METHODS)[number], Operation>>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
}

/** The generated code of an operation. */
interface Made {
  id: string;
  /** Such as `Prompt` in `PromptData`. */
  type: string;
  /** `POST /prompts` */
  http: string;
  /** `prompts.setLabel` */
  name: string;
  /** Its request body and its result. */
  sends: string;
  gives: string;
  flags: string;
  /** Its method, with its comment. */
  signature: string;
}

async function typesOf(openApi: string): Promise<string> {
  const { createClient } = await import(
    path.join(await installedTools('openapi-ts'), '@hey-api/openapi-ts/dist/index.mjs')
  );
  const folder = await mkdtemp(path.join(tmpdir(), 'openapi-ts-'));
  try {
    await createClient({
      input: openApi,
      output: { path: folder, header: [HEADER], module: { extension: '.ts' } },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent', file: false },
    });
    return await readFile(path.join(folder, 'types.gen.ts'), 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}

const pascalCase = (id: string) => id.charAt(0).toUpperCase() + id.slice(1);
const camelCase = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const lastOf = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1);

function parametersOf({ components }: OpenApi, { operationId, parameters = [] }: Operation): Parameter[] {
  return parameters.map((given) => {
    const parameter = '$ref' in given ? components.parameters[lastOf(given.$ref)] : given;
    if (parameter === undefined) throw new Error(`A parameter of ${operationId} is not in the document.`);
    return parameter;
  });
}

/** The result of an operation: a record, a paged list of records, or text. */
function resultOf({ components }: OpenApi, { operationId, responses }: Operation) {
  const content = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {};
  const { schema = {} } = content['application/json'] ?? {};
  const record = schema.$ref === undefined ? undefined : lastOf(schema.$ref);
  const { data, next_cursor: next } = (record === undefined ? {} : components.schemas[record]?.properties) ?? {};
  const isText = schema.type === 'string';
  if (record === undefined && !isText && !BY_HAND.has(operationId))
    throw new Error(`${operationId} gives no record: write its method by hand.`);
  const isList = data?.type === 'array' && next !== undefined;
  const item = data?.items?.$ref === undefined ? undefined : lastOf(data.items.$ref);
  const gives = isList ? `each \`${item}\`` : record === undefined ? 'a record' : `\`${record}\``;
  const other = isText ? 'a text' : 'text/event-stream' in content && record === undefined ? 'events' : undefined;
  return { type: isText ? 'string' : `api.${record}`, isText, isList, gives: other ?? gives };
}

/** The record in a body. */
function bodyName(body: Operation['requestBody']): string {
  const [[type, { schema }] = ['', { schema: {} as Schema }]] = Object.entries(body?.content ?? {});
  if (body === undefined) return '';
  if (type !== 'application/json') return 'a file';
  return schema.$ref === undefined ? 'a record' : `\`${lastOf(schema.$ref)}\``;
}

function madeOf(openApi: OpenApi, name: string, http: string, operation: Operation): Made {
  const { operationId: id, summary, requestBody } = operation;
  const type = pascalCase(id);
  const result = resultOf(openApi, operation);
  const all = parametersOf(openApi, operation);
  const query = all.filter((each) => each.in === 'query');
  // A list is read as records.
  const left = result.isList && query.some((each) => each.name === 'format') ? `, 'format'` : '';
  const args = [
    ...all
      .filter((each) => each.in === 'path')
      .map((each) => `${camelCase(each.name)}: ${each.schema.type === 'integer' ? 'number' : 'string'}`),
    ...(requestBody ? [`body${requestBody.required ? '' : '?'}: NonNullable<api.${type}Data['body']>`] : []),
    ...(query.length > 0
      ? [`query${query.some(({ required }) => required) ? '' : '?'}: QueryOf<api.${type}Data${left}>`]
      : []),
    'options?: CallOptions',
  ];
  const flags: [string, boolean][] = [
    ['b', requestBody !== undefined],
    ['q', query.length > 0],
    ['i', all.some((each) => each.name === 'Idempotency-Key')],
    ['l', result.isList],
    ['t', result.isText],
    ['h', BY_HAND.has(id)],
  ];
  const returned = `${result.isList ? 'List' : 'ApiPromise'}<${result.type}${result.isList ? "['data'][number]" : ''}>`;
  return {
    id,
    type,
    http,
    name,
    sends: bodyName(requestBody),
    gives: result.gives,
    flags: flags.map(([flag, isSet]) => (isSet ? flag : '')).join(''),
    signature: `  /** ${summary}: \`${http}\` */\n  ${name.split('.').at(-1)}(${args.join(', ')}): ${returned};`,
  };
}

function operationsOf(openApi: OpenApi, names: Record<string, string>): Made[] {
  const made = Object.entries(openApi.paths).flatMap(([url, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      if (operation === undefined) return [];
      const name = names[operation.operationId];
      if (name === undefined) throw new Error(`clients/methods.json has no name for ${operation.operationId}.`);
      return madeOf(openApi, camelCase(name), `${method.toUpperCase()} ${url}`, operation);
    }),
  );
  const ids = new Set(made.map(({ id }) => id));
  const gone = Object.keys(names).filter((id) => !ids.has(id));
  if (gone.length > 0) throw new Error(`clients/methods.json names what is not in openapi.json: ${gone.join(', ')}`);
  return made;
}

/** A table of all operations, for run time and for types. */
function tableOf(operations: Made[]): string {
  const lines = [
    HEADER,
    `import type * as api from './types.gen.ts';`,
    '',
    '/** What each operation takes, and what it responds with. */',
    'export interface Operations {',
    ...operations.map(({ id, type }) => `  ${id}: { request: api.${type}Data; response: api.${type}Response };`),
    '}',
    '',
    '/**',
    ' * HTTP method and path of each, the method of the client that calls it, and what it has: b: a body, q: parameters in its query,',
    ' * i: an `Idempotency-Key`; l: it gives a list by pages, t: text; h: its method is written by hand.',
    ' */',
    'export const OPERATIONS: Readonly<Record<keyof Operations, string>> = {',
    ...operations.map(({ id, http, name, flags }) => `  ${id}: '${[http, name, flags].join(' ').trim()}',`),
    '};',
  ];
  return `${lines.join('\n')}\n`;
}

/** The methods of the client by resource, as types. */
function resourcesOf(operations: Made[]): string {
  const byResource = Map.groupBy(
    operations.filter(({ flags }) => !flags.includes('h')),
    ({ name }) => name.slice(0, Math.max(0, name.indexOf('.'))),
  );
  const ownMethods = byResource.get('') ?? [];
  byResource.delete('');
  const lines = [
    HEADER,
    `import type { ApiPromise, CallOptions, QueryOf } from '../call.ts';`,
    `import type { List } from '../pages.ts';`,
    `import type * as api from './types.gen.ts';`,
    ...[...byResource].flatMap(([resource, methods]) => [
      '',
      `export interface ${pascalCase(resource)}Operations {`,
      ...methods.map(({ signature }) => signature),
      '}',
    ]),
    '',
    '/** Every operation of the service, by what it is about. */',
    'export interface Resources {',
    ...[...byResource.keys()].map((resource) => `  readonly ${resource}: ${pascalCase(resource)}Operations;`),
    ...ownMethods.map(({ signature }) => signature),
    '}',
  ];
  return `${lines.join('\n')}\n`;
}

/** Lists of names that programs show or check, as values. */
function valuesOf(lists: Record<string, string[] | undefined>): string {
  const lines = Object.entries(lists).flatMap(([name, values]) => {
    if (values === undefined) throw new Error(`openapi.json no longer has the values of ${name} where they were.`);
    return ['', `export const ${name} = [`, ...values.map((value) => `  '${value}',`), '] as const;'];
  });
  return `${[HEADER, ...lines].join('\n')}\n`;
}

/** A page of all methods of both clients. */
function pageOf(operations: Made[], names: Record<string, string>): string {
  const lines = [
    '# Methods of the clients',
    '',
    '<!-- Made by `npm run generate`: do not edit. -->',
    '',
    'Each operation of the [API](../api-contract.md) is a method of the [TypeScript](typescript.md) and of the [Python](python.md) client. Both take what',
    'is in the path first; then TypeScript takes the body and the query as objects, Python as named arguments. A list is given entry by entry. The',
    'records are those of the OpenAPI document: `Api.Prompt` in TypeScript, `models.Prompt` in Python, where the names of methods have `_`.',
    '',
    '| TypeScript | Python | request | sends | gives |',
    '|---|---|---|---|---|',
    ...operations.map(
      ({ id, name, http, sends, gives }) =>
        `| \`pms.${name}\` | \`pms.${names[id]}\` | \`${http}\` | ${sends} | ${gives} |`,
    ),
    '',
    'Records come as they are in JSON; in Python, times are `datetime`s in UTC. Errors, retries and idempotency keys are the same for all of them.',
  ];
  return `${lines.join('\n')}\n`;
}

/** All generated content, by file name. */
async function generate(): Promise<Map<string, string>> {
  const openApi: OpenApi = JSON.parse(await readFile(from('openapi.json'), 'utf8'));
  const names = JSON.parse(await readFile(from('clients/methods.json'), 'utf8'));
  const operations = operationsOf(openApi, names);
  const { schemas } = openApi.components;
  const values = {
    EVENT_TYPES: schemas['EventType']?.enum,
    SCOPES: schemas['CreateApiKey']?.properties?.['scopes']?.items?.enum,
  };
  const auditActions = { AUDIT_ACTIONS: schemas['AuditEntry']?.properties?.['action']?.['x-extensible-enum'] };
  return new Map([
    [PAGE, pageOf(operations, names)],
    [`${TARGET}/types.gen.ts`, await typesOf(from('openapi.json'))],
    [`${TARGET}/operations.gen.ts`, tableOf(operations)],
    [`${TARGET}/resources.gen.ts`, resourcesOf(operations)],
    [`${TARGET}/values.gen.ts`, valuesOf(values)],
    ['console/src/generated/audit-actions.ts', valuesOf(auditActions)],
  ]);
}

async function main(isCheck: boolean): Promise<void> {
  const files = await generate();
  if (!isCheck) {
    await rm(from(TARGET), { recursive: true, force: true });
    await mkdir(from(TARGET), { recursive: true });
    for (const [file, text] of files) {
      await mkdir(path.dirname(from(file)), { recursive: true });
      await writeFile(from(file), text);
    }
    return;
  }
  const wrong = (await readdir(from(TARGET))).map((file) => `${TARGET}/${file}`).filter((file) => !files.has(file));
  for (const [file, text] of files)
    if ((await readFile(from(file), 'utf8').catch(() => undefined)) !== text) wrong.push(file);
  if (wrong.length === 0) return;
  console.error(`Not up to date: ${wrong.join(', ')}. Run npm run generate, and commit what it makes.`);
  process.exitCode = 1;
}

await main(process.argv.includes('--check'));
