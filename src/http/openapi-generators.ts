/** JSON Schema as the document has it. */
interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  operationId: string;
  requestBody?: Content;
  responses: Record<string, Content>;
}

interface Document {
  paths?: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** Names for schemas that belong to more than where they stand first, by the name that they would get there. */
const NAMES: Readonly<Record<string, string>> = {
  CreatePromptInputs: 'PromptInputs',
  CreatePromptConfig: 'JsonObject',
  UserMessageContent: 'UserMessagePart',
  AssistantMessageContent: 'AssistantMessagePart',
  ChatUserMessageContent: 'ChatUserMessagePart',
  ChatAssistantMessageContent: 'ChatAssistantMessagePart',
  SetProtectionRelease: 'SetReleasePolicy',
  LabelRelease: 'ReleasePolicy',
  ReleaseStepEvaluateDataset: 'DatasetReference',
  CreatedEvaluationDataset: 'DatasetVersion',
  CreatedEvaluationReuse: 'Reuse',
  CreatedEvaluationScoresByEvaluator: 'ScoresByEvaluator',
  CreateChatCompletionReasoningEffort: 'ReasoningEffort',
  CreateChatCompletionServiceTier: 'ServiceTier',
  CreateChatCompletionMetadata: 'OpenAiMetadata',
  CreateResponseInput: 'ResponseInputItem',
  CreateScoresBody: 'NewScores',
  NewScoreSubjectExecutionId: 'ExecutionSubject',
  NewScoreSubjectEvaluationId: 'ExampleSubject',
  ScoreSubjectExecutionId: 'ScoredExecution',
  ScoreSubjectEvaluationId: 'ScoredExample',
  ScoreSummaryDataArm: 'Arm',
  UpdateMemberRole: 'Role',
  ListedPromptMessage: 'PromptMessage',
  ListedPromptCreatedBy: 'VersionAuthor',
  BackfillLastError: 'LastError',
  CurrentApiKeyMember: 'KeyMember',
};

const pascal = (text: string) =>
  text.replaceAll(/(?:^|[^A-Za-z0-9])([A-Za-z0-9])/g, (_, char: string) => char.toUpperCase());
const singular = (text: string) => text.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');

const branchesOf = ({ anyOf, oneOf }: Schema) => anyOf ?? oneOf;

/** Whether a generator makes a type of its own of it. */
function needsName(schema: Schema): boolean {
  if (schema.$ref !== undefined) return false;
  if (schema.properties !== undefined || schema.type === 'object') return true;
  if (schema.enum !== undefined) return schema.enum.length > 1;
  return (branchesOf(schema) ?? []).filter(({ type }) => type !== 'null').length > 1;
}

/** What tells a branch of a union from the others, in the name of its schema: its `type` or `role`, or else what it must have. */
function tagOf(branch: Schema, hasRivals: boolean): string {
  const { type, role } = branch.properties ?? {};
  for (const value of [type?.const, role?.const]) if (typeof value === 'string') return value;
  if (!hasRivals) return '';
  const [first] = role?.enum ?? branch.required ?? [];
  return typeof first === 'string' ? first : 'option';
}

/**
 * Says the same in one way: several types are a union, and so is a union in a union, as of what may be null. Titles are for forms, and some
 * generators call types by them.
 */
function simplify(schema: Schema): void {
  const { title, type } = schema;
  delete schema.title;
  if (title !== undefined) schema.description ??= title;
  if (Array.isArray(type) && type.filter((each) => each !== 'null').length > 1) {
    schema.anyOf = type.map((each) => ({ type: each }));
    delete schema.type;
  }
  schema.anyOf &&= schema.anyOf.flatMap((branch) => {
    if (branch.anyOf === undefined) return [branch];
    const { anyOf, ...annotations } = branch;
    Object.assign(schema, { ...annotations, ...schema });
    return anyOf;
  });
}

/**
 * Says what the document says in the way that generators of clients make good code of. Each object and enumeration that stands in a union
 * gets a name of its own, under components: what has none is called by its number (`ConfigType0`, `AnyOfTwo`). A name is that of the
 * schema and the fields that lead there, and equal schemas have one. A body that is not JSON is bytes. The document is changed; what it
 * describes stays the same, and a document that went through this comes out as it is.
 * @throws Error where a name can't be found: give one of the schemas an id, or another name in `NAMES`
 */
export function adaptForGenerators(document: object): void {
  const { paths = {}, components } = document as Document;
  const { schemas } = components;
  const known = new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(schema), name]));

  /** @returns a reference to it, from components */
  function moved(schema: Schema, derived: string): Schema {
    const json = JSON.stringify(schema);
    const name = known.get(json) ?? NAMES[derived] ?? derived;
    const there = schemas[name];
    if (there !== undefined && JSON.stringify(there) !== json)
      throw new Error(`Two schemas of the document would be called ${name}: give one of them an id.`);
    schemas[name] = schema;
    known.set(json, name);
    return { $ref: `#/components/schemas/${name}` };
  }

  /** @returns what stands in its place */
  function named(schema: Schema, name: string, isInUnion: boolean): Schema {
    if (schema.$ref !== undefined) {
      // Of a field that is marked (`http/unread.ts`), zod repeats the pattern of what it refers to.
      const { pattern: _, ...reference } = schema;
      return Object.keys(reference).length === 1 ? reference : schema;
    }
    simplify(schema);
    const branches = branchesOf(schema);
    if (branches !== undefined) {
      const values = branches.filter((branch) => branch.type !== 'null');
      branches.forEach((branch, index) => {
        // An enumeration beside texts or objects is not what the union is called for.
        const rivals = branch.enum === undefined ? values.filter(needsName) : values;
        branches[index] = named(
          branch,
          name +
            pascal(
              tagOf(
                branch,
                rivals.some((rival) => rival !== branch),
              ),
            ),
          true,
        );
      });
    }
    for (const [key, value] of Object.entries(schema.properties ?? {}))
      if (schema.properties) schema.properties[key] = named(value, name + pascal(key), false);
    if (schema.items) schema.items = named(schema.items, singular(name), isInUnion);
    if (typeof schema.additionalProperties === 'object')
      schema.additionalProperties = named(schema.additionalProperties, singular(name), isInUnion);
    return isInUnion && needsName(schema) ? moved(schema, name) : schema;
  }

  for (const [name, schema] of Object.entries(schemas)) named(schema, name, false);
  for (const { operationId, requestBody, responses } of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [type, { schema }] of Object.entries(requestBody?.content ?? {}))
      if (type !== 'application/json' && schema) schema.format = 'binary';
    const contents = [
      ...Object.values(requestBody?.content ?? {}).map((media) => ({ media, kind: 'Body' })),
      ...Object.values(responses).flatMap(({ content = {} }) =>
        Object.values(content).map((media) => ({ media, kind: 'Response' })),
      ),
    ];
    for (const { media, kind } of contents)
      if (media.schema) media.schema = named(media.schema, pascal(operationId) + kind, false);
  }
}
