import { spawn } from 'node:child_process';
import process from 'node:process';

/** The program that opens an address in the browser of this user, with what goes before the address; undefined where there is none to be seen. */
function openerOf(env: NodeJS.ProcessEnv): readonly [string, ...string[]] | undefined {
  // It would open on a machine that nobody sits at.
  if (env['SSH_CONNECTION'] || env['CI']) return undefined;
  if (process.platform === 'darwin') return ['open'];
  // `start` is a part of a shell, which would read the address as a command.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : undefined;
}

/**
 * Opens a page in the browser, where that can be; whoever can't see it opens the address by hand.
 * @param address of http or https; anything else is not opened
 */
export function openInBrowser(address: string, env: NodeJS.ProcessEnv): void {
  const url = URL.parse(address);
  const [program, ...args] = openerOf(env) ?? [];
  if (program === undefined || url === null || !/^https?:$/.test(url.protocol)) return;
  const child = spawn(program, [...args, url.href], { stdio: 'ignore', detached: true, env });
  child.on('error', () => {});
  child.unref();
}
