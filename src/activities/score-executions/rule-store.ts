import type { WorkspaceDatabase } from '../../db/database.ts';
import { isRefusedByDatabase } from '../../db/errors.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import { ApiError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { callsModel, type EvaluatorConfig } from '../../evaluators/registry.ts';
import { evaluatorVersion } from '../../evaluators/version.ts';
import type { Release } from '../../lib/fair-semaphore.ts';
import { GroupedWrites } from '../../lib/grouped-writes.ts';
import type { JudgementToStore, StoredJudgement } from '../../services/evaluations/run/judgements-store.ts';
import type { OpenItem } from '../../services/rules/open-item.ts';
import {
  type JudgementKey,
  loadRuleJudgement,
  type NewRuleJudgement,
  storeRuleJudgements,
} from '../../services/rules/rule-judgements.ts';
import type { RuleSpec, RuleSubject, RuleWork } from '../../services/rules/rule-work.ts';
import { type ItemResult, storeResults } from '../../services/rules/store-results.ts';
import { type JudgementStore, NOT_STORABLE, storedJudgements, storeJudgementOr } from '../scoring/stored-results.ts';

/** Executions or traces, and scores, per transaction: a few milliseconds of work in this process. */
const MAX_GROUP = 200;

/** An evaluator as named in judgements and scores. */
export interface NamedEvaluator {
  version: string;
  /** The judge's model; null if it calls none. */
  model: string | null;
}

/** Stores the results of executions or traces in groups, as `storedInGroups` does. */
export class RuleStore implements JudgementStore {
  readonly evaluators: ReadonlyMap<string, NamedEvaluator>;
  readonly #db: WorkspaceDatabase;
  readonly #rule: string;
  readonly #workId: string;
  readonly #day: string;
  readonly #giveUp: AbortSignal;
  readonly #judgements: GroupedWrites<NewRuleJudgement>;
  readonly #results: GroupedWrites<ItemResult>;
  /** The items in progress. */
  readonly #items = new Map<number, Pick<OpenItem, 'subject' | 'revision'>>();
  #failed = 0;

  /** @param takeTurn waits until the workspace may store a group */
  constructor(
    db: WorkspaceDatabase,
    work: RuleWork,
    { name, day, evaluators }: RuleSpec,
    takeTurn: () => Promise<Release>,
    giveUp: AbortSignal,
  ) {
    this.#db = db;
    this.#rule = name;
    this.#workId = work.id;
    this.#day = day;
    this.#giveUp = giveUp;
    this.evaluators = new Map(evaluators.map((config) => [config.name, named(config)]));
    this.#judgements = storedJudgements((judgements) => storeRuleJudgements(db.query, judgements), giveUp);
    this.#results = new GroupedWrites({
      async write(results) {
        // Scores are stored even if the wait for a turn is given up.
        const endTurn = await takeTurn().catch(() => () => {});
        try {
          await untilDatabaseAnswers(() => storeResults(db, work, day, results), giveUp);
        } finally {
          endTurn();
        }
      },
      isRefusal,
      sizeOf: ({ scores }) => 1 + scores.length,
      maxSize: MAX_GROUP,
    });
  }

  /** Executions or traces of this attempt that lack a score. */
  get failed(): number {
    return this.#failed;
  }

  begin({ seq, subject, revision }: Pick<OpenItem, 'seq' | 'subject' | 'revision'>): void {
    this.#items.set(seq, { subject, revision });
  }

  end(seq: number): void {
    this.#items.delete(seq);
  }

  #itemOf(seq: number) {
    const item = this.#items.get(seq);
    if (item === undefined) throw new Error('An item that is not being worked on.');
    return item;
  }

  /** What an item is about. */
  subjectOf(seq: number): RuleSubject {
    return this.#itemOf(seq).subject;
  }

  /** A trace that has changed is judged again. */
  #keyOf(seq: number, evaluator: string): JudgementKey {
    const { subject, revision } = this.#itemOf(seq);
    const version = this.evaluators.get(evaluator)?.version ?? '';
    return {
      subject,
      rule: this.#rule,
      evaluator,
      version: revision === undefined ? version : `${version}@${revision}`,
    };
  }

  loadJudgement(seq: number, evaluator: string): Promise<StoredJudgement | undefined> {
    const key = this.#keyOf(seq, evaluator);
    return untilDatabaseAnswers(() => loadRuleJudgement(this.#db.query, key), this.#giveUp);
  }

  /** @throws NotStorableError if the database rejects the response; its cost is stored anyway */
  async storeJudgement(seq: number, evaluator: string, judgement: JudgementToStore): Promise<void> {
    const model = this.evaluators.get(evaluator)?.model ?? '';
    const paid = { workId: this.#workId, day: this.#day, model, outcomeId: newId() };
    const key = this.#keyOf(seq, evaluator);
    await storeJudgementOr((stored) => this.#judgements.write({ ...key, ...paid, judgement: stored }), judgement);
  }

  /** Completes an item. If its scores cannot be stored, for example because they do not match their score definition, it fails. */
  async storeResult(result: ItemResult): Promise<void> {
    if (result.error !== null) this.#failed += 1;
    try {
      await this.#results.write(result);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const reason = error instanceof ApiError ? { code: error.code, message: error.message } : NOT_STORABLE;
      await this.#results.write({ ...result, scores: [], error: reason });
    }
  }
}

const isRefusal = (error: unknown) => error instanceof ApiError || isRefusedByDatabase(error);

const named = (config: EvaluatorConfig): NamedEvaluator => ({
  version: evaluatorVersion(config),
  model: callsModel(config) ? config.model : null,
});
