// What Node.js 18 has, but not as a global.

type WebCrypto = typeof globalThis.crypto;

/** Web Crypto. */
export async function webCrypto(): Promise<WebCrypto> {
  if (globalThis.crypto !== undefined) return globalThis.crypto;
  // Not a literal: bundlers for browsers would look for it.
  const name = 'node:crypto';
  const { webcrypto } = (await import(name)) as { webcrypto: WebCrypto };
  return webcrypto;
}

/** A key that nobody else makes. It is no secret. */
export function randomKey(): string {
  const word = () => Math.floor(Math.random() * 2 ** 32).toString(36);
  return `${Date.now().toString(36)}-${word()}${word()}${word()}`;
}

/** A variable of the environment, where the platform has them and lets them be read. */
export function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    // Deno asks for a permission.
    return undefined;
  }
}
