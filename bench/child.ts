import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** A helper process of a benchmark that answers questions. */
export interface Helper {
  pid: number;
  /** @throws Error reported by the process */
  ask<T>(question: unknown, answer: z.ZodType<T>): Promise<T>;
  stop(): Promise<void>;
}

const Reply = z.union([z.object({ answer: z.unknown() }), z.object({ error: z.string() })]);

/** The environment without variables that would configure the service or npm. */
export function plainEnvironment(added: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'XDG_CACHE_HOME', 'NODE_EXTRA_CA_CERTS'];
  return { ...Object.fromEntries(kept.map((name) => [name, process.env[name]])), ...added };
}

/** A benchmark that fails leaves no process behind. */
export function endWithThisProcess(child: ChildProcess): void {
  const end = () => void child.kill('SIGTERM');
  process.once('exit', end);
  child.once('exit', () => process.removeListener('exit', end));
}

/** Ends a process and waits for its end; forcibly after 20 s. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await exited;
  clearTimeout(timer);
}

/**
 * Starts a script of this folder as a process; see `answerQuestions`.
 * @throws Error if it ends before it is ready
 */
export async function startHelper(script: string, args: readonly string[] = []): Promise<Helper> {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [...args], {
    env: plainEnvironment(),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  endWithThisProcess(child);
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${script} ended.`);
  });
  ended.catch(() => {});
  await Promise.race([once(child, 'message'), ended]);
  return {
    pid: child.pid ?? 0,
    async ask(question, answer) {
      const replied = once(child, 'message');
      child.send({ question });
      const [message] = await Promise.race([replied, ended]);
      const reply = Reply.parse(message);
      if ('error' in reply) throw new Error(reply.error);
      return answer.parse(reply.answer);
    },
    stop: () => endProcess(child),
  };
}

/** The other side of `startHelper`: reports readiness and answers questions one by one until it is terminated. */
export function answerQuestions<Q>(question: z.ZodType<Q>, answer: (asked: Q) => Promise<unknown>): void {
  const send = (message: unknown) => void process.send?.(message);
  process.on('message', (message) => {
    const asked = z.object({ question }).parse(message).question;
    answer(asked).then(
      (value) => send({ answer: value }),
      (error: unknown) => send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit());
  send('ready');
}

/** Starts a script of the project that prints its port as its first line. */
export async function startListening(
  script: string,
  args: readonly string[],
): Promise<{ port: number; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url)), ...args], {
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithThisProcess(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { port: z.coerce.number().int().parse(line), stop: () => endProcess(child) };
}
