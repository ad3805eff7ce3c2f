import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, type Context } from '@temporalio/activity';
import type { Database } from '../../db/database.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import { guessCost, observeCost } from '../../domain/evaluations/cost-estimate.ts';
import { publicId } from '../../domain/ids.ts';
import { durationText } from '../../domain/text/duration-text.ts';
import { createFairSemaphore } from '../../lib/fair-semaphore.ts';
import type { BatchState } from '../../models/batches/batched-models.ts';
import { SubmissionError } from '../../models/batches/submission-error.ts';
import type { Models } from '../../models/model.ts';
import { failsEveryCall, ModelError } from '../../models/model-error.ts';
import {
  type BatchError,
  beginSettling,
  beginSubmission,
  endBatch,
  markSubmitted,
  markUnknown,
  prepareAgain,
  recordPoll,
  requestCancel,
  withdrawBatch,
} from '../../services/batches/change-batch.ts';
import { failLeftovers } from '../../services/batches/leftovers.ts';
import { giveUpTime, type LoadedBatch, loadBatch, refOf } from '../../services/batches/load-batch.ts';
import { heldByOthers, isKnownBatch } from '../../services/batches/other-batches.ts';
import { failRun, pauseRunForBudget } from '../../services/evaluations/control/run-control.ts';
import type { OnEvaluationEnd } from '../../services/evaluations/evaluation-metrics.ts';
import { costOfRun, lastCosts } from '../../services/evaluations/run/costs.ts';
import type { Slots } from '../../temporal/slots.ts';
import { isAttemptCurrent } from '../still-ours.ts';
import { BatchMoney } from './batch-money.ts';
import { type BuiltFile, buildFile } from './build-file.ts';
import { settleResults } from './settle.ts';

export interface AdvanceDeps {
  db: Database;
  models: Models;
  slots: Slots;
  /** Called for each evaluation that ends here. */
  onEvaluationEnd?: OnEvaluationEnd;
}

/** One attempt to advance a batch. */
export interface Attempt {
  context: Context;
  signal: AbortSignal;
  /** Tells operators what it is doing. */
  tell: (what: string) => void;
  /** Signals the run's workflow that the provider has the batch or that the batch has ended. */
  tellRun: (batch: LoadedBatch) => Promise<unknown>;
}

/** Concurrent builds of files and settlements of downloads in a process. One workspace cannot take every slot. */
const AT_WORK = { total: 3, perKey: 2 };
const TURN_MS = 2_000;
/** Poll interval: a fifth of the time waited so far, within these bounds. */
const WAIT = { least: 1_000, most: 10 * 60_000 };
const CANCEL_WAIT = { least: 1_000, most: 60_000 };
/** A poll that takes longer is aborted. */
const POLL_TIMEOUT_MS = 20_000;
/** A search goes through many batches. */
const FIND_MS = 5 * 60_000;
/** Time for uploading a file and submitting it. It is not aborted early: whether the provider got it would be unknown. */
const SUBMIT_MS = 60 * 60_000;
/** Delay until the second search for a batch that was not found. */
const SECOND_POLL_MS = 5_000;
/** A batch that was not submitted within this time may have been, and its row restored from an earlier backup. */
const SUBMITTED_WITHIN_MS = 2 * 60_000;
/** How long the run waits for a canceled batch to end, and for the results of an ended one. */
const CANCEL_GRACE_MS = 60 * 60_000;
const SETTLE_GRACE_MS = 24 * 60 * 60_000;

/** Ends the attempt; the next one continues after a while. @param why the reason for operators */
function later(why: string, afterMs: number): ApplicationFailure {
  const message = `${why}; continues in ${durationText(Math.max(1_000, Math.round(afterMs / 1000) * 1000))}`;
  return ApplicationFailure.create({ type: 'waits', message, nextRetryDelay: afterMs });
}

const waitSince = (time: number, { least, most } = WAIT) => Math.min(most, Math.max(least, (Date.now() - time) / 5));
const errorOf = ({ code, message }: BatchError): BatchError => ({ code, message });

/**
 * The end state of a batch with stored results, by its state at the provider. If the provider reports it as in progress again, it
 * has its results all the same.
 */
const END_OF = {
  ended: 'completed',
  in_progress: 'completed',
  expired: 'expired',
  canceled: 'canceled',
  rejected: 'failed',
} as const satisfies Record<BatchState['status'], string>;

/** The provider may have run it with an unknown result: calling its examples again might pay for them twice. */
const UNKNOWN_RESULT: BatchError = {
  code: 'batch_unknown',
  message:
    'The provider may have run the call of this example in a batch that can no longer be read. Retry the evaluation to call it again.',
};

/**
 * @returns a function that takes a batch from its current state to its end. Each wait is a thrown failure that is retried after
 * that time, so that it adds no event to the workflow's history; each attempt relies only on the row. So after a restart the next attempt continues from
 * its status: a batch that may have been submitted is first looked for at the provider.
 */
export function createBatchAdvancer({ db, models, slots, onEvaluationEnd }: AdvanceDeps) {
  const { system } = db;
  const { query } = system;
  const places = createFairSemaphore(AT_WORK);

  const look = (signal: AbortSignal, ms = POLL_TIMEOUT_MS) => AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  const store = <T>(statement: () => Promise<T>, { signal }: Attempt) => untilDatabaseAnswers(statement, signal);

  /** Converts an error of a provider request to a ModelError; a hung request is aborted after {@link POLL_TIMEOUT_MS}. */
  function troubleOf(error: unknown, { signal }: Attempt): ModelError {
    if (error instanceof ModelError) return error;
    if (signal.aborted || !(error instanceof Error) || !['TimeoutError', 'AbortError'].includes(error.name))
      throw error;
    return new ModelError('model_timeout', 'The provider did not respond in time.');
  }

  async function withPlace<T>({ workspaceId }: LoadedBatch, work: () => Promise<T>): Promise<T> {
    const release = places.tryAcquire(publicId('workspace', workspaceId));
    if (release === undefined) throw later('waits until this process has room for it', TURN_MS);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Gives up a batch that can no longer be read or found: its examples are not called again automatically. */
  async function giveUpUnread(batch: LoadedBatch, error: BatchError, attempt: Attempt): Promise<void> {
    await failLeftovers(query, batch, UNKNOWN_RESULT, attempt.signal);
    if (batch.status === 'in_progress') await store(() => beginSettling(system, batch), attempt);
    await store(() => endBatch(system, batch, 'failed', { error }), attempt);
  }

  async function find(batch: LoadedBatch, { signal }: Attempt) {
    const sought = {
      since: batch.createdAt,
      items: batch.items,
      isKnown: (id: string) => untilDatabaseAnswers(() => isKnownBatch(query, batch, id), signal),
    };
    const found = await models.batches.find(refOf(batch), sought, look(signal, FIND_MS));
    // A batch that the provider refused for now is not the one being searched for.
    return found.kind === 'found' && found.state.error?.retryable ? ({ kind: 'absent' } as const) : found;
  }

  /** Finds out whether a batch was submitted before an attempt broke off. */
  async function submitting(batch: LoadedBatch, attempt: Attempt): Promise<void> {
    const { hasTag } = models.batches.limitsOf(refOf(batch).provider);
    attempt.tell('checks whether the provider has it');
    try {
      let sought = await find(batch, attempt);
      if (sought.kind !== 'found' && hasTag) {
        await delay(SECOND_POLL_MS, undefined, { signal: attempt.signal });
        sought = await find(batch, attempt);
      }
      if (sought.kind === 'found') {
        const { state } = sought;
        await store(() => markSubmitted(system, batch, state), attempt);
      } else if (hasTag) {
        await store(() => prepareAgain(system, batch), attempt);
      } else {
        const message =
          'The provider did not confirm this batch. The service checks whether it exists; submit it again only if it does not.';
        await store(() => markUnknown(system, batch, { code: 'batch_unknown', message }), attempt);
      }
    } catch (error) {
      const trouble = troubleOf(error, attempt);
      if (Date.now() > giveUpTime(batch)) return giveUpUnread(batch, errorOf(trouble), attempt);
      throw later(`${batch.status}, may be at the provider: ${trouble.message}`, afterTrouble(batch, trouble));
    }
  }

  const afterTrouble = ({ createdAt, submittedAt }: LoadedBatch, { retryAfterMs = 0 }: ModelError) =>
    Math.max(Math.min(retryAfterMs, 60 * 60_000), waitSince((submittedAt ?? createdAt).getTime()));

  /** The money for its calls, and whether other running batches hold part of it. */
  async function budgetFor(
    batch: LoadedBatch,
    attempt: Attempt,
  ): Promise<{ money: BatchMoney; isBudgetReserved: boolean }> {
    const { maxCostUsd, evaluationId, submissions } = batch;
    if (maxCostUsd === null || submissions > 0) {
      const noLimit = { remainingUsd: Number.POSITIVE_INFINITY, callsElsewhere: 0, known: guessCost(0) };
      return { money: new BatchMoney(noLimit), isBudgetReserved: false };
    }
    // In this order, a batch that ends in between counts twice rather than not at all.
    const others = await store(() => heldByOthers(query, batch), attempt);
    const spent = Number(await store(() => costOfRun(query, evaluationId), attempt));
    const { calls, usd } = await store(() => lastCosts(query, batch), attempt);
    const known = { ...usd.reduce((estimate, cost) => observeCost(estimate, cost), guessCost(0)), examples: calls };
    const remainingUsd = maxCostUsd - spent - others.usd;
    return {
      money: new BatchMoney({ remainingUsd, callsElsewhere: others.calls, known }),
      isBudgetReserved: others.calls > 0,
    };
  }

  /** Handles a batch without calls to submit: none in the range, or no money for one. */
  async function submitNothing(
    batch: LoadedBatch,
    { endsAt, seqTo }: BuiltFile,
    isBudgetReserved: boolean,
    attempt: Attempt,
  ): Promise<void> {
    if (endsAt !== 'budget') {
      await store(() => endBatch(system, batch, 'completed', { items: 0, seq_to: seqTo }), attempt);
      return;
    }
    const { evaluationId, round, maxCostUsd } = batch;
    if (isBudgetReserved)
      throw later(
        'waits for budget: unfinished batches may use up the rest of max_cost',
        waitSince(batch.createdAt.getTime(), CANCEL_WAIT),
      );
    await store(() => withdrawBatch(system, batch), attempt);
    await store(() => pauseRunForBudget(query, { evaluationId, round }, maxCostUsd ?? 0), attempt);
  }

  async function preparing(batch: LoadedBatch, attempt: Attempt): Promise<void> {
    if (!batch.isRunning) {
      await store(() => withdrawBatch(system, batch), attempt);
      return;
    }
    const waitMs = (batch.nextPollAt?.getTime() ?? 0) - Date.now();
    if (waitMs > 0) throw later(`refused for now: ${batch.error?.message ?? ''}`, waitMs);
    await withPlace(batch, async () => {
      attempt.tell('writes the file of its calls');
      const { money, isBudgetReserved } = await budgetFor(batch, attempt);
      const file = await buildFile({ query, models, slots }, batch, money, attempt.signal);
      try {
        if (file.items === 0) await submitNothing(batch, file, isBudgetReserved, attempt);
        else await submit(batch, file, attempt);
      } finally {
        await rm(file.path, { force: true });
      }
    });
  }

  async function submit(batch: LoadedBatch, file: BuiltFile, attempt: Attempt): Promise<void> {
    attempt.tell(`submits ${file.items.toLocaleString('en-US')} calls, ${Math.ceil(file.bytes / 1024)} KiB`);
    // The intent is stored before the provider is called.
    if (!(await store(() => beginSubmission(system, batch, file), attempt))) return;
    const begun = { ...batch, status: 'submitting' } as const;
    if (!(await isAttemptCurrent(attempt.context)))
      throw new Error('Temporal had timed this attempt out before it submitted.');
    const isLate = batch.submissions === 0 && Date.now() - batch.createdAt.getTime() > SUBMITTED_WITHIN_MS;
    if (isLate && models.batches.limitsOf(refOf(batch).provider).hasTag) return submitting(begun, attempt);
    let state: BatchState;
    try {
      state = await models.batches.submit(refOf(batch), file, AbortSignal.timeout(SUBMIT_MS));
    } catch (error) {
      if (!(error instanceof SubmissionError)) throw error;
      return refuse(begun, error, attempt);
    }
    // Whatever happens to this attempt, the provider's answer must not be lost.
    await untilDatabaseAnswers(() => markSubmitted(system, begun, state), attempt.signal);
  }

  async function refuse(batch: LoadedBatch, { cause, mayExist }: SubmissionError, attempt: Attempt): Promise<void> {
    const afterMs = afterTrouble(batch, cause);
    if (mayExist) throw later(`submitting, the provider may have it: ${cause.message}`, WAIT.least);
    if (cause.retryable && Date.now() < giveUpTime(batch)) {
      await store(() => prepareAgain(system, batch, { error: errorOf(cause), afterMs }), attempt);
      throw later(`refused for now: ${cause.message}`, afterMs);
    }
    await store(() => endBatch(system, batch, 'failed', { error: errorOf(cause) }), attempt);
    const { evaluationId, round, fallbackModels } = batch;
    if (failsEveryCall(cause.code) && (fallbackModels.length === 0 || batch.wave === 'judgements'))
      await store(async () => {
        if (await failRun(query, { evaluationId, round }, errorOf(cause))) onEvaluationEnd?.('failed');
      }, attempt);
  }

  async function unknown(batch: LoadedBatch, attempt: Attempt): Promise<void> {
    attempt.tell('searches for it at the provider');
    let why = batch.error?.message ?? '';
    try {
      const sought = await find(batch, attempt);
      if (sought.kind === 'found') {
        const { state } = sought;
        await store(() => markSubmitted(system, batch, state), attempt);
        return;
      }
      why = sought.kind === 'absent' ? 'it is not among the batches there' : 'a batch there may be this one';
    } catch (error) {
      why = troubleOf(error, attempt).message;
    }
    const error = { code: 'batch_unknown', message: `The provider may have the batch but did not confirm it: ${why}.` };
    if (Date.now() > giveUpTime(batch)) return giveUpUnread(batch, error, attempt);
    const waitMs = Math.min(waitSince(batch.createdAt.getTime()), Math.max(1_000, giveUpTime(batch) - Date.now()));
    await store(() => recordPoll(query, batch, waitMs, { error }), attempt);
    throw later(`unknown: ${why}`, waitMs);
  }

  /** The time of the next poll, at the latest when the run gives up the batch. */
  function nextLook(batch: LoadedBatch, isGivenUp: boolean): number {
    if (isGivenUp) return waitSince(giveUpTime(batch), CANCEL_WAIT);
    const since = (batch.submittedAt ?? batch.createdAt).getTime();
    return Math.min(waitSince(since), Math.max(WAIT.least, giveUpTime(batch) - Date.now()));
  }

  async function inProgress(batch: LoadedBatch, attempt: Attempt): Promise<void> {
    const { providerBatchId: id } = batch;
    if (id === null) throw new Error('A batch in progress without its id.');
    attempt.tell(`polls the provider for ${id}`);
    const isGivenUp = batch.cancelRequested || batch.isRunOver || Date.now() >= giveUpTime(batch);
    if (isGivenUp && !batch.cancelRequested) {
      await store(() => requestCancel(query, batch.id), attempt);
      // Includes the time since it was given up.
      return;
    }
    const waitMs = nextLook(batch, isGivenUp);
    const isPastGrace = isGivenUp && Date.now() > giveUpTime(batch) + CANCEL_GRACE_MS;
    let state: BatchState;
    try {
      state = await models.batches.read(refOf(batch), id, look(attempt.signal));
      if (state.status === 'in_progress' && isGivenUp && !isPastGrace)
        await models.batches.cancel(refOf(batch), id, look(attempt.signal));
    } catch (error) {
      const trouble = troubleOf(error, attempt);
      if (isPastGrace) return giveUpUnread(batch, errorOf(trouble), attempt);
      const afterMs = Math.max(waitMs, Math.min(trouble.retryAfterMs ?? 0, WAIT.most));
      await store(() => recordPoll(query, batch, afterMs, { error: errorOf(trouble) }), attempt);
      throw later(`${batch.providerStatus ?? 'in progress'}, cannot be polled: ${trouble.message}`, afterMs);
    }
    if (state.status !== 'in_progress') {
      const { error } = state;
      if (error?.retryable && !isGivenUp) {
        // The provider's queue was full: nothing ran.
        const refusal = { error, afterMs: waitSince(batch.createdAt.getTime()) };
        await store(() => prepareAgain(system, batch, { ...refusal, error: errorOf(error) }), attempt);
      } else await store(() => beginSettling(system, batch, state), attempt);
      return;
    }
    if (isPastGrace)
      return giveUpUnread(
        batch,
        { code: 'batch_unknown', message: 'The batch was canceled but did not end.' },
        attempt,
      );
    await store(() => recordPoll(query, batch, waitMs, { state }), attempt);
    const { succeeded = 0, failed = 0, total = batch.items } = state.counts ?? {};
    const text = (count: number) => count.toLocaleString('en-US');
    throw later(`${id} ${state.providerStatus}: ${text(succeeded + failed)} of ${text(total)}`, waitMs);
  }

  async function settling(batch: LoadedBatch, attempt: Attempt): Promise<void> {
    const { providerBatchId: id } = batch;
    if (id === null) throw new Error('A batch that is settled without its id.');
    await withPlace(batch, async () => {
      try {
        const state = await models.batches.read(refOf(batch), id, look(attempt.signal));
        if (state.status !== 'rejected')
          await settleResults({ query, models, slots }, batch, state, attempt.signal, (read) =>
            attempt.tell(`stores results: ${read} of ${batch.items}`),
          );
        const { status, error, files, providerStatus } = state;
        const columns = { files: [...new Set([...batch.files, ...files])], provider_status: providerStatus };
        await store(
          () => endBatch(system, batch, END_OF[status], { ...columns, error: error && errorOf(error) }),
          attempt,
        );
      } catch (error) {
        const trouble = troubleOf(error, attempt);
        // They were deleted, for example if the row was restored from an earlier backup. A second poll confirms it.
        const areGone = trouble.code === 'model_not_found' && batch.error?.code === trouble.code;
        if (areGone || Date.now() > giveUpTime(batch) + SETTLE_GRACE_MS)
          return giveUpUnread(batch, errorOf(trouble), attempt);
        const since = (batch.submittedAt ?? batch.createdAt).getTime();
        const waitMs = Math.max(WAIT.least, Math.min(trouble.retryAfterMs ?? waitSince(since, CANCEL_WAIT), WAIT.most));
        await store(() => recordPoll(query, batch, waitMs, { error: errorOf(trouble) }), attempt);
        throw later(`its results can't be read: ${trouble.message}`, waitMs);
      }
    });
  }

  const steps = { preparing, submitting, unknown, in_progress: inProgress, settling };

  return async function advance(id: string, attempt: Attempt): Promise<void> {
    let before = '';
    for (;;) {
      attempt.signal.throwIfAborted();
      const batch = await store(() => loadBatch(query, id), attempt);
      if (batch === undefined) return;
      if (before !== '' && batch.status !== 'settling') await attempt.tellRun(batch);
      if (!(batch.status in steps)) return;
      // Each step changes the row or waits.
      const now = `${batch.status} ${batch.cancelRequested} ${batch.submissions}`;
      if (now === before) throw later(`${batch.status}: nothing changed`, WAIT.least);
      before = now;
      await steps[batch.status as keyof typeof steps](batch, attempt);
    }
  };
}
