import { z } from 'zod';
import type { JsonValue } from '../../domain/text/json.ts';
import { EndpointUrl, SigningSecret } from '../../domain/webhooks/endpoint.ts';
import { type EndpointEvaluator, type Example, type Score, ScoringError, scored, unscored } from '../evaluator.ts';
import { evaluatorFields } from '../fields.ts';
import { isJsonValue, jsonFault, parseJson } from '../matching/json.ts';
import { quote } from '../matching/text.ts';

/** The maximum `timeout_ms` of a scorer. */
export const MAX_SCORER_TIMEOUT_MS = 60_000;
/** Maximum bytes read from a scorer's response. */
export const MAX_SCORER_RESPONSE_BYTES = 64 * 1024;
/** Maximum characters of a scorer's reason, as for every other reason. */
const MAX_REASON_LENGTH = 500;

const HttpConfig = z
  .strictObject({
    ...evaluatorFields('http'),
    url: EndpointUrl.meta({
      title: 'URL',
      description: 'The `https:` URL of the endpoint that scores. The operator may allow other URLs.',
      example: 'https://example.com/score',
    }),
    /** Stored separately from the other options. */
    secret: SigningSecret.optional().meta({
      title: 'Signing secret',
      description:
        '24–128 visible ASCII characters. If empty, one is generated and shown only in the response that creates the run or schedule.',
    }),
    /** From DNS lookup to the last byte of the response. */
    timeout_ms: z
      .int()
      .min(100)
      .max(MAX_SCORER_TIMEOUT_MS)
      .default(10_000)
      .meta({ title: 'Time for a request, in milliseconds' }),
  })
  .meta({
    title: 'Your own scorer',
    description: 'Your endpoint gets each example and responds with a score.',
  });

type HttpConfig = z.output<typeof HttpConfig>;

/** Posts the example to one of the caller's endpoints, which responds with a score and optionally a reason. */
export const http: EndpointEvaluator<HttpConfig> & { config: typeof HttpConfig } = {
  kind: 'endpoint',
  config: HttpConfig,
  prepare: ({ url, timeout_ms: timeoutMs }) => ({ url, timeoutMs, request, read }),
};

function request({ input, output, toolCalls, expected = null, variables, steps }: Example): string {
  if (!isJsonValue(expected)) throw new ScoringError('too_large', `the expected value is ${jsonFault(expected)}`);
  if (!isJsonValue(variables)) throw new ScoringError('too_large', `the variables are ${jsonFault(variables)}`);
  return JSON.stringify({
    input,
    output,
    expected,
    variables,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(steps !== undefined && { steps }),
  });
}

/** A score off the scale is rejected rather than clamped, which would be a guess. Other fields are up to the scorer. */
function read(response: string): Score {
  if (response.trim() === '') return unusable('it is empty');
  // A truncated response may have lost part of its last character.
  if (Buffer.byteLength(response) > MAX_SCORER_RESPONSE_BYTES - 4)
    return unusable(`it is longer than the ${MAX_SCORER_RESPONSE_BYTES} bytes that are read`);
  const parsed = parseJson(response);
  if (!parsed.ok) return unusable(`it is ${parsed.reason}`);
  if (typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value))
    return unusable(`it is not an object with a score: ${quote(response)}`);
  return readVerdict(parsed.value);
}

function readVerdict(verdict: { [key: string]: JsonValue }): Score {
  const { score, reason = null } = verdict;
  if (score === undefined) return unusable('it has no score');
  if (typeof score !== 'number') return unusable(`its score ${quote(JSON.stringify(score))} is not a number`);
  if (score < 0 || score > 1) return unusable(`its score ${score} is not between 0 and 1`);
  if (reason !== null && typeof reason !== 'string') return unusable('its reason is not a string');
  if (reason !== null && reason.length > MAX_REASON_LENGTH)
    return unusable(`its reason has ${reason.length} characters, more than ${MAX_REASON_LENGTH}`);
  return scored(score, reason);
}

function unusable(why: string): Score {
  return unscored('unusable_response', `the response of the scorer is invalid: ${why}`);
}
