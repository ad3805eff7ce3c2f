import type { Reject } from '../../domain/improvements/candidate.ts';
import { contentKey, guard, maxLengthOf } from '../../domain/improvements/guard.ts';
import type { Trial } from '../../domain/improvements/improvement.ts';
import { readParts, type Shot, withParts, withShots, wordingOf } from '../../domain/improvements/parts.ts';
import { createDraw, shuffled } from '../../domain/improvements/random.ts';
import {
  readReflection,
  reflectionInput,
  retryMessages,
  type TriedChange,
} from '../../domain/improvements/reflection.ts';
import {
  areAllPassing,
  chooseMinibatch,
  drawParent,
  hasGained,
  kindOf,
  meanScore,
} from '../../domain/improvements/search.ts';
import { canonicalJson } from '../../domain/text/canonical-json.ts';
import { jsonIn } from '../../evaluators/matching/json-in-text.ts';
import { failsEveryCall } from '../../models/model-error.ts';
import { executionWorkflow } from '../executions/execution-workflow.ts';
import { resolveIncludes } from '../prompts/includes.ts';
import { contentOf } from '../prompts/version.ts';
import { readFeedback } from './feedback.ts';
import type { Candidate } from './improvements.ts';
import { readReflectionCall, startReflection } from './reflections.ts';
import { NEW_RUN, type Search } from './search.ts';
import { readAnswers, readExamplesAt } from './trials.ts';

/** The maximum number of calls for one proposal: a rejected answer is requested once more. */
const MAX_ASKS = 2;
/** The maximum number of scores by people that a reflection shows. */
const SHOWN_FEEDBACK = 8;

/** Draws the proposals of the next round from the state as it is now. @param count of them @param purse of each, in US dollars */
export function proposeRound(search: Search, count: number, purse: number | null): void {
  const { row, pool, candidates } = search;
  const { seed, few_shot: maxShots, minibatch } = row.request;
  const uses = new Map<number, number>();
  for (const { run } of candidates.values())
    for (const index of run.examples) uses.set(index, (uses.get(index) ?? 0) + 1);
  for (let added = 0; added < count; added += 1) {
    const number = candidates.size;
    const drawn = candidates.get(drawParent(pool, createDraw(seed, number, 'parent'))) ?? search.base;
    const kind = kindOf(number, maxShots - drawn.run.shots.length);
    const parent = kind === 'restart' ? search.base : drawn;
    const known = scoresAlong(search, parent);
    const train = row.split.train.map((_, index) => ({
      key: String(index),
      score: known.get(index) ?? null,
      uses: uses.get(index) ?? 0,
    }));
    const examples = chooseMinibatch(train, minibatch, createDraw(seed, number, 'minibatch')).map(Number);
    for (const index of examples) uses.set(index, (uses.get(index) ?? 0) + 1);
    const candidate: Candidate = {
      number,
      round: row.round + 1,
      parent: parent.number,
      kind,
      status: 'proposed',
      content: null,
      change: null,
      diagnosis: null,
      reject: null,
      run: { ...structuredClone(NEW_RUN), purse, examples, shots: kind === 'restart' ? [] : parent.run.shots },
    };
    candidates.set(number, candidate);
    search.change(candidate);
  }
}

/** The latest scores of train examples along the line of a candidate: indexes into the train part. */
function scoresAlong({ base, candidates }: Search, candidate: Candidate): Map<number, number | null> {
  const line: Candidate[] = [];
  for (
    let at: Candidate | undefined = candidate;
    at !== undefined && at.number > 0;
    at = candidates.get(at.parent ?? 0)
  )
    line.unshift(at);
  const scores = new Map((base.run.trials.train?.scores ?? []).map((score, index) => [index, score]));
  for (const { run } of line)
    for (const [at, index] of run.examples.entries()) {
      const score = run.trials.minibatch?.scores[at];
      if (score !== undefined) scores.set(index, score);
    }
  return scores;
}

/** Takes a proposal as far as it gets: it stays `proposed` while something is waited for. */
export async function advance(search: Search, candidate: Candidate): Promise<void> {
  const parent = search.candidates.get(candidate.parent ?? 0) ?? search.base;
  const { examples } = candidate.run;
  const before = await search.trial(candidate, 'parent', { part: 'train', indexes: examples, of: parent });
  if (before === undefined) return;
  if (before.state === 'broken') return skip(search, candidate, before);
  if (areAllPassing(before.scores)) return search.change(candidate, { status: 'skipped' });
  if (candidate.content === null) {
    await (candidate.kind === 'few_shot'
      ? addShot(search, candidate, parent)
      : reflect(search, candidate, parent, before));
    if (candidate.content === null) return;
  }
  const after = await search.trial(candidate, 'minibatch', { part: 'train', indexes: examples });
  if (after === undefined) return;
  if (after.state === 'broken') return skip(search, candidate, after);
  if (!hasGained(before.scores, after.scores)) return search.change(candidate, { status: 'tried' });
  const check = await search.trial(candidate, 'check', { part: 'check' });
  if (check === undefined) return;
  if (check.state === 'broken') return skip(search, candidate, check);
  search.change(candidate, { status: 'checked' });
}

function skip(search: Search, candidate: Candidate, { error }: Partial<Trial> = {}): void {
  if (error !== undefined && failsEveryCall(error.code)) {
    search.failure = error;
    search.forgetBroken(candidate);
    return;
  }
  const message = search.state.outOfMoney
    ? 'too little is left of max_cost'
    : `one of its evaluations did not complete${error === undefined ? '' : `: ${error.message}`}`;
  search.change(candidate, { status: 'skipped', reject: { code: 'not_measured', message } });
}

/** The content of a candidate: the base with its texts, and with the examples that it shows. */
async function compile(search: Search, texts: Record<string, string>, shots: readonly number[]) {
  const { row, query } = search;
  const content = withParts(contentOf(row.base), texts);
  if (shots.length === 0) return content;
  const includes = await resolveIncludes(query, content, 'prompt_name');
  const seqs = shots.flatMap((index) => row.split.train[index] ?? []);
  const shown = (await readExamplesAt(query, row, seqs)).map(
    ({ variables, expected = null }): Shot => ({
      variables,
      answer: typeof expected === 'string' ? expected : canonicalJson(expected),
    }),
  );
  return withShots(content, includes, shown);
}

const stored = ({ template, messages, tools }: Awaited<ReturnType<typeof compile>>) => ({ template, messages, tools });

async function addShot(search: Search, candidate: Candidate, parent: Candidate): Promise<void> {
  const { row, query } = search;
  const draw = createDraw(row.request.seed, candidate.number, 'shot');
  const free = shuffled([...row.split.train.keys()], draw).filter((index) => !parent.run.shots.includes(index));
  const examples = await readExamplesAt(
    query,
    row,
    free.flatMap((index) => row.split.train[index] ?? []),
  );
  const at = examples.findIndex(({ expected }) => expected !== undefined);
  const chosen = free[at];
  if (chosen === undefined)
    return search.change(candidate, {
      status: 'skipped',
      reject: { code: 'invalid', message: 'no further example has an expected output to show' },
    });
  const shots = [...parent.run.shots, chosen];
  const texts = textsOf(search, parent);
  const content = await compile(search, texts, shots);
  candidate.run.shots = shots;
  candidate.run.texts = texts;
  const length = wordingOf(content).length;
  const limit = row.request.max_length ?? maxLengthOf(row.base);
  if (length > limit)
    return search.change(candidate, {
      status: 'rejected',
      reject: { code: 'too_long', message: `the prompt would have ${length} characters; at most ${limit} are allowed` },
    });
  search.change(candidate, { content: stored(content), change: 'Shows one example more.' });
}

const textsOf = ({ row }: Search, { run }: Candidate): Record<string, string> =>
  run.texts ?? { ...readParts(row.base, row.request.parts) };

/** What was tried in earlier rounds, so that it does not depend on which proposal of a round is first. */
const earlier = ({ candidates, row }: Search) => [...candidates.values()].filter(({ round }) => round < row.round);

function historyOf(search: Search): TriedChange[] {
  return earlier(search).flatMap(({ change, status, reject, run }) => {
    if (change === null || change === '') return [];
    const { parent, minibatch, check } = run.trials;
    const result =
      reject !== null
        ? `${status}: ${reject.code}`
        : check !== undefined
          ? `${meanScore(check.scores).toFixed(3)} on other examples, where the best before had ${search.state.best.check.toFixed(3)}`
          : `${meanScore(parent?.scores ?? []).toFixed(3)} → ${meanScore(minibatch?.scores ?? []).toFixed(3)} on its examples: no better`;
    return [{ change, result }];
  });
}

/** Some of what people said, others for each proposal. */
const chosenFeedback = ({ row }: Search, { number }: Candidate): string[] =>
  shuffled(row.request.feedback?.scores ?? [], createDraw(row.request.seed, number, 'feedback')).slice(
    0,
    SHOWN_FEEDBACK,
  );

/** Has a model write new texts, and the guard check them. Leaves the content null while it is waited for, or if there is none. */
async function reflect(search: Search, candidate: Candidate, parent: Candidate, before: Trial): Promise<void> {
  const { row, query, state, deps } = search;
  const { request, base } = row;
  const { run } = candidate;
  const texts = textsOf(search, parent);
  const { variables, shown } = reflectionInput({
    content: contentOf(base),
    parts: texts,
    isRestart: candidate.kind === 'restart',
    examples: await readAnswers(query, before.evaluation),
    feedback: await readFeedback(query, row.prompt_name, chosenFeedback(search, candidate)),
    history: historyOf(search),
    keep: request.keep,
    maxLength: request.max_length ?? maxLengthOf(base),
    instructions: request.reflection.instructions ?? '',
  });
  /** @returns whether there is money for it */
  const ask = async (answer: string, fault?: Reject): Promise<boolean> => {
    const messages = fault === undefined ? [] : retryMessages(answer, fault);
    const chars = JSON.stringify([variables, messages]).length;
    const reserved = search.reserveOf(chars);
    const left = search.leftOf(candidate);
    if (left !== null && left < reserved) return false;
    const execution = await startReflection(deps, query, row, candidate.number, { variables, messages });
    state.reflectionChars = Math.max(state.reflectionChars, chars);
    run.reflections.push({ execution, reserved, cost: null });
    search.change(candidate);
    return true;
  };
  for (;;) {
    const last = run.reflections.at(-1);
    if (last === undefined) {
      if (!search.mayStart) return;
      if (await ask('')) continue;
      state.outOfMoney = true;
      return skip(search, candidate);
    }
    const found = await readReflectionCall(query, row, last.execution);
    if ('waitsFor' in found) {
      search.children.push(executionWorkflow(found.waitsFor));
      return;
    }
    if (last.cost === null) {
      last.cost = found.cost ?? last.reserved;
      state.spent.cost += last.cost;
      if (!found.isReused) state.spent.reflections += 1;
      search.change(candidate);
    }
    if (found.answer === null) {
      const { code, message } = found.error;
      if (failsEveryCall(code)) {
        // It is sent again: immediately, or when the search is retried.
        run.reflections.pop();
        search.change(candidate);
        if (search.isFromBeforeRetry(last.execution)) continue;
        search.failure = { code, message: `The reflection by ${request.reflection.model} failed: ${message}` };
        return;
      }
      return search.change(candidate, {
        status: 'skipped',
        reject: { code: 'unreadable', message: `the reflection failed: ${message}`.slice(0, 500) },
      });
    }
    const read = readReflection(jsonIn(found.answer));
    const guarded =
      'reject' in read
        ? read
        : guard(read.reflection.texts, {
            base,
            parts: request.parts,
            parent: texts,
            keep: request.keep,
            maxLength: request.max_length ?? undefined,
            shown,
            known: new Set(
              earlier(search).flatMap(({ content }) => (content ? [contentKey({ ...base, ...content })] : [])),
            ),
          });
    const { change = null, diagnosis = null } = 'reflection' in read ? read.reflection : {};
    if ('content' in guarded) {
      run.texts = readParts(guarded.content, request.parts);
      const content = await compile(search, run.texts, run.shots);
      return search.change(candidate, { content: stored(content), change, diagnosis });
    }
    if (run.reflections.length < MAX_ASKS) {
      if (!search.mayStart) return;
      if (await ask(found.answer, guarded.reject)) continue;
    }
    return search.change(candidate, { status: 'rejected', reject: guarded.reject, change, diagnosis });
  }
}
