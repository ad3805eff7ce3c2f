import type { Settings } from '../config.ts';
import { createIdentityProvider, type IdentityProvider } from './identity-provider.ts';

/** The configured identity providers. */
export interface IdentityProviders {
  readonly all: readonly IdentityProvider[];
  find(id: string): IdentityProvider | undefined;
  /** @throws Error if there is none */
  get(id: string): IdentityProvider;
  close(): Promise<void>;
}

export function createIdentityProviders({
  identityProviders,
  publicUrl = '',
}: Pick<Settings['signIn'], 'identityProviders' | 'publicUrl'>): IdentityProviders {
  const all = identityProviders.map((settings) => createIdentityProvider(settings, publicUrl));
  const find = (id: string) => all.find(({ settings }) => settings.id === id);
  return {
    all,
    find,
    get(id) {
      const found = find(id);
      if (found === undefined) throw new Error(`There is no identity provider ${id}.`);
      return found;
    },
    async close() {
      await Promise.all(all.map((each) => each.close()));
    },
  };
}
