import { spawn } from 'node:child_process';
import process from 'node:process';

/** The command that opens an address in this user's browser; undefined if there is no visible one. */
function openerOf(env: NodeJS.ProcessEnv): readonly [string, ...string[]] | undefined {
  // The browser would open on a remote or unattended machine.
  if (env['SSH_CONNECTION'] || env['CI']) return undefined;
  if (process.platform === 'darwin') return ['open'];
  // `start` belongs to a shell, which would interpret the address as a command.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : undefined;
}

/**
 * Opens a page in the browser if possible; otherwise the user opens the address manually.
 * @param address http or https; anything else is ignored
 */
export function openInBrowser(address: string, env: NodeJS.ProcessEnv): void {
  const url = URL.parse(address);
  const [program, ...args] = openerOf(env) ?? [];
  if (program === undefined || url === null || !/^https?:$/.test(url.protocol)) return;
  const child = spawn(program, [...args, url.href], { stdio: 'ignore', detached: true, env });
  child.on('error', () => {});
  child.unref();
}
