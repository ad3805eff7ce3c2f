import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { findOnPath } from '../../src/embedded/programs/programs.ts';
import { waitFor } from '../support/wait-for.ts';

/** A folder for one test file. */
export async function scratchFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-embedded-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/**
 * Another Node.js process that runs `code` (which may await, and reports its first result with `tell(value)`) and then stays
 * until it is killed, or this process ends.
 */
export async function otherProcess(
  imports: Record<string, string>,
  code: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ told: unknown; child: ChildProcess; kill9: () => Promise<void> }> {
  const lines = Object.entries(imports).map(
    ([name, file]) =>
      `import { ${name} } from ${JSON.stringify(new URL(`../../src/embedded/${file}`, import.meta.url))};`,
  );
  const script = `${lines.join('\n')}
const tell = (value) => console.log(JSON.stringify(value));
${code}
// So that nothing is left behind if the test run ends early.
process.stdin.resume().on('end', () => process.exit());`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  child.unref();
  for (const stream of [child.stdin, child.stdout]) if ('unref' in stream) (stream as net.Socket).unref();
  return {
    told: JSON.parse(String(line)),
    child,
    async kill9() {
      child.ref();
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** An environment in which nothing ties a server to the life of its parent, as on systems without setpriv. */
export async function envWithoutSetpriv(folder: string): Promise<NodeJS.ProcessEnv> {
  for (const name of ['unshare', 'true']) {
    const file = await findOnPath(name, process.env);
    if (file) await symlink(file, path.join(folder, name));
  }
  return { ...process.env, PATH: folder };
}

/** Writes an executable shell script. */
export async function writeScript(file: string, lines: readonly string[]): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${lines.join('\n')}\n`);
  await chmod(file, 0o755);
}

/** Listens on a loopback port while `use` runs. */
export async function withTakenPort<T>(use: (port: number) => Promise<T>): Promise<T> {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  try {
    return await use(typeof address === 'object' && address ? address.port : 0);
  } finally {
    server.close();
  }
}

/** Waits until the process is gone; a zombie counts as gone. */
export async function untilGone(pid: number): Promise<void> {
  const isGone = async () => {
    try {
      process.kill(pid, 0);
      return process.platform === 'linux' && / Z /.test(await readFile(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return true;
    }
  };
  await waitFor(`process ${pid} to be gone`, isGone);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
