import type { Command } from 'commander';
import { type Context, confirm, printJson, printLine } from '../context.ts';
import { type Credentials, forgetLogin, profileName, readProfiles, writeProfiles } from '../credentials.ts';
import { CliError, EXIT } from '../exit-status.ts';
import { formatTable } from '../table.ts';

/** @throws CliError if there is none with that name */
async function requireProfile(env: NodeJS.ProcessEnv, name: string): Promise<Credentials> {
  const { byName } = await readProfiles(env);
  const login = byName.get(name);
  if (login === undefined)
    throw new CliError(
      EXIT.usage,
      `There is no profile ${name}. There are: ${[...byName.keys()].join(', ') || 'none'}.`,
    );
  return login;
}

/** `pms profile list|use|remove`. */
export function addProfileCommands(profile: Command, context: Context): void {
  const { stdout, env } = context;

  profile
    .command('list')
    .description('list logins, without their keys')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const profiles = await readProfiles(env);
      const used = profileName(env, profiles);
      const all = [...profiles.byName].map(([name, { url, isOwn }]) => {
        return { name, url, key: isOwn ? 'made by pms login' : 'given', current: name === used };
      });
      if (json) return printJson(stdout, all);
      const rows = all.map(({ name, url, key, current }) => [current ? '*' : '', name, url, key]);
      printLine(stdout, formatTable(['', 'profile', 'service', 'key'], rows));
    });

  profile
    .command('use')
    .description('make a login the current one')
    .argument('<name>')
    .action(async (name: string) => {
      const { url } = await requireProfile(env, name);
      await writeProfiles({ ...(await readProfiles(env)), current: name });
      printLine(stdout, `${name} is the current profile: ${url}`);
    });

  profile
    .command('remove')
    .description('delete a login without revoking its key (pms logout --profile does both)')
    .argument('<name>')
    .option('-y, --yes', 'skip the confirmation')
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const { url } = await requireProfile(env, name);
      await confirm(context, `Delete the local key for ${url}? It stays valid.`, yes);
      await forgetLogin(env, name);
      printLine(stdout, `Deleted ${name}. Its key for ${url} is still valid.`);
    });
}
