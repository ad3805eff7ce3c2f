import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../src/embedded/ports.ts';
import { findOnPath, run } from '../src/embedded/programs/programs.ts';
import { endProcess, endWithThisProcess, plainEnvironment } from './child.ts';

// Not a dependency of the project: the benchmark installs it from PyPI, with pinned versions, into a separate folder.

const REQUIREMENTS = fileURLToPath(new URL('litellm/requirements.txt', import.meta.url));
const CACHE = fileURLToPath(new URL('../.cache/bench/', import.meta.url));
const WORKERS = 2;
const READY_TIMEOUT_MS = 180_000;

/** LiteLLM's proxy, which calls the model and stores nothing. */
export interface Gateway {
  /** The address of its chat completions. */
  url: string;
  /** The name of its only model. */
  model: string;
  pid: number;
  stop(): Promise<void>;
}

/** Why no gateway is available for comparison. */
export interface NoGateway {
  missing: string;
}

/** @returns the folder of the installation @throws Error naming what is missing */
async function install(report: (line: string) => void): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex')
    .slice(0, 12);
  const folder = path.join(CACHE, `litellm-${hash}`);
  const marker = path.join(folder, 'installed');
  if (existsSync(marker)) return folder;
  const environment = plainEnvironment();
  const python = await findOnPath('python3', environment);
  if (python === undefined) throw new Error('there is no python3');
  report('installing LiteLLM, which takes some minutes…');
  await rm(folder, { recursive: true, force: true });
  await mkdir(CACHE, { recursive: true });
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '-r', REQUIREMENTS];
  for (const [program, args] of [
    [python, ['-m', 'venv', folder]],
    [path.join(folder, 'bin', 'python3'), pip],
  ] as const) {
    const { code, output } = await run(program, args, { env: environment });
    if (code !== 0) throw new Error(`it could not be installed: ${output.slice(-600)}`);
  }
  await writeFile(marker, '');
  return folder;
}

/**
 * Starts LiteLLM's proxy, installing it first if it is missing.
 * @param folder for its configuration and its log
 * @param modelUrl the OpenAI-compatible model behind it
 */
export async function startLiteLlm(
  folder: string,
  modelUrl: string,
  report: (line: string) => void,
): Promise<Gateway | NoGateway> {
  let home: string;
  try {
    home = await install(report);
  } catch (error) {
    return { missing: `LiteLLM was left out: ${error instanceof Error ? error.message : String(error)}` };
  }
  const [config, logFile] = [path.join(folder, 'litellm.json'), path.join(folder, 'litellm.log')];
  const model = 'bench';
  const parameters = { model: 'openai/gpt-4o-mini', api_base: modelUrl, api_key: 'x' };
  // JSON is valid YAML.
  await writeFile(config, JSON.stringify({ model_list: [{ model_name: model, litellm_params: parameters }] }));
  const port = await freePort();
  const bin = path.join(home, 'bin');
  const listen = ['--host', '127.0.0.1', '--port', String(port), '--num_workers', String(WORKERS)];
  const log = openSync(logFile, 'a');
  const child = spawn(path.join(bin, 'python3'), [path.join(bin, 'litellm'), '--config', config, ...listen], {
    cwd: folder,
    env: plainEnvironment({ LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_TELEMETRY: 'False', LITELLM_LOG: 'ERROR' }),
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  endWithThisProcess(child);
  const origin = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (child.exitCode === null && Date.now() < deadline) {
    if (await isLive(origin))
      return { url: `${origin}/v1/chat/completions`, model, pid: child.pid ?? 0, stop: () => endProcess(child) };
    await delay(200);
  }
  await endProcess(child);
  throw new Error(`LiteLLM did not start: ${(await readFile(logFile, 'utf8')).slice(-2000)}`);
}

async function isLive(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/health/liveliness`);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
