import { createHash } from 'node:crypto';
import { canonicalJson } from '../domain/text/canonical-json.ts';
import type { JsonValue } from '../domain/text/json.ts';
import type { EvaluatorConfig } from './registry.ts';

const LENGTH = 12;

/**
 * A short hash of an evaluator's settings, which changes if scores may change. Name, weight, secret and saved version do not count.
 * @returns 12 hexadecimal digits
 */
export function evaluatorVersion(config: EvaluatorConfig): string {
  // Converting to JSON drops omitted settings.
  const settings: Record<string, JsonValue> = JSON.parse(
    JSON.stringify({ ...config, name: '', weight: 1, secret: '', saved_version: undefined }),
  );
  return createHash('sha256').update(canonicalJson(settings)).digest('hex').slice(0, LENGTH);
}
