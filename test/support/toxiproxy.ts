import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { z } from 'zod';
import { run } from '../../src/embedded/programs/programs.ts';
import { freePorts, PROJECT, startProcess } from './processes.ts';
import { until } from './wait-for.ts';

// Toxiproxy sits between processes and simulates network faults. Go builds it from pinned modules, once.

/** Pinned in tools/toxiproxy/go.mod too. */
const VERSION = '2.5.0';
const PACKAGE = 'github.com/Shopify/toxiproxy/v2/cmd/server';

/** What a proxy does to the data passing through it: https://github.com/Shopify/toxiproxy#toxics */
export interface Toxic {
  type: 'latency' | 'reset_peer' | 'timeout' | 'slow_close' | 'bandwidth' | 'slicer' | 'limit_data';
  /** `upstream`: requests; `downstream`: responses. */
  stream: 'upstream' | 'downstream';
  attributes: Record<string, number>;
}

/** A proxy before one server. */
export interface ToxicProxy {
  port: number;
  add(toxic: Toxic): Promise<void>;
  /** Closes all connections and refuses new ones until `restore`. */
  disable(): Promise<void>;
  /** Removes all faults. Connections whose data was held back are closed by that. */
  restore(): Promise<void>;
}

export interface Toxiproxy {
  /** @param target `host:port` */
  before(name: string, target: string): Promise<ToxicProxy>;
}

/** @returns the program @throws Error if it can't be built */
async function ensureProgram(report: (line: string) => void): Promise<string> {
  const file = path.join(PROJECT, '.cache', `toxiproxy-${VERSION}`);
  if (existsSync(file)) return file;
  report('building Toxiproxy, which takes a minute the first time…');
  await mkdir(path.dirname(file), { recursive: true });
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' };
  const aside = `${file}-${process.pid}`;
  const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', '-s -w', '-o', aside, PACKAGE];
  const { code, output } = await run('go', args, { env, cwd: path.join(PROJECT, 'tools/toxiproxy') });
  if (code !== 0) throw new Error(`Toxiproxy could not be built: ${output.slice(-600)}`);
  await rename(aside, file);
  return file;
}

const Toxics = z.array(z.object({ name: z.string() }));

/** Starts Toxiproxy as a process, which `killOrphans` ends. */
export async function startToxiproxy(report: (line: string) => void = () => {}): Promise<Toxiproxy> {
  const [port = 0] = await freePorts(1);
  startProcess([await ensureProgram(report), '-host', '127.0.0.1', '-port', String(port)]);
  const origin = `http://127.0.0.1:${port}`;
  async function call(method: string, at: string, body?: object): Promise<unknown> {
    const response = await fetch(`${origin}${at}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Toxiproxy answered ${method} ${at} with ${response.status}: ${text}`);
    return text === '' || !text.startsWith('[') ? undefined : JSON.parse(text);
  }
  await until('Toxiproxy', async () => {
    await call('GET', '/version');
    return true;
  });
  return {
    async before(name, target) {
      const [listens = 0] = await freePorts(1);
      await call('POST', '/proxies', { name, listen: `127.0.0.1:${listens}`, upstream: target, enabled: true });
      const at = `/proxies/${name}`;
      return {
        port: listens,
        add: async (toxic) => void (await call('POST', `${at}/toxics`, { ...toxic, toxicity: 1 })),
        disable: async () => void (await call('POST', at, { enabled: false })),
        async restore() {
          const toxics = Toxics.parse(await call('GET', `${at}/toxics`));
          for (const toxic of toxics) await call('DELETE', `${at}/toxics/${toxic.name}`);
          await call('POST', at, { enabled: true });
        },
      };
    },
  };
}
