import { Big } from 'big.js';
import { ARMS } from '../releases/rollout.ts';
import { isObject, type JsonValue } from '../text/json.ts';
import { storableText } from '../text/storable-text.ts';
import {
  DETAILS_EVENT,
  EVALUATION_EVENT,
  INPUT_SOURCES,
  METADATA_OBJECTS,
  METADATA_PREFIXES,
  NAMES,
  OUTPUT_SOURCES,
  PARAMETER_OBJECTS,
  PARAMETER_PREFIXES,
  REPEATING,
  RESOURCE_NAMES,
  TAG_NAMES,
  TYPES_BY_PRESENCE,
  TYPES_BY_VALUE,
} from './attribute-names.ts';
import { Bag } from './bag.ts';
import { jsonText } from './json-texts.ts';
import {
  MAX_RESOURCE_ATTRIBUTES,
  MAX_RESOURCE_BYTES,
  MAX_STEP_ATTRIBUTES,
  MAX_STEP_ERROR_CHARS,
  MAX_STEP_METADATA,
  MAX_STEP_METADATA_CHARS,
  MAX_STEP_NAME_CHARS,
  MAX_STEP_SCORES,
  MAX_STEP_TAGS,
} from './limits.ts';
import type { OtlpOrigin, OtlpSpan } from './otlp/read-request.ts';
import { Room } from './room.ts';
import type { Attributes, Step, StepScore, StepType } from './step.ts';
import { answerFrom, contentOf, cutInput, isMessageEvent, messagesInEvents } from './step-content.ts';
import { tokensOf } from './step-tokens.ts';

const shortened = (text: string, chars: number): string => storableText(text.slice(0, chars));

/** A short text, or a number as text. */
const nameOf = (value: JsonValue): string | undefined =>
  (typeof value === 'string' && value.trim() !== '') || typeof value === 'number'
    ? shortened(String(value).trim(), MAX_STEP_NAME_CHARS)
    : undefined;
const MAX_COST = 1_000_000_000;
/** Digits of US dollars: more are noise from binary fractions. */
const COST_DIGITS = 12;
const costOf = (value: JsonValue): string | undefined => {
  const cost = typeof value === 'string' && value !== '' ? Number(value) : value;
  const isCost = typeof cost === 'number' && cost >= 0 && cost <= MAX_COST;
  return isCost ? new Big(cost).round(COST_DIGITS).toFixed() : undefined;
};
const versionOf = (value: JsonValue): number | undefined => {
  const [, digits] = /^v?(\d{1,9})$/.exec(jsonText(value)) ?? [];
  return digits === undefined || Number(digits) === 0 ? undefined : Number(digits);
};

function typeOf(bag: Bag): StepType {
  for (const [attribute, types] of TYPES_BY_VALUE) {
    const value = bag.get(attribute);
    // MLflow writes texts as JSON.
    const name = typeof value === 'string' ? value.replaceAll('"', '').toLowerCase() : '';
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (type === undefined) continue;
    bag.drop(attribute);
    return type;
  }
  return TYPES_BY_PRESENCE.find(([attribute]) => bag.get(attribute) !== undefined)?.[1] ?? 'other';
}

function attributesIn(
  entries: Iterable<readonly [string, JsonValue]>,
  most: number,
  field: string,
  room: Room,
): Attributes {
  const kept: [string, JsonValue][] = [];
  for (const [name, value] of entries) {
    if (kept.length >= most || room.isFull) {
      room.mark(field);
      break;
    }
    kept.push([
      room.text(name, field, MAX_STEP_NAME_CHARS),
      room.json(value, `${field}.${shortened(name, MAX_STEP_NAME_CHARS)}`),
    ]);
  }
  return Object.fromEntries(kept);
}

function metadataOf(bag: Bag, room: Room): Record<string, string> {
  const objects = METADATA_OBJECTS.flatMap((name) => {
    const object = bag.getJson(name);
    if (!isObject(object)) return [];
    bag.drop(name);
    return Object.entries(object);
  });
  const entries = [...objects, ...METADATA_PREFIXES.flatMap((prefix) => bag.takePrefixed(prefix))];
  const kept = new Map<string, string>();
  for (const [name, value] of entries) {
    if (value === null || value === '' || name === '' || kept.has(name)) continue;
    if (kept.size >= MAX_STEP_METADATA) room.mark('metadata');
    else
      kept.set(
        shortened(name, MAX_STEP_NAME_CHARS),
        room.text(
          jsonText(bag.texts.unquoted(value as JsonValue)).slice(0, MAX_STEP_METADATA_CHARS + 1),
          'metadata',
          MAX_STEP_METADATA_CHARS,
        ),
      );
  }
  return Object.fromEntries(kept);
}

function tagsOf(bag: Bag): string[] {
  const tags = TAG_NAMES.flatMap((name) => {
    const value = bag.getJson(name);
    bag.drop(name);
    return Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  });
  return [...new Set(tags.flatMap((tag) => nameOf(tag as JsonValue) ?? []))].slice(0, MAX_STEP_TAGS);
}

function parametersOf(bag: Bag, room: Room): Attributes {
  const objects = PARAMETER_OBJECTS.flatMap((name) => {
    const object = bag.getJson(name);
    if (!isObject(object)) return [];
    bag.drop(name);
    return Object.entries(object) as [string, JsonValue][];
  });
  const entries = [...objects, ...PARAMETER_PREFIXES.flatMap((prefix) => bag.takePrefixed(prefix))];
  return attributesIn(entries, MAX_STEP_ATTRIBUTES, 'parameters', room);
}

const MAX_EXPLANATION_CHARS = 10_000;

function scoresOf(events: OtlpSpan['events']): StepScore[] {
  const scores = events.flatMap(({ name, attributes }): StepScore[] => {
    if (name !== EVALUATION_EVENT) return [];
    const of = nameOf(attributes.get('gen_ai.evaluation.name') ?? null);
    const number = attributes.get('gen_ai.evaluation.score.value');
    const value = typeof number === 'number' ? number : nameOf(attributes.get('gen_ai.evaluation.score.label') ?? null);
    const explanation = attributes.get('gen_ai.evaluation.explanation');
    if (of === undefined || value === undefined) return [];
    const told = typeof explanation === 'string' ? shortened(explanation, MAX_EXPLANATION_CHARS) : null;
    return [{ name: of, value, explanation: told }];
  });
  return scores.slice(0, MAX_STEP_SCORES);
}

/** The failure, according to the span's status, an attribute, or an exception event. */
function failureOf(bag: Bag, { status, events }: OtlpSpan): Pick<Step, 'error' | 'errorType'> & { hasFailed: boolean } {
  const exception = events.findLast(({ name }) => name === 'exception')?.attributes;
  const given = bag.take(NAMES.errorType, nameOf);
  const hasFailed = status.isError || (!status.isOk && (given !== undefined || exception !== undefined));
  if (!hasFailed) return { hasFailed, error: null, errorType: null };
  const message = [status.message, exception?.get('exception.message'), bag.take(NAMES.errorMessage, nameOf)].find(
    (text): text is string => typeof text === 'string' && text !== '',
  );
  const errorType = given ?? nameOf(exception?.get('exception.type') ?? null) ?? null;
  return { hasFailed, error: message === undefined ? null : shortened(message, MAX_STEP_ERROR_CHARS), errorType };
}

/** The AI SDK's `openai.chat` means `openai`. */
const providerOf = (value: JsonValue) => nameOf(value)?.split('.').at(0)?.toLowerCase();

const EXECUTION = /^exec_[0-9a-f-]{36}$/;
const executionOf = (id: string | undefined) => (id !== undefined && EXECUTION.test(id) ? id : null);

function releaseOf(bag: Bag): Step['release'] {
  const [id, given] = [bag.take(NAMES.releaseId, nameOf), bag.take(NAMES.releaseArm, nameOf)];
  const arm = ARMS.find((each) => each === given);
  return id === undefined || arm === undefined ? null : { id, arm };
}

function promptOf(bag: Bag): Step['prompt'] {
  const name = bag.take(NAMES.promptName, nameOf);
  if (name === undefined) return null;
  return { name, version: bag.take(NAMES.promptVersion, versionOf) ?? null };
}

/** What the steps of one library in one process share; created once. */
export interface StepOrigin {
  service: string | null;
  environment: string | null;
  resource: Attributes;
  scope: Step['scope'];
}

export function stepOrigin({ resource, scope }: OtlpOrigin): StepOrigin {
  const bag = new Bag(resource);
  const name = nameOf(scope.name);
  return {
    service: bag.take(RESOURCE_NAMES.service, nameOf) ?? null,
    environment: bag.take(RESOURCE_NAMES.environment, nameOf) ?? null,
    resource: attributesIn(bag.rest(), MAX_RESOURCE_ATTRIBUTES, 'resource', new Room([], MAX_RESOURCE_BYTES)),
    scope: name === undefined ? null : { name, version: nameOf(scope.version) ?? null },
  };
}

/** Maps a span to a step. */
export function toStep(span: OtlpSpan, origin: StepOrigin): Step {
  const bag = new Bag(span.attributes);
  for (const { name, attributes } of span.events)
    if (name === DETAILS_EVENT)
      for (const [key, value] of attributes) if (bag.get(key) === undefined) bag.add(key, value);
  const room = new Room(span.cut);
  const type = typeOf(bag);
  const failure = failureOf(bag, span);
  // Must precede reading `gen_ai.prompt.N` as messages.
  const prompt = promptOf(bag);
  const inEvents = messagesInEvents(span.events, bag.texts);
  const input = contentOf(bag, INPUT_SOURCES, type) ?? inEvents.input;
  const answer = answerFrom(contentOf(bag, OUTPUT_SOURCES, type) ?? inEvents.output, type);
  for (const name of REPEATING) bag.drop(name);
  const responseId = bag.take(NAMES.responseId, nameOf);
  const model = bag.take(NAMES.model, nameOf) ?? null;
  const complete = bag.take(NAMES.complete, (value) => value === true || value === 'true');
  const name = shortened(span.name, MAX_STEP_NAME_CHARS);
  const step: Step = {
    traceId: span.traceId,
    id: span.spanId,
    parentId: span.parentId === span.spanId ? null : span.parentId,
    type,
    name,
    status: failure.hasFailed ? 'error' : span.endedAt === null ? 'running' : 'ok',
    error: failure.error,
    errorType: failure.errorType,
    startedAt: span.startedAt,
    endedAt: span.endedAt === null ? null : Math.max(span.startedAt, span.endedAt),
    model,
    provider: bag.take(NAMES.provider, providerOf) ?? null,
    tool: bag.take(NAMES.tool, nameOf) ?? (type === 'tool' ? name : null),
    agent: bag.take(NAMES.agent, nameOf) ?? (type === 'agent' ? name : null),
    // Fields claim room in this order.
    output: answer.text === null ? null : room.text(answer.text, 'output'),
    toolCalls: answer.toolCalls.map((call) => ({ ...call, input: room.json(call.input, 'output') })),
    input: cutInput(input, room),
    tokens: tokensOf(bag),
    cost: bag.take(NAMES.cost, costOf) ?? null,
    fallbackCost: bag.take(NAMES.fallbackCost, costOf) ?? null,
    prompt,
    release: releaseOf(bag),
    conversationId: bag.take(NAMES.conversation, nameOf) ?? null,
    userId: bag.take(NAMES.user, nameOf) ?? null,
    tags: tagsOf(bag),
    metadata: metadataOf(bag, room),
    parameters: parametersOf(bag, room),
    service: origin.service,
    environment: bag.take(NAMES.environment, nameOf) ?? origin.environment,
    scope: origin.scope,
    resource: origin.resource,
    executionId: executionOf(bag.take(NAMES.executionId, nameOf)) ?? executionOf(responseId),
    responseId: responseId ?? null,
    complete: complete ?? false,
    scores: scoresOf(span.events),
    attributes: {},
    events: span.events
      .filter(({ name }) => !isMessageEvent(name) && name !== EVALUATION_EVENT && name !== DETAILS_EVENT)
      .map(({ name, at, attributes }) => ({
        name: shortened(name, MAX_STEP_NAME_CHARS),
        at: at ?? span.startedAt,
        attributes: attributesIn(attributes, MAX_STEP_ATTRIBUTES, 'events', room),
      })),
    links: span.links.map((link) => ({
      ...link,
      attributes: attributesIn(link.attributes, MAX_STEP_ATTRIBUTES, 'links', room),
    })),
    cut: [],
  };
  const thought = answer.reasoning === null ? [] : [['pms.output.reasoning', answer.reasoning] as const];
  step.attributes = attributesIn([...thought, ...bag.rest()], MAX_STEP_ATTRIBUTES, 'attributes', room);
  step.cut = room.cut;
  return step;
}
