import { homedir } from 'node:os';
import path from 'node:path';

const PROJECT = 'prompt-management-service';

/**
 * The folder for this user's downloads and builds, shared by all clones of the project: `$XDG_CACHE_HOME`, otherwise
 * `~/Library/Caches` on macOS and `~/.cache` elsewhere.
 */
export function userCacheDir(env: NodeJS.ProcessEnv): string {
  const given = env['XDG_CACHE_HOME'];
  if (given && path.isAbsolute(given)) return path.join(given, PROJECT);
  const home = env['HOME'] || homedir();
  return path.join(home, ...(process.platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']), PROJECT);
}
