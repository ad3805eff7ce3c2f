import { SecretDialog } from '../../components/secret-dialog.tsx';
import { pluralWord } from '../../format.ts';
import type { newSecrets } from './evaluator.ts';

/** Shows the new secrets of the caller's own scorers. */
export function SecretsDialog({ secrets, onClose }: { secrets: ReturnType<typeof newSecrets>; onClose: () => void }) {
  return (
    <SecretDialog
      title={pluralWord(secrets.length, 'The signing secret of the scorer', 'The signing secrets of the scorers')}
      secret={
        secrets.length === 1
          ? (secrets[0]?.secret ?? '')
          : secrets.map(({ name, secret }) => `${name}: ${secret}`).join('\n')
      }
      what="signing secret"
      onClose={onClose}
    />
  );
}
