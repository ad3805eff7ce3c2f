import { getPriority, setPriority } from 'node:os';
import process from 'node:process';
import type { MessagePort } from 'node:worker_threads';
import type { JsonValue } from '../../domain/text/json.ts';
import type { OptionFault, Score, ScoredExample } from '../evaluator.ts';
import { providerSchemaFault } from '../matching/schema-compiler.ts';
import { shorten } from '../matching/text.ts';
import {
  type EvaluatorConfig,
  evaluatorFault,
  type PreparedEvaluator,
  prepareEvaluator,
  runsCallersCode,
} from '../registry.ts';
import type { ThreadReport, ThreadTask } from './thread-task.ts';

/** Wall-clock milliseconds for all the evaluators of one example together. */
const EXAMPLE_LIMIT_MS = 1_000;

/** The same for compiling the expressions and schemas of a request. */
const CHECK_LIMIT_MS = 3_000;

/**
 * The limit for compiling them again where they are used: longer, so that what was accepted does not fail on a busy machine.
 */
const PREPARE_LIMIT_MS = 10_000;

// The entry file of the pool's threads: everything in it runs only there.

/** Total characters of options whose prepared evaluators a thread caches. The compiled form takes many times as much. */
const MAX_KEPT_CHARS = 100_000;

/**
 * The event loop, on which everything depends, takes precedence over callers' code: five steps are a third of its share on busy cores.
 */
const NICENESS = 5;

/** Prepared evaluators by their options, most recently used last. */
const kept = new Map<string, PreparedEvaluator[]>();

/** Runs a task and reports on the port. */
export function runTask({ task, port }: { task: ThreadTask; port: MessagePort }): void {
  giveWay();
  try {
    if (task.kind === 'check') check(task.evaluators, port);
    else if (task.kind === 'schemas') checkSchemas(task.schemas, port);
    else score(task, port);
  } finally {
    port.close();
  }
}

/** Only Linux has priorities per thread: elsewhere this would apply to the whole process. */
function giveWay(): void {
  if (process.platform === 'linux' && getPriority() < NICENESS) setPriority(NICENESS);
}

function check(evaluators: string, port: MessagePort): void {
  const report = (message: ThreadReport<OptionFault | null>) => port.postMessage(message);
  report({ limitMs: CHECK_LIMIT_MS });
  for (const [index, config] of configsOf(evaluators).entries()) report({ index, result: evaluatorFault(config) });
}

function checkSchemas(json: string, port: MessagePort): void {
  const report = (message: ThreadReport<OptionFault | null>) => port.postMessage(message);
  report({ limitMs: CHECK_LIMIT_MS });
  const schemas: Record<string, JsonValue>[] = JSON.parse(json);
  for (const [index, schema] of schemas.entries()) {
    const message = providerSchemaFault(schema);
    report({ index, result: message === null ? null : { option: 'schema', message: shorten(message, 500) } });
  }
}

function score({ evaluators, output, rest }: ThreadTask & { kind: 'score' }, port: MessagePort): void {
  const report = (message: ThreadReport<Score>) => port.postMessage(message);
  report({ limitMs: PREPARE_LIMIT_MS });
  const prepared = [...ready(evaluators).entries()];
  // Our own evaluators first: they always finish, and so keep their scores whatever the others do.
  prepared.sort(([, a], [, b]) => Number(runsCallersCode(a)) - Number(runsCallersCode(b)));
  report({ limitMs: EXAMPLE_LIMIT_MS });
  const { expected, ...others }: Omit<ScoredExample, 'output'> = JSON.parse(rest);
  const example = { ...others, output, expected };
  for (const [index, evaluator] of prepared)
    if (evaluator.kind === 'scoring') report({ index, result: evaluator.score(example) });
}

function configsOf(evaluators: string): EvaluatorConfig[] {
  const configs: EvaluatorConfig[] = JSON.parse(evaluators);
  return configs;
}

function ready(evaluators: string): PreparedEvaluator[] {
  const known = kept.get(evaluators);
  kept.delete(evaluators);
  const prepared = known ?? configsOf(evaluators).map(prepareEvaluator);
  let chars = evaluators.length;
  for (const other of kept.keys()) chars += other.length;
  for (const other of kept.keys()) {
    if (chars <= MAX_KEPT_CHARS) break;
    kept.delete(other);
    chars -= other.length;
  }
  kept.set(evaluators, prepared);
  return prepared;
}
