import {
  isBase64,
  isHttpsUrl,
  MAX_MESSAGES,
  MAX_PARTS,
  MEDIA_TYPE,
  TOOL_NAME,
} from '../../../../src/domain/prompt-rules/limits.ts';
import type { ErrorDetail, FileValue, JsonValue, ValueChecks } from '../../../../src/domain/prompt-rules/types.ts';
import type { ChatMessage } from '../generated/types.gen.ts';

// The checks that the service does with schemas. Limits on single strings are left to the service.

type Fields = Record<string, unknown>;
type InputType = Parameters<ValueChecks<ChatMessage>['typeFaults']>[0];
type Report = (path: string, message: string) => void;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The problems of a value for a type. */
function typeFaults(type: InputType, value: JsonValue, at: string, limit: number): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const report: Report = (path, message) => {
    if (details.length < limit) details.push({ path, message });
  };
  if (type === 'messages') checkMessages(value, at, report);
  else if (type === 'file') checkFile(value, at, report);
  else if (type !== 'json' && typeof value !== type)
    report(at, type === 'boolean' ? 'must be true or false' : `must be a ${type}`);
  return details;
}

export const VALUE_CHECKS: ValueChecks<ChatMessage> = {
  typeFaults,
  parseMessages(value, at, limit) {
    const details = typeFaults('messages', value, at, limit);
    return details.length > 0 ? { details } : { data: checkedAs<ChatMessage[]>(value) };
  },
  parseFile(value, at, limit) {
    const details = typeFaults('file', value, at, limit);
    return details.length > 0 ? { details } : { data: checkedAs<FileValue>(value) };
  },
};

/** Casts a value that was checked. */
function checkedAs<T>(value: unknown): T {
  return value as T;
}

/** Whether it is an object with only these fields. */
function isObjectOf(value: unknown, fields: readonly string[], at: string, report: Report): value is Fields {
  if (!isObject(value)) {
    report(at, 'must be an object');
    return false;
  }
  for (const name of Object.keys(value)) if (!fields.includes(name)) report(`${at}.${name}`, 'is not a known field');
  return true;
}

function checkString(
  value: Fields,
  name: string,
  at: string,
  report: Report,
  fits: (text: string) => boolean = () => true,
): void {
  if (typeof value[name] !== 'string') report(`${at}.${name}`, 'must be a string');
  else if (!fits(value[name])) report(`${at}.${name}`, 'does not have the form that it needs');
}

const isMediaType = (text: string) => MEDIA_TYPE.test(text);

function checkSource(file: Fields, at: string, report: Report): void {
  const { data, url, filename } = file;
  if ((data === undefined) === (url === undefined)) report(at, 'must have one of data and url');
  if (data !== undefined) checkString(file, 'data', at, report, isBase64);
  if (url !== undefined) checkString(file, 'url', at, report, isHttpsUrl);
  if (filename !== undefined) checkString(file, 'filename', at, report, (text) => text !== '');
}

function checkFile(value: unknown, at: string, report: Report): void {
  if (!isObjectOf(value, ['media_type', 'filename', 'data', 'url'], at, report)) return;
  if (value['media_type'] !== undefined) checkString(value, 'media_type', at, report, isMediaType);
  checkSource(value, at, report);
}

function isListUpTo(value: unknown, what: string, max: number, at: string, report: Report): value is unknown[] {
  if (!Array.isArray(value)) report(at, `must be a list of ${what}`);
  else if (value.length > max) report(at, `must have at most ${max} ${what}`);
  else return true;
  return false;
}

/** Part types by role. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  system: ['text'],
  user: ['text', 'file'],
  assistant: ['text', 'file', 'tool_call'],
  tool: ['tool_result'],
};

const MESSAGE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'reasoning_content', 'reasoning_details'],
  tool: ['role', 'content'],
};

function checkMessages(value: unknown, at: string, report: Report): void {
  if (!isListUpTo(value, 'messages', MAX_MESSAGES, at, report)) return;
  for (const [index, message] of value.entries()) {
    const where = `${at}.${index}`;
    const role = isObject(message) ? message['role'] : undefined;
    const types = typeof role === 'string' && Object.hasOwn(PARTS, role) ? PARTS[role] : undefined;
    if (types === undefined) {
      report(isObject(message) ? `${where}.role` : where, 'must be a message of system, user, assistant or tool');
      continue;
    }
    if (!isObjectOf(message, MESSAGE_FIELDS[String(role)] ?? [], where, report)) continue;
    for (const name of ['name', 'reasoning_content'])
      if (message[name] !== undefined) checkString(message, name, where, report, (text) => text !== '');
    const { content, reasoning_details: details } = message;
    if (details !== undefined && !(Array.isArray(details) && details.every(isObject)))
      report(`${where}.reasoning_details`, 'must be a list of objects');
    if (typeof content === 'string' && role !== 'tool') continue;
    if (isListUpTo(content, 'parts', MAX_PARTS, `${where}.content`, report)) {
      if (content.length === 0) report(`${where}.content`, 'must not be empty');
      for (const [part, each] of content.entries()) checkPart(each, types, `${where}.content.${part}`, report);
    }
  }
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text', 'cache_control'],
  file: ['type', 'media_type', 'filename', 'data', 'url', 'cache_control'],
  tool_call: ['type', 'id', 'name', 'input', 'cache_control'],
  tool_result: ['type', 'id', 'name', 'output', 'cache_control'],
};

const isCacheControl = (value: unknown): boolean =>
  isObject(value) &&
  value['type'] === 'ephemeral' &&
  Object.keys(value).every((name) => name === 'type' || name === 'ttl') &&
  [undefined, '5m', '1h'].some((ttl) => ttl === value['ttl']);

function checkPart(part: unknown, types: readonly string[], at: string, report: Report): void {
  const type = isObject(part) ? part['type'] : undefined;
  if (typeof type !== 'string' || !types.includes(type)) report(`${at}.type`, `must be ${types.join(' or ')}`);
  else if (!isObjectOf(part, FIELDS[type] ?? [], at, report)) return;
  else if (part['cache_control'] !== undefined && !isCacheControl(part['cache_control']))
    report(`${at}.cache_control`, 'must be {"type": "ephemeral"}, with "5m" or "1h" as its ttl');
  else if (type === 'text') checkString(part, 'text', at, report);
  else if (type === 'file') {
    checkString(part, 'media_type', at, report, isMediaType);
    checkSource(part, at, report);
  } else {
    checkString(part, 'id', at, report, (text) => text !== '' && text.length <= 200);
    checkString(part, 'name', at, report, (text) => TOOL_NAME.test(text));
    const payload = type === 'tool_call' ? 'input' : 'output';
    if (part[payload] === undefined) report(`${at}.${payload}`, 'is required: any JSON');
  }
}
