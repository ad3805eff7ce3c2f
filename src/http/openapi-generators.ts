/** A JSON Schema in the document. */
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

/** Names for schemas used in several places, by the name that their first use would give them. */
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
  NewScoreSubjectTraceId: 'TraceSubject',
  NewScoreSubjectConversationId: 'ConversationSubject',
  ScoreSubjectTraceId: 'ScoredTrace',
  ScoreSubjectConversationId: 'ScoredConversation',
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

/** Whether generators create a separate type for it. */
function needsName(schema: Schema): boolean {
  if (schema.$ref !== undefined) return false;
  if (schema.properties !== undefined || schema.type === 'object') return true;
  if (schema.enum !== undefined) return schema.enum.length > 1;
  return (branchesOf(schema) ?? []).filter(({ type }) => type !== 'null').length > 1;
}

/** What distinguishes a branch of a union in the name of its schema: its `type` or `role`, otherwise its required fields. */
function tagOf(branch: Schema, hasRivals: boolean): string {
  const { type, role } = branch.properties ?? {};
  for (const value of [type?.const, role?.const]) if (typeof value === 'string') return value;
  if (!hasRivals) return '';
  const [first] = role?.enum ?? branch.required ?? [];
  return typeof first === 'string' ? first : 'option';
}

/**
 * Normalizes a schema: several types become a union, and nested unions (as for nullable values) are flattened. Titles are for forms, and
 * some generators use them as type names.
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
 * Rewrites the document so that client generators produce good code. Each object and enumeration in a union gets its own named component:
 * generators number unnamed ones (`ConfigType0`, `AnyOfTwo`). A name combines the schema and the fields that lead there, and equal
 * schemas share one. A body that is not JSON is bytes. The meaning stays the same, and rewriting again changes nothing.
 * @throws Error if no name can be found: set an id on one of the schemas, or another name in `NAMES`
 */
export function adaptForGenerators(document: object): void {
  const { paths = {}, components } = document as Document;
  const { schemas } = components;
  const known = new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(schema), name]));

  /** @returns a reference to the component */
  function moved(schema: Schema, derived: string): Schema {
    const json = JSON.stringify(schema);
    const name = known.get(json) ?? NAMES[derived] ?? derived;
    const there = schemas[name];
    if (there !== undefined && JSON.stringify(there) !== json)
      throw new Error(`Two schemas of the document would be called ${name}: set an id on one of them.`);
    schemas[name] = schema;
    known.set(json, name);
    return { $ref: `#/components/schemas/${name}` };
  }

  /** @returns the replacement */
  function named(schema: Schema, name: string, isInUnion: boolean): Schema {
    if (schema.$ref !== undefined) {
      // For a marked field (`http/unread.ts`), zod repeats the pattern of the referenced schema.
      const { pattern: _, ...reference } = schema;
      return Object.keys(reference).length === 1 ? reference : schema;
    }
    simplify(schema);
    const branches = branchesOf(schema);
    if (branches !== undefined) {
      const values = branches.filter((branch) => branch.type !== 'null');
      branches.forEach((branch, index) => {
        // An enumeration next to strings or objects does not determine the name of the union.
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
