import { isObject } from '../../domain/text/json.ts';
import { fieldOf, listOf, type RequestBody } from '../requests/json-body.ts';
import { countOf, nothingBut, type SkippedKinds, textsAt, type Understood } from './understood.ts';

/** What is known to be no part of the response: what the provider ran itself. */
const SILENT_PARTS = new Set(['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse', 'thoughtSignature']);
/** What describes a part, and is none. */
const ABOUT_PARTS = new Set(['thought', 'thoughtSignature', 'videoMetadata', 'partMetadata', 'mediaResolution']);
const COUNTS = ['cachedContentTokenCount', 'thoughtsTokenCount', 'toolUsePromptTokenCount', 'totalTokenCount'] as const;

/** @see https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse */
export function understandGeneratedContent(body: RequestBody, skipped: SkippedKinds): Understood {
  const usage = usageOf(body['usageMetadata']);
  const blocked = fieldOf(body['promptFeedback'], 'blockReason');
  const { candidate, fault } = candidateOf(body['candidates'], skipped);
  const isEmpty = candidate === undefined && (usage !== undefined || Array.isArray(body['candidates']));
  return {
    body: {
      ...textsAt(body, ['responseId', 'modelVersion']),
      ...(candidate !== undefined && { candidates: [candidate] }),
      ...(typeof blocked === 'string' && { promptFeedback: { blockReason: blocked } }),
      ...(usage !== undefined && { usageMetadata: usage }),
    },
    hasUsage: usage !== undefined,
    fault:
      fault ?? (candidate !== undefined || isEmpty || blocked !== undefined ? undefined : 'it has no "candidates"'),
  };
}

function candidateOf(candidates: unknown, skipped: SkippedKinds): { candidate?: RequestBody; fault?: string } {
  const candidate = listOf(candidates).find((each) => isObject(each) && (each['index'] ?? 0) === 0);
  if (!isObject(candidate)) return {};
  const parts: RequestBody[] = [];
  let fault: string | undefined;
  for (const [index, part] of listOf(fieldOf(candidate['content'], 'parts')).entries()) {
    const { text, thought, functionCall: called }: RequestBody = isObject(part) ? part : {};
    if (isObject(called)) {
      const { id, name, args } = called;
      if (typeof name !== 'string' || name === '') fault ??= `candidates.0.content.parts.${index} has no name`;
      parts.push({ functionCall: { ...(typeof id === 'string' && { id }), name, args: args ?? {} } });
    } else if (typeof text === 'string') {
      if (thought !== true) parts.push({ text });
    } else for (const kind of kindsOf(part)) skipped.add('part', kind);
  }
  const read = {
    ...textsAt(candidate, ['finishReason', 'continuationToken']),
    ...(parts.length > 0 && { content: { role: 'model', parts } }),
  };
  if (parts.length === 0 && skipped.hasParts) fault ??= nothingBut(skipped);
  return { candidate: read, ...(fault !== undefined && { fault }) };
}

function kindsOf(part: unknown): string[] {
  if (!isObject(part)) return [typeof part];
  return Object.keys(part).filter((name) => !SILENT_PARTS.has(name) && !ABOUT_PARTS.has(name));
}

/** A count of 0 is left out. */
function usageOf(usage: unknown): RequestBody | undefined {
  if (!isObject(usage)) return undefined;
  const input = countOf(usage['promptTokenCount']);
  const output = countOf(usage['candidatesTokenCount']);
  if (input === undefined && output === undefined) return undefined;
  return {
    ...Object.fromEntries(COUNTS.map((name) => [name, countOf(usage[name])])),
    promptTokenCount: input ?? 0,
    candidatesTokenCount: output ?? 0,
  };
}
