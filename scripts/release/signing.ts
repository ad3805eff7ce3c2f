import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { goTool } from '../go-tools.ts';
import { inScratch, succeed } from './packages.ts';
import { BUNDLE, PUBLIC_KEY, SUMS } from './sums.ts';

/** The signer of a release. */
export type Signer =
  /** A Cosign private key in a file; its password is in `COSIGN_PASSWORD`. Nothing is sent to anybody. */
  | { by: 'key'; file: string }
  /** The workflow that runs this, with its identity (OpenID Connect): Sigstore's log gets an entry. */
  | { by: 'workflow' }
  /** A key created for this folder and discarded: it tests signing, but proves nothing. */
  | { by: 'throw-away key' };

/** Signs without network access. */
const OFFLINE = ['--use-signing-config=false', '--tlog-upload=false'];

/** Signs the list of checksums of a folder. */
export async function sign(folder: string, signer: Signer): Promise<void> {
  const cosign = await goTool('cosign', console.error);
  const files = ['--bundle', path.join(folder, BUNDLE), path.join(folder, SUMS)];
  if (signer.by === 'workflow') {
    await succeed(cosign, ['sign-blob', '--yes', ...files]);
  } else if (signer.by === 'key') {
    await succeed(cosign, ['sign-blob', '--yes', '--key', signer.file, ...OFFLINE, ...files]);
  } else {
    await inScratch(async (scratch) => {
      const env = { COSIGN_PASSWORD: '' };
      await succeed(cosign, ['generate-key-pair'], { cwd: scratch, env });
      await succeed(cosign, ['sign-blob', '--yes', '--key', path.join(scratch, 'cosign.key'), ...OFFLINE, ...files], {
        env,
      });
      copyFileSync(path.join(scratch, 'cosign.pub'), path.join(folder, PUBLIC_KEY));
    });
  }
}

/** The expected signature: of a public key, or of a workflow, by its identity and issuer. */
export type Signature = { key: string } | { identity: string; issuer: string };

/** @throws Error if the list of checksums of a folder has no such signature */
export async function verifySignature(folder: string, signature: Signature): Promise<void> {
  const cosign = await goTool('cosign', console.error);
  const who =
    'key' in signature
      ? ['--key', signature.key, '--insecure-ignore-tlog=true']
      : ['--certificate-identity-regexp', signature.identity, '--certificate-oidc-issuer', signature.issuer];
  await succeed(cosign, ['verify-blob', ...who, '--bundle', path.join(folder, BUNDLE), path.join(folder, SUMS)]);
}
