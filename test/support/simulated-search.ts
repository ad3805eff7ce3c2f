import { hash } from 'node:crypto';
import { contentKey, guard } from '../../src/domain/improvements/guard.ts';
import { wordingOf } from '../../src/domain/improvements/parts.ts';
import { createDraw, type Draw } from '../../src/domain/improvements/random.ts';
import { readReflection } from '../../src/domain/improvements/reflection.ts';
import {
  areAllPassing,
  chooseFinalist,
  chooseMinibatch,
  drawParent,
  hasGained,
  kindOf,
  meanScore,
  type PoolMember,
  stopReason,
} from '../../src/domain/improvements/search.ts';
import { type LedgerEntry, type Split, splitEntry, splitExamples } from '../../src/domain/improvements/split.ts';
import { NO_CANDIDATE, type Verdict, verdictOf } from '../../src/domain/improvements/verdict.ts';
import { templateContent } from '../../src/domain/prompts/prompt-content.ts';
import type { JsonValue } from '../../src/domain/text/json.ts';
import { compareRuns } from './comparison-reference.ts';

/** A model, its examples, and a model that rewrites its prompt. */
export interface SimulatedTask {
  template: string;
  examples: readonly { variables: Record<string, JsonValue> }[];
  /** 0..1. @param again whether it is called again instead of taking the stored answer */
  score: (template: string, example: number, again: boolean) => number;
  /** What is wrong with answers to examples. */
  reasonOf: (template: string, example: number) => string[];
  /** The answer of a reflection. @param tried the templates of earlier candidates, as in the history that a reflection is shown */
  reflect: (template: string, reasons: string[], draw: Draw, tried: ReadonlySet<string>) => JsonValue;
}

export interface SimulatedSearch {
  verdict: Verdict;
  /** The template of the finalist, or of the base without one. */
  template: string;
  split: Split;
  /** Scores on the check examples, from the base to the best candidate: what a search without a held-out part would test. */
  chosenBy: { base: number[]; best: number[] };
  /** Executions of the prompt; stored answers are not called again. */
  calls: number;
  reflections: number;
  rejected: number;
}

export interface SimulationOptions {
  seed: number;
  ledger?: ReadonlyMap<string, LedgerEntry>;
  maxProposals?: number;
  parallel?: number;
  minibatch?: number;
  patience?: number;
}

/** A number from 0 up to 1 by the hash of some texts. */
export const hashed = (...texts: (string | number)[]): number =>
  hash('sha256', texts.join('\n'), 'buffer').readUInt32BE() / 2 ** 32;

interface Candidate extends PoolMember {
  template: string;
  /** The latest score of each train example along its line. */
  line: Map<string, number>;
}

/** A search that decides everything with the rules of the service, but calls a simulated task. */
export function simulateSearch(task: SimulatedTask, options: SimulationOptions): SimulatedSearch {
  const { seed, ledger = new Map(), maxProposals = 60, parallel = 2, minibatch = 8, patience = 24 } = options;
  const split = splitExamples(
    task.examples.map((example, seq) => splitEntry(seq, example)),
    ledger,
  );
  const seqs = new Map([...split.train, ...split.check, ...split.held_out].map(({ key, seq }) => [key, seq]));
  const called = new Set<string>();
  let calls = 0;
  const run = (template: string, keys: readonly string[], again = false) =>
    keys.map((key) => {
      const id = `${key} ${template}`;
      if (again || !called.has(id)) calls += 1;
      called.add(id);
      return task.score(template, seqs.get(key) ?? 0, again);
    });
  const train = split.train.map(({ key }) => key);
  const check = split.check.map(({ key }) => key);

  const trainScores = run(task.template, train);
  const base: Candidate = {
    number: 0,
    template: task.template,
    length: task.template.length,
    scores: run(task.template, check),
    line: new Map(train.map((key, index) => [key, trainScores[index] ?? 0])),
  };
  const again = run(task.template, check, true);
  const pool: Candidate[] = [base];
  const uses = new Map<string, number>();
  const version = {
    ...templateContent(task.template),
    model: 'sandbox/echo',
    fallback_models: [],
    parameters: {},
    config: null,
  };
  const known = new Set([contentKey(version)]);
  const tried = new Set<string>();
  let reflections = 0;
  let rejected = 0;
  let proposals = 0;

  function propose(number: number, state: readonly Candidate[]): Candidate | undefined {
    const isRestart = kindOf(number, 0) === 'restart';
    const parentNumber = isRestart ? 0 : drawParent(state, createDraw(seed, number, 'parent'));
    const parent = state.find((each) => each.number === parentNumber) ?? base;
    const examples = train.map((key) => ({ key, score: parent.line.get(key) ?? null, uses: uses.get(key) ?? 0 }));
    const chosen = chooseMinibatch(examples, minibatch, createDraw(seed, number, 'minibatch'));
    for (const key of chosen) uses.set(key, (uses.get(key) ?? 0) + 1);
    const before = run(parent.template, chosen);
    if (areAllPassing(before)) return undefined;
    const reasons = chosen.flatMap((key) => task.reasonOf(parent.template, seqs.get(key) ?? 0));
    const written = write(number, isRestart ? base : parent, reasons);
    if (written === undefined) return undefined;
    known.add(contentKey(templateContent(written)));
    tried.add(written);
    const after = run(written, chosen);
    if (!hasGained(before, after)) return undefined;
    const line = new Map([...parent.line, ...chosen.map((key, index) => [key, after[index] ?? 0] as const)]);
    return { number, template: written, length: written.length, scores: run(written, check), line };
  }

  /** Reflects, and once more if the answer is rejected. */
  function write(number: number, parent: Candidate, reasons: string[]): string | undefined {
    for (const attempt of ['reflection', 'again']) {
      reflections += 1;
      const read = readReflection([task.reflect(parent.template, reasons, createDraw(seed, number, attempt), tried)]);
      const result =
        'reject' in read
          ? read
          : guard(read.reflection.texts, {
              base: version,
              parts: ['template'],
              parent: { template: parent.template },
              keep: [],
              shown: [],
              known,
            });
      if ('content' in result) return wordingOf(result.content);
      rejected += 1;
    }
    return undefined;
  }

  const bestOf = () =>
    pool.reduce((best, each) => (meanScore(each.scores) > meanScore(best.scores) ? each : best), base);
  const isDone = () =>
    stopReason({
      proposals,
      best: { number: bestOf().number, score: meanScore(bestOf().scores) },
      maxProposals,
      patience,
      isAffordable: true,
      isFinished: false,
      isPastDeadline: false,
    }) !== undefined;
  while (!isDone()) {
    const state = [...pool];
    const round = Math.min(parallel, maxProposals - proposals);
    for (let index = 1; index <= round; index += 1) {
      const candidate = propose(proposals + index, state);
      if (candidate !== undefined) pool.push(candidate);
    }
    proposals += round;
  }

  const finalist = pool.find(({ number }) => number === chooseFinalist(pool, again)?.number);
  const chosenBy = { base: [...base.scores] as number[], best: [...bestOf().scores] as number[] };
  const found = { split, chosenBy, reflections, rejected };
  if (finalist === undefined) return { ...found, verdict: NO_CANDIDATE, template: task.template, calls };
  const heldOut = split.held_out.map(({ key }) => key);
  const result = (template: string, id: string) => {
    const scores = run(template, heldOut);
    return {
      id,
      evaluators: ['right'],
      examples: heldOut.map((key, index) => {
        const score = scores[index] ?? 0;
        return { key, score, scores: { right: score }, failed: false };
      }),
    };
  };
  const comparison = compareRuns(result(task.template, 'base'), result(finalist.template, 'finalist'));
  const baseMean = (meanScore(base.scores) + meanScore(again)) / 2;
  const verdict = verdictOf({
    comparison,
    look: split.look,
    candidate: finalist.number,
    base: { evaluationId: 'base', costPerCall: null, length: base.length },
    finalist: { evaluationId: 'finalist', costPerCall: null, length: finalist.length },
    checkGain: meanScore(finalist.scores) - baseMean,
  });
  return { ...found, verdict, template: finalist.template, calls };
}

/** The ledger after a search: what it has seen, and one more verdict on the held-out examples. */
export function ledgerAfter(
  { split, verdict }: Pick<SimulatedSearch, 'split' | 'verdict'>,
  before: ReadonlyMap<string, LedgerEntry>,
): Map<string, LedgerEntry> {
  const ledger = new Map(before);
  for (const { key } of [...split.train, ...split.check])
    ledger.set(key, { seen: true, looks: ledger.get(key)?.looks ?? 0 });
  if (verdict.result !== 'no_candidate')
    for (const { key } of split.held_out) ledger.set(key, { seen: false, looks: (ledger.get(key)?.looks ?? 0) + 1 });
  return ledger;
}

const QUESTION = 'Answer {{ question }}.';
const questions = (count: number, salt: number) =>
  Array.from({ length: count }, (_, index) => ({ variables: { question: `${salt}-${index}` } }));
const changeOf = (text: string): JsonValue => ({
  diagnosis: [],
  change: 'Another wording.',
  parts: [{ part: 'template', text }],
});

/**
 * A task in which no wording is better than another: an example is always right, always wrong, or right by chance, and chance is
 * drawn again for each wording.
 */
export function taskWithoutEffect(examples: number, salt: number): SimulatedTask {
  return {
    template: QUESTION,
    examples: questions(examples, salt),
    score: (template, example, again) => {
      const kind = hashed(salt, 'kind', example);
      if (kind < 0.25) return 1;
      if (kind < 0.5) return 0;
      return hashed(salt, template, example, again ? 1 : 0) < 0.5 ? 1 : 0;
    },
    reasonOf: () => [],
    reflect: (template, _reasons, draw) =>
      changeOf(`${QUESTION} ${template.slice(QUESTION.length)}Hint ${Math.floor(draw() * 1e9)}.`.slice(0, 2_000)),
  };
}

/** A task in which the base is right in half of the examples and the rewritten prompt in more of them. @param gain 0..0.5 */
export function taskWithGain(examples: number, salt: number, gain: number): SimulatedTask {
  const better = `${QUESTION} Think.`;
  return {
    template: QUESTION,
    examples: questions(examples, salt),
    score: (template, example, again) => {
      const isRight = hashed(salt, 'kind', example) < (template === better ? 0.5 + gain : 0.5);
      // One answer in ten differs from run to run.
      const isOther = hashed(salt, template, example, again ? 1 : 0) < 0.1;
      return isRight === isOther ? 0 : 1;
    },
    reasonOf: () => [],
    reflect: () => changeOf(better),
  };
}

const RULES = 8;
const ruleOf = (rule: number) => `Rule ${'abcdefgh'[rule]}.`;

/**
 * A task with eight hidden rules: most examples are right only if the prompt has the one to three rules that they need. Reasons name
 * the missing ones. 55 % of the rewritten prompts add the rule that is named most, 15 % a filler, 10 % drop a rule, and 20 % break a rule of the guard.
 */
export function taskWithHiddenRules(examples: number, salt: number): SimulatedTask {
  const needed = Array.from({ length: examples }, (_, example) => {
    const at = hashed(salt, 'count', example);
    const count = [0.15, 0.6, 0.85].filter((share) => at >= share).length;
    return new Set(
      Array.from({ length: count }, (_, index) => Math.floor(hashed(salt, 'rule', example, index) * RULES)),
    );
  });
  const missingIn = (template: string, example: number) =>
    [...(needed[example] ?? [])].map(ruleOf).filter((rule) => !template.includes(rule));
  return {
    template: QUESTION,
    examples: questions(examples, salt),
    score: (template, example, again) =>
      hashed(salt, template, example, again ? 1 : 0) < (missingIn(template, example).length === 0 ? 0.95 : 0.05)
        ? 1
        : 0,
    reasonOf: missingIn,
    reflect(template, reasons, draw, tried) {
      const at = draw();
      if (at < 0.55) {
        const counts = new Map<string, number>();
        for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
        const added = [...counts].sort(([, a], [, b]) => b - a).map(([rule]) => `${template} ${rule}`);
        return changeOf(added.find((text) => !tried.has(text)) ?? `${template} Be exact.`);
      }
      if (at < 0.7) return changeOf(`${template} Be careful with ${Math.floor(draw() * 1e6)}.`);
      const has = Array.from({ length: RULES }, (_, rule) => ruleOf(rule)).filter((rule) => template.includes(rule));
      if (at < 0.8) return changeOf(template.replace(` ${has[Math.floor(draw() * has.length)]}`, ''));
      return changeOf(
        [template.replace('{{ question }}', 'it'), `${template} https://example.com/`, `${template} {{ other }}`, ''][
          Math.floor(draw() * 4)
        ] ?? '',
      );
    },
  };
}

/** The mean score of a template over all examples, each answered several times. */
export function trueScore(task: SimulatedTask, template: string): number {
  return meanScore(task.examples.map((_, example) => task.score(template, example, true)));
}
