import path from 'node:path';
import { goTool } from '../go-tools.ts';
import { inScratch, installNpm, succeed } from './packages.ts';

/** Writes the content of a folder, or of an image archive, as SPDX JSON. */
async function scan(source: string, name: string, version: string, file: string): Promise<void> {
  const syft = await goTool('syft', console.error);
  const what = ['--source-name', name, '--source-version', version];
  // Otherwise it checks for a newer version of itself.
  const env = { SYFT_CHECK_FOR_APP_UPDATE: 'false' };
  await succeed(syft, ['scan', source, ...what, '--quiet', '--output', `spdx-json=${file}`], { env });
}

/**
 * A bill of materials for each artifact, next to it: for an image, its content; for a package, the result of installing it into an
 * empty project, from the registry of that day.
 * @param npm packages, each needing those before it
 * @returns the files
 */
export async function writeSboms(
  folder: string,
  version: string,
  { images, npm, wheel, python }: { images: readonly string[]; npm: readonly string[]; wheel: string; python: string },
): Promise<string[]> {
  const written: string[] = [];
  const write = async (source: string, name: string, artefact: string) => {
    const file = `${artefact}.spdx.json`;
    await scan(source, name, version, path.join(folder, file));
    written.push(file);
  };
  for (const image of images)
    await write(`oci-archive:${path.join(folder, image)}`, 'prompt-management-service', image);
  for (const [index, artefact] of npm.entries())
    await inScratch(async (scratch) => {
      const needed = npm.slice(0, index + 1).map((file) => path.join(folder, file));
      await write(`dir:${await installNpm(scratch, needed)}`, artefact.replace(/-[\d.]+.*$/, ''), artefact);
    });
  await inScratch(async (scratch) => {
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', scratch];
    await succeed(python, [...pip, path.join(folder, wheel)]);
    await write(`dir:${scratch}`, 'pms-client', wheel);
  });
  return written;
}
