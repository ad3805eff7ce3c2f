/** A browser without pages: it keeps cookies by origin, and exposes each redirect before it is followed. */
export interface Surfer {
  /** One request. @param path an address, or a path relative to the last one */
  go(
    address: string,
    init?: { method?: string; form?: Record<string, string>; headers?: Record<string, string> },
  ): Promise<Response>;
  /** Follows redirects until one leads to `until`. @returns the last response, or the address that was not opened */
  follow(address: string, until?: (address: URL) => boolean): Promise<{ response: Response; at: URL }>;
  cookies(origin: string): Map<string, string>;
  /** Every `Set-Cookie` that was received. */
  readonly received: string[];
}

const MAX_REDIRECTS = 20;

export function createSurfer(): Surfer {
  const jars = new Map<string, Map<string, string>>();
  const received: string[] = [];
  const jarOf = (origin: string) => {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const surfer: Surfer = {
    received,
    cookies: jarOf,
    async go(address, { method = 'GET', form, headers = {} } = {}) {
      const { origin } = new URL(address);
      const jar = jarOf(origin);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(address, {
        method: form === undefined ? method : 'POST',
        redirect: 'manual',
        headers: { ...(cookie === '' ? {} : { Cookie: cookie }), ...headers },
        ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
      });
      for (const line of response.headers.getSetCookie()) {
        received.push(line);
        const [pair = '', ...attributes] = line.split(';');
        const at = pair.indexOf('=');
        const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
        const isGone = attributes.some((each) => /^\s*(max-age=0|expires=Thu, 01 Jan 1970)/i.test(each));
        if (isGone || value === '') jar.delete(name);
        else jar.set(name, value);
      }
      return response;
    },
    async follow(address, until = () => false) {
      let at = new URL(address);
      for (let redirects = 0; redirects < MAX_REDIRECTS; redirects++) {
        const response = await surfer.go(at.href);
        const location = response.headers.get('Location');
        if (response.status < 300 || response.status >= 400 || location === null) return { response, at };
        at = new URL(location, at);
        if (until(at)) return { response, at };
      }
      throw new Error(`More than ${MAX_REDIRECTS} redirects from ${address}.`);
    },
  };
  return surfer;
}
