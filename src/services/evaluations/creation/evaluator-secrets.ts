import { z } from 'zod';
import type { Query } from '../../../db/database.ts';
import type { Cipher } from '../../../domain/cipher.ts';
import { generateSigningSecret } from '../../../domain/webhooks/webhook-signature.ts';
import type { EvaluatorConfig } from '../../../evaluators/registry.ts';
import { type EndpointRules, requireTarget } from '../../webhooks/webhooks.ts';

/** Evaluators as stored: their secrets are kept apart, so that reading the options reveals none. */
export interface SealedEvaluators {
  evaluators: EvaluatorConfig[];
  /** Encrypted; null if no evaluator has one. */
  secrets: Buffer | null;
}

/** Secrets by the name of their evaluator. */
export type EvaluatorSecrets = ReadonlyMap<string, string>;

const Secrets = z.record(z.string(), z.string());

/**
 * Moves the secrets out of evaluators, and generates the missing ones.
 * @param at path of the evaluators in the request
 * @throws ApiError `invalid_request` if an address is not allowed to be called
 */
export function sealEvaluators(rules: EndpointRules, given: readonly EvaluatorConfig[], at: string): SealedEvaluators {
  const secrets: [string, string][] = [];
  const evaluators = given.map((config, index) => {
    if (config.type !== 'http') return config;
    requireTarget(rules, config.url, `${at}.${index}.url`);
    const { secret = generateSigningSecret(), ...options } = config;
    secrets.push([config.name, secret]);
    return options;
  });
  if (secrets.length === 0) return { evaluators, secrets: null };
  const json = JSON.stringify(Object.fromEntries(secrets));
  return { evaluators, secrets: rules.cipher.encrypt(Buffer.from(json)) };
}

/** @throws Error if the key used to encrypt them is not configured */
export function openSecrets(cipher: Cipher, sealed: Buffer | null): EvaluatorSecrets {
  if (sealed === null) return new Map();
  return new Map(Object.entries(Secrets.parse(JSON.parse(cipher.decrypt(sealed).toString()))));
}

/** The evaluators with their secrets, for the one response that shows them. */
export function revealSecrets(evaluators: readonly EvaluatorConfig[], secrets: EvaluatorSecrets): EvaluatorConfig[] {
  return evaluators.map((config) => {
    const secret = secrets.get(config.name);
    return config.type === 'http' && secret !== undefined ? { ...config, secret } : config;
  });
}

/**
 * The secrets of a stored evaluation or schedule; none if it is gone.
 * @param query bound to its workspace
 */
export async function readSecrets(
  query: Query,
  cipher: Cipher,
  table: 'evaluations' | 'schedules',
  id: string,
): Promise<EvaluatorSecrets> {
  const [row] = await query((db) => db.selectFrom(table).select('evaluator_secrets').where('id', '=', id));
  return openSecrets(cipher, row?.evaluator_secrets ?? null);
}
