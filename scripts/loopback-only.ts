import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net, { BlockList, isIP } from 'node:net';

// node --import ./scripts/loopback-only.ts …: limits a process to this machine. Name lookups fail except for localhost, and
// connections to other addresses are refused before they start. For runs in which a fuzzer makes up addresses for the service
// to call.

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

function isLoopback(host: string): boolean {
  const family = isIP(host);
  return family === 0 ? host === 'localhost' : loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

function refusal(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} is not on this machine`), { code: 'ENOTFOUND', hostname: host });
}

/** `lookup`, `resolve4` and so on of `node:dns`: with a callback, or with a promise. */
function refuseQueries(functions: object, { promises }: { promises: boolean }): void {
  for (const name of Object.getOwnPropertyNames(functions)) {
    if (!/^(lookup|resolve|reverse)/.test(name)) continue;
    const original: unknown = Reflect.get(functions, name);
    if (typeof original !== 'function') continue;
    Reflect.set(functions, name, function query(this: unknown, host: string, ...rest: unknown[]) {
      if (isLoopback(host)) return original.call(this, host, ...rest);
      if (promises) return Promise.reject(refusal(host));
      const callback = rest.at(-1);
      if (typeof callback === 'function') process.nextTick(callback, refusal(host));
      return undefined;
    });
  }
}

refuseQueries(dns, { promises: false });
refuseQueries(dns.Resolver.prototype, { promises: false });
refuseQueries(Object.getPrototypeOf(dns.Resolver.prototype), { promises: false });
refuseQueries(dns.promises, { promises: true });
refuseQueries(dns.promises.Resolver.prototype, { promises: true });
refuseQueries(Object.getPrototypeOf(dns.promises.Resolver.prototype), { promises: true });

/** The host passed to `connect`, in options or after the port; undefined for this machine: a path, or none. */
function hostOf(args: readonly unknown[]): string | undefined {
  // `net.connect` passes options in a list.
  const [first, second]: unknown[] = Array.isArray(args[0]) ? args[0] : [...args];
  const host: unknown = typeof first === 'object' && first !== null ? Reflect.get(first, 'host') : second;
  return typeof host === 'string' ? host : undefined;
}

const connect: typeof net.Socket.prototype.connect = Reflect.get(net.Socket.prototype, 'connect');
Reflect.set(net.Socket.prototype, 'connect', function connectHere(this: net.Socket, ...args: unknown[]) {
  const host = hostOf(args);
  // Names are looked up first, which is refused above.
  if (host === undefined || isIP(host) === 0 || isLoopback(host)) return Reflect.apply(connect, this, args);
  return this.destroy(refusal(host));
});

syncBuiltinESMExports();
