import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { type Settings, SettingsError } from '../config.ts';
import { listen, type RunningServer } from '../http/http-server.ts';
import { runProcess } from '../lifecycle.ts';
import { createPayloadCodec } from '../temporal/payload-codec.ts';
import { createAccess } from './access.ts';
import { createCodecServer } from './codec-server.ts';

const GRACE_MS = 1_000;

/** The origins of Temporal's UI, as browsers send them in `Origin`. */
function originsOf({ uiUrl, uiPort }: Settings['temporal']): string[] {
  if (uiUrl !== undefined) return [new URL(uiUrl).origin];
  return [`http://127.0.0.1:${uiPort}`, `http://localhost:${uiPort}`];
}

/**
 * Serves the remote codec requests of Temporal's UI and CLI.
 * @throws SettingsError if keys or token are missing
 * @throws PortError
 */
export async function startCodecServer(settings: Settings): Promise<RunningServer> {
  const { host, codecServer, temporal, trustProxy, connections } = settings;
  const { port, token } = codecServer;
  const { payloadKeys } = temporal;
  if (payloadKeys === undefined || token === undefined)
    throw new SettingsError(
      [
        payloadKeys === undefined && 'TEMPORAL_PAYLOAD_KEYS: set the keys that the codec server decrypts with',
        token === undefined && 'CODEC_SERVER_TOKEN: set it; anyone who knows it can decrypt',
      ].filter((problem) => problem !== false),
    );
  const parts = {
    codec: createPayloadCodec(payloadKeys),
    access: createAccess(token, trustProxy),
    origins: originsOf(temporal),
  };
  return listen(createCodecServer(parts), { host, port, setting: 'CODEC_SERVER_PORT', connections, trustProxy });
}

/** `npm run codec-server` */
async function main(): Promise<void> {
  await runProcess('codec-server', async (settings, log, parts) => {
    const server = await startCodecServer(settings);
    parts.add('the codec server', () => server.close(GRACE_MS));
    log.info({ port: server.port, origins: originsOf(settings.temporal) }, 'the codec server listens');
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) void main();
