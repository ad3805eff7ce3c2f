import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';

/** `oidc-provider`, a certified identity provider, in a separate process. */
export interface OidcProvider {
  issuer: string;
  clientId: string;
  /** Sets its people, by subject; all others are gone. */
  setPeople(people: Record<string, Record<string, unknown>>): Promise<void>;
  stop(): Promise<void>;
  /** Restarts at the same address, without any state. */
  start(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('./oidc-provider-main.ts', import.meta.url));

/** @param service origin of the service, which the provider sends browsers back to */
export async function startOidcProvider(service: string): Promise<OidcProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const provider: OidcProvider = {
    issuer,
    clientId: 'pms',
    async setPeople(people) {
      await fetch(`${issuer}/people`, { method: 'PUT', body: JSON.stringify(people) });
    },
    async stop() {
      if (child === undefined) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
      child = undefined;
    },
    async start() {
      child = fork(MAIN, [String(port), service], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], execArgv: [] });
      await once(child, 'message');
    },
  };
  await provider.start();
  return provider;
}
