import { createHash } from 'node:crypto';

/** Hashes are whole numbers from 0 up to, but excluding, this. */
const HASHES = 2 ** 32;

/**
 * Whether a rule samples an execution, always with the same result: the first 32 bits of the SHA-256 of `rule:execution`, as a
 * share of their range, are below the rate. So raising the rate never drops an execution. The same in SQL: `sampledSql`.
 * @param ruleId UUID
 * @param executionId UUID
 * @param rate 0–1
 */
export function isSampled(ruleId: string, executionId: string, rate: number): boolean {
  const hash = createHash('sha256').update(`${ruleId}:${executionId}`).digest().readUInt32BE();
  return hash < rate * HASHES;
}

/**
 * Like `isSampled`, as an SQL condition.
 * @param ruleId, executionId expressions of type `uuid`
 * @param rate an expression of type `double precision`
 */
export const sampledSql = (ruleId: string, executionId: string, rate: string): string =>
  // A rate of 1 includes all, without hashing.
  `(${rate} >= 1 or ('x' || left(encode(sha256(convert_to(${ruleId} || ':' || ${executionId}, 'UTF8')), 'hex'), 8))::bit(32)::bigint < ${rate} * ${HASHES})`;
