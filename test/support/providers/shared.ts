import type { Server } from 'node:http';
import { TEST_KEY } from './models.ts';
import { listen, portOf } from './stand-in.ts';

/** The servers for the stand-ins of this process, one after the other, so that the files that need them can share a service. */
export interface SharedProviders {
  openai: Server;
  anthropic: Server;
  google: Server;
  /** The service's settings, with Mistral as a provider without credentials. */
  settings: Record<string, string>;
}

let shared: Promise<SharedProviders> | undefined;

export function sharedProviders(): Promise<SharedProviders> {
  shared ??= open();
  return shared;
}

async function open(): Promise<SharedProviders> {
  const [openai, anthropic, google] = await Promise.all([listen(), listen(), listen()]);
  for (const server of [openai, anthropic, google]) {
    server.unref();
    server.on('request', (_, response) => {
      if (server.listenerCount('request') === 1) response.writeHead(503).end();
    });
  }
  const at = (server: Server, version: string) => `http://127.0.0.1:${portOf(server)}/${version}`;
  return {
    openai,
    anthropic,
    google,
    settings: {
      OPENAI_API_KEY: TEST_KEY,
      OPENAI_BASE_URL: at(openai, 'v1'),
      OPENAI_COMPATIBLE_BASE_URL: at(openai, 'v1'),
      ANTHROPIC_API_KEY: TEST_KEY,
      ANTHROPIC_BASE_URL: at(anthropic, 'v1'),
      GOOGLE_GENERATIVE_AI_API_KEY: TEST_KEY,
      GOOGLE_GENERATIVE_AI_BASE_URL: at(google, 'v1beta'),
    },
  };
}
