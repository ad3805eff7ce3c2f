import { setTimeout as delay } from 'node:timers/promises';
import type { Cipher } from '../../domain/cipher.ts';
import { publicId } from '../../domain/ids.ts';
import { signatureHeaders } from '../../domain/webhooks/webhook-signature.ts';
import { type Example, type Score, ScoringError, unscored } from '../../evaluators/evaluator.ts';
import { type PreparedEndpoint, prepareEvaluator } from '../../evaluators/registry.ts';
import { MAX_SCORER_RESPONSE_BYTES } from '../../evaluators/types/http.ts';
import type { Outbound, OutboundResult } from '../../outbound/outbound.ts';
import { type EvaluatorSecrets, openSecrets } from '../../services/evaluations/creation/evaluator-secrets.ts';
import type { RunSpec } from '../../services/evaluations/creation/run-spec.ts';
import type { Slots } from '../../temporal/slots.ts';
import type { ExampleInProgress } from './example-in-progress.ts';
import type { Judgements } from './judges.ts';
import { RunFailedError } from './run-failed-error.ts';

/** The same number as for a judge's model: attempts and waits together last over half a minute. */
const MAX_TRIES = 6;
const FIRST_WAIT_MS = 1_000;
/** Statuses below 500 that are worth a retry. */
const PASSING = new Set([408, 425, 429]);

export interface ScoringEndpointsDeps {
  /** Its request timeout is above every `timeout_ms`. */
  outbound: Outbound;
  slots: Pick<Slots, 'enterScoring'>;
  cipher: Cipher;
  /** Wait before the second attempt; doubles for each further wait. Default: 1 s */
  firstWaitMs?: number;
}

/** The run whose examples are scored. */
export interface ScoredRun extends Pick<RunSpec, 'evaluators' | 'evaluatorSecrets'> {
  /** Public id. */
  workspace: string;
  /** UUID: the runs of a workspace take turns. */
  evaluationId: string;
  /** Names a request by the number of its example. Default: by the evaluation. */
  named?: (seq: number) => RequestName;
}

/** Identifies a request to a scorer; a repeated request has the same name. */
export interface RequestName {
  /** Without the name of the scorer. */
  id: string;
  headers: Record<string, string>;
}

/** A scorer finally failed. */
class ScorerFailedError extends Error {}

/**
 * The evaluators of a run that call one of the caller's endpoints. Nothing is stored between a response and the example's scores,
 * so if a worker crashes, the same request may be sent again with the same id.
 */
export class ScoringEndpoints {
  readonly #deps: ScoringEndpointsDeps;
  readonly #run: ScoredRun;
  readonly #endpoints: PreparedEndpoint[];
  readonly #secrets: EvaluatorSecrets;
  /** The last failure of each scorer; cleared when a request succeeds. */
  readonly #failures = new Map<string, string>();

  /** @throws RunFailedError if the secrets cannot be decrypted */
  constructor(deps: ScoringEndpointsDeps, run: ScoredRun) {
    this.#deps = deps;
    this.#run = run;
    const endpoints = run.evaluators.filter(({ type }) => type === 'http');
    this.#endpoints = endpoints.map(prepareEvaluator).filter((evaluator) => evaluator.kind === 'endpoint');
    this.#secrets = secretsOf(deps.cipher, run);
  }

  get count(): number {
    return this.#endpoints.length;
  }

  /** Scorers whose last request failed, with the reason, for operators. */
  get troubles(): string[] {
    return [...this.#failures].map(([name, error]) => `the scorer "${name}" failed: ${error}`);
  }

  /** @throws RunFailedError; a signal's reason or an `AbortError` if the example was given up */
  async score(progress: ExampleInProgress, example: Example): Promise<Judgements> {
    const scores = new Map<string, Score>();
    for (const endpoint of this.#endpoints) {
      try {
        scores.set(endpoint.name, await this.#ask(endpoint, progress, example));
      } catch (error) {
        if (error instanceof ScoringError) scores.set(endpoint.name, unscored(error.code, error.message));
        else if (error instanceof ScorerFailedError) return { scores, error: failureOf(endpoint, error.message) };
        else throw error;
      }
    }
    return { scores };
  }

  /** @throws ScorerFailedError, ScoringError */
  async #ask(endpoint: PreparedEndpoint, progress: ExampleInProgress, example: Example): Promise<Score> {
    const { firstWaitMs = FIRST_WAIT_MS } = this.#deps;
    const body = Buffer.from(endpoint.request(example));
    for (let tries = 1; ; tries += 1) {
      const { status, body: response, error, refused } = await this.#post(endpoint, body, progress);
      if (error === null) {
        this.#failures.delete(endpoint.name);
        return endpoint.read(response ?? '');
      }
      this.#failures.set(endpoint.name, error);
      if (refused) throw new RunFailedError({ ...failureOf(endpoint, error), code: 'scorer_refused' });
      if (tries === MAX_TRIES || !mayPass(status)) throw new ScorerFailedError(error);
      const waitMs = firstWaitMs * 2 ** (tries - 1) * (0.75 + Math.random() / 2);
      await delay(waitMs, undefined, { signal: progress.stops.stopWaiting });
    }
  }

  /** Sends the request once, within the limits on those in flight. */
  async #post(
    { name, url, timeoutMs }: PreparedEndpoint,
    body: Buffer,
    { seq, stops }: ExampleInProgress,
  ): Promise<OutboundResult> {
    const { outbound, slots } = this.#deps;
    const { workspace, evaluationId } = this.#run;
    const evaluation = publicId('evaluation', evaluationId);
    const named = this.#run.named?.(seq) ?? { id: `${evaluation}/${seq}`, headers: { 'X-Evaluation-Id': evaluation } };
    const id = `${named.id}/${name}`;
    const secret = this.#secrets.get(name);
    if (secret === undefined) throw new Error('A scorer without a secret.');
    const release = await slots.enterScoring(workspace, new URL(url).host, evaluationId, stops.stopWaiting);
    try {
      const headers = {
        'User-Agent': 'prompt-management-service',
        ...signatureHeaders({ body, id, sentAt: new Date(), secrets: [secret] }),
        ...named.headers,
        'X-Scoring-Id': id,
      };
      return await outbound.post({
        url,
        headers,
        body,
        timeoutMs,
        maxKeptBytes: MAX_SCORER_RESPONSE_BYTES,
        signal: stops.giveUp,
      });
    } finally {
      release();
    }
  }
}

/** Whether a request that failed with this status is worth a retry. */
function mayPass(status: number | null): boolean {
  return status === null || status >= 500 || PASSING.has(status);
}

function failureOf({ name }: PreparedEndpoint, error: string): { code: string; message: string } {
  return { code: 'scorer_failed', message: `The scorer "${name}": ${error}` };
}

/** @throws RunFailedError */
function secretsOf(cipher: Cipher, { evaluatorSecrets }: ScoredRun): EvaluatorSecrets {
  try {
    return openSecrets(cipher, evaluatorSecrets);
  } catch {
    throw new RunFailedError({
      code: 'secret_unreadable',
      message: 'The secrets of the scorers were encrypted with a key that the service no longer has.',
    });
  }
}
