import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { DECLARATIONS } from '../../src/domain/capabilities.ts';
import type { Declaration } from '../../src/domain/capability.ts';
import { PROVIDERS } from '../../src/models/providers/registry.ts';
import { SINGLE_PROVIDER } from '../../src/sign-in/provider-settings.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

/**
 * The variables that src/config.ts reads: the keys of its schema, those declared by capabilities, those of the models' providers, and
 * those of identity providers.
 */
const known = sorted([
  ...Object.keys(SINGLE_PROVIDER),
  'OIDC_PROVIDERS',
  ...DECLARATIONS.flatMap((each: Declaration) =>
    [each.quotas, each.retention].flatMap((declared) => Object.values(declared ?? {}).map(({ setting }) => setting)),
  ),
  ...PROVIDERS.flatMap(({ settings: { apiKey, baseUrl } }) => [apiKey, baseUrl]),
  ...[
    ...(read('src/config.ts').match(/const Environment = z\.object\(\{([\s\S]*?)\n\}\);/)?.[1] ?? '').matchAll(
      /^ {2}([A-Z_]+):/gm,
    ),
  ].map(([, name = '']) => name),
]);

test('the page on settings describes every setting and no other', () => {
  const described = [...read('docs/settings.md').matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name),
  );
  expect(known).toContain('DATABASE_URL');
  expect(sorted(described)).toEqual(known);
});

test('.env.example names every setting', () => {
  const named = [...read('.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name = '']) => name);
  expect(named).toEqual(expect.arrayContaining(known));
});
