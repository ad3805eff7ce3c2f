// Builds, signs and verifies what a release hands out: npm run release -- --dry-run; see docs/releasing.md.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { goTool } from './go-tools.ts';
import { pythonWith } from './python.ts';
import { releaseNotes } from './release/changelog.ts';
import { CHART, git, obstacles, versionOf } from './release/checks.ts';
import { buildImages } from './release/images.ts';
import { buildPython, packNpm, succeed } from './release/packages.ts';
import { writeSboms } from './release/sbom.ts';
import { type Signer, sign, verifySignature } from './release/signing.ts';
import { PUBLIC_KEY, writeSums, wrongSums } from './release/sums.ts';

const USAGE = `usage: npm run release -- [--dry-run | --tagged] [options]
       npm run release -- --verify FOLDER [--key FILE | --identity REGEXP [--issuer URL]]

  (neither)          build and sign everything, then make the tag; pushing it publishes
  --dry-run          the same without the tag; signs with a key that is thrown away, unless one is given
  --tagged           the tag is there, on this commit: for the workflow
  --out FOLDER       where to (default: dist/release)
  --key FILE         sign with this private key of Cosign (its password: COSIGN_PASSWORD); to verify, the public key
  --keyless          sign with the identity of the workflow that runs this
  --platform NAME    of an image; may be repeated (default: linux/amd64 and linux/arm64)
  --without PART     images, chart or sboms; may be repeated`;

const root = fileURLToPath(new URL('..', import.meta.url));
const PARTS = ['images', 'chart', 'sboms'];
const { values: options } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
    tagged: { type: 'boolean', default: false },
    out: { type: 'string', default: path.join(root, 'dist/release') },
    key: { type: 'string' },
    keyless: { type: 'boolean', default: false },
    platform: { type: 'string', multiple: true, default: ['linux/amd64', 'linux/arm64'] },
    without: { type: 'string', multiple: true, default: [] },
    verify: { type: 'string' },
    identity: { type: 'string' },
    issuer: { type: 'string', default: 'https://token.actions.githubusercontent.com' },
  },
});

/** A message for the person running this, without a stack trace. */
class Refusal extends Error {}

function signer(): Signer {
  if (options.key !== undefined) return { by: 'key', file: path.resolve(options.key) };
  if (options.keyless) return { by: 'workflow' };
  if (options['dry-run']) return { by: 'throw-away key' };
  throw new Refusal('A release is signed: give --key FILE, or --keyless in a workflow.');
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const before = Date.now();
  const result = await work();
  console.log(`ok    ${name} (${((Date.now() - before) / 1000).toFixed(1)} s)`);
  return result;
}

async function build(): Promise<void> {
  const version = versionOf(root);
  const wanted = (part: string) => !options.without.includes(part);
  const signs = signer();
  const found = obstacles(root, { tagged: options.tagged, withChart: wanted('chart') });
  if (found.length > 0)
    throw new Refusal(`${version} can't be released:\n${found.map((each) => `- ${each}`).join('\n')}`);
  console.log(
    `ok    checks: clean, ${version} everywhere, in CHANGELOG.md, ${options.tagged ? 'tagged' : 'not tagged yet'}`,
  );

  const folder = path.resolve(options.out);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const epoch = git(root, 'log', '-1', '--format=%ct');

  const npm = await step('packages of npm', () => packNpm(root, version, folder));
  const [wheel = ''] = await step('packages of Python', () => buildPython(root, version, folder, epoch));
  if (wanted('chart'))
    await step('chart', async () => {
      const helm = await goTool('helm', console.error);
      await succeed(helm, ['package', path.join(root, CHART), '--destination', folder], {
        env: { SOURCE_DATE_EPOCH: epoch },
      });
    });
  copyFileSync(path.join(root, 'openapi.json'), path.join(folder, `openapi-${version}.json`));
  const notes = releaseNotes(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'), version);
  writeFileSync(path.join(folder, 'release-notes.md'), notes);
  const platforms = options.platform;
  const images = wanted('images')
    ? await step(`images for ${platforms.join(', ')}`, () => buildImages(root, version, folder, { platforms, epoch }))
    : [];
  if (wanted('sboms'))
    await step('bills of materials', async () => {
      const python = await pythonWith(path.join(root, 'clients/python/requirements-dev.txt'));
      await writeSboms(folder, version, { images, npm, wheel, python });
    });
  await step('checksums', () => writeSums(folder));
  await step(`signature by ${signs.by === 'key' ? 'the given key' : `the ${signs.by}`}`, () => sign(folder, signs));

  for (const file of readdirSync(folder).sort())
    console.log(`${String(statSync(path.join(folder, file)).size).padStart(12)}  ${file}`);
  if (options['dry-run'] || options.tagged) return;
  git(root, 'tag', '--annotate', `v${version}`, '--message', version);
  console.log(`The tag v${version} is made. Pushing it publishes: git push origin v${version}`);
}

async function verify(folder: string): Promise<void> {
  const { key, identity, issuer } = options;
  await verifySignature(
    folder,
    identity === undefined ? { key: key ?? path.join(folder, PUBLIC_KEY) } : { identity, issuer },
  );
  const wrong = await wrongSums(folder);
  if (wrong.length > 0) throw new Refusal(wrong.join('\n'));
  console.log(`${folder}: the checksums are signed, and every file is what they say.`);
  if (key === undefined && identity === undefined)
    console.log('The key came with the files, so this says nothing of who signed: give --key or --identity for that.');
}

try {
  const unknown = options.without.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Refusal(`--without ${unknown}: is none of ${PARTS.join(', ')}`);
  if (options.help) console.log(USAGE);
  else if (options.verify !== undefined) await verify(path.resolve(options.verify));
  else await build();
} catch (error) {
  console.error(error instanceof Refusal ? error.message : error);
  process.exitCode = 1;
}
