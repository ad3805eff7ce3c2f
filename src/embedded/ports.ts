import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

const LOOPBACK = '127.0.0.1';
/**
 * Systems assign higher ports to outgoing connections (Linux from 32768, macOS and Windows from 49152), so one could be in use by
 * the time a server listens on it or restarts.
 */
const FROM_PORT = 15_000;
const TO_PORT = 32_000;
const ATTEMPTS = 100;

/** Whether a server could listen on this loopback port now. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = net.createServer();
  try {
    server.listen(port, LOOPBACK);
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** A loopback port that was just free, outside the range of outgoing connections; another server may take it first. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const port = randomInt(FROM_PORT, TO_PORT);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No port was free among ${ATTEMPTS} from ${FROM_PORT} to ${TO_PORT}.`);
}

/** The preferred port if it is free, otherwise another; `log` receives a message about the change. */
export async function choosePort(preferred: number | undefined, what: string, log: (line: string) => void) {
  if (preferred === undefined) return freePort();
  if (await isPortFree(preferred)) return preferred;
  const port = await freePort();
  log(`${what}: port ${preferred} is taken; using ${port}.`);
  return port;
}

/** Whether something takes connections at `host:port` now. */
export async function isListening(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const socket = net.connect({ host: hostname, port: Number(port) });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
