import { readFileSync } from 'node:fs';

/** The project's version, from package.json. */
export function projectVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return version;
}
