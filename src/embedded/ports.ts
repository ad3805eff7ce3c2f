import { once } from 'node:events';
import net from 'node:net';

const LOOPBACK = '127.0.0.1';

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

/** A loopback port that was free a moment ago; another process may take it first. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return address.port;
}

/** The preferred port if it is free, else another, telling `log` about the change. */
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
