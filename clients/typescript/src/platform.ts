// Features that Node.js 18 has, but not as globals.

type WebCrypto = typeof globalThis.crypto;

/** Web Crypto. */
export async function webCrypto(): Promise<WebCrypto> {
  if (globalThis.crypto !== undefined) return globalThis.crypto;
  // Not a literal, which browser bundlers would try to resolve.
  const name = 'node:crypto';
  const { webcrypto } = (await import(name)) as { webcrypto: WebCrypto };
  return webcrypto;
}

/** A unique key, not a secret. */
export function randomKey(): string {
  const word = () => Math.floor(Math.random() * 2 ** 32).toString(36);
  return `${Date.now().toString(36)}-${word()}${word()}${word()}`;
}

/** An environment variable, if the platform supports and permits it. */
export function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    // Deno requires a permission.
    return undefined;
  }
}
