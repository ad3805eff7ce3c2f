import { type ApiPromise, answerOf, bodyOf, type CallOptions, toRequest } from './call.ts';
import type { FeedbackToken, NewScore, Score, Scores as StoredScores } from './generated/types.gen.ts';
import type { Transport } from './transport.ts';

/** Scores of executions and of evaluation examples. */
export class Scores {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Stores a score, or replaces the one of its `id`. @throws PmsError */
  create(score: NewScore, options?: CallOptions): ApiPromise<Score> {
    return this.#send<Score>('createScores', { body: score }, options);
  }

  /** Stores up to 1,000 scores in one request, all or none. @throws PmsError */
  createMany(scores: readonly NewScore[], options?: CallOptions): ApiPromise<StoredScores> {
    return this.#send<StoredScores>('createScores', { body: { scores } }, options);
  }

  /**
   * Creates a token with which a page without a key can score one execution.
   * @param executionId `exec_…`
   * @param about `names` of the allowed scores; `expiresIn` in seconds, by default a day
   * @throws PmsError
   */
  feedbackToken(
    executionId: string,
    { names, expiresIn }: { names: string[]; expiresIn?: number },
    options?: CallOptions,
  ): ApiPromise<FeedbackToken> {
    const body = { names, ...(expiresIn !== undefined && { expires_in: expiresIn }) };
    return this.#send<FeedbackToken>('createFeedbackToken', { path: { id: executionId }, body }, options);
  }

  #send<Data>(
    operation: 'createScores' | 'createFeedbackToken',
    request: { path?: Record<string, unknown>; body: unknown },
    options: CallOptions | undefined,
  ): ApiPromise<Data> {
    const read = async (response: Response) => (await bodyOf<typeof operation>(response)) as Data;
    return answerOf(this.#transport, () => toRequest(operation, request, options), read);
  }
}
