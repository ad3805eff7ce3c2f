import type { CallOptions, RequestOf, ResponseOf } from './call.ts';
import type { FeedbackToken, NewScore, Score } from './generated/types.gen.ts';

type Call = <Id extends 'createScores' | 'createFeedbackToken'>(
  operation: Id,
  request: RequestOf<Id>,
  options?: CallOptions,
) => Promise<ResponseOf<Id>>;

/** What is said of executions, and of examples of evaluations. */
export class Scores {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Stores a score, or replaces the one of its `id`. Many at once: `pms.call('createScores', { body: { scores } })`. @throws PmsError */
  create(score: NewScore, options?: CallOptions): Promise<Score> {
    return this.#call('createScores', { body: score }, options) as Promise<Score>;
  }

  /**
   * A token with which a page, which has no key, scores one execution.
   * @param executionId `exec_…`
   * @param about `names` of the scores that it is good for; `expiresIn` in seconds, a day unless given
   * @throws PmsError
   */
  feedbackToken(
    executionId: string,
    { names, expiresIn }: { names: string[]; expiresIn?: number },
    options?: CallOptions,
  ): Promise<FeedbackToken> {
    const body = { names, ...(expiresIn !== undefined && { expires_in: expiresIn }) };
    return this.#call('createFeedbackToken', { path: { id: executionId }, body }, options);
  }
}
