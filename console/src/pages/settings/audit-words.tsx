import { t } from '../../strings.ts';
import type { AuditEntry } from './audit-log.tsx';

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** What an entry of the audit log says, such as "production moved from v2 to v3". Other actions are shown as the API names them. */
export function AuditWords({ action, details }: Pick<AuditEntry, 'action' | 'details'>) {
  const { label, version, previous_version: before } = details;
  if (action === 'label.moved')
    return isNumber(before)
      ? t(`${String(label)} moved from v${before} to v${String(version)}`)
      : t(`${String(label)} set to v${String(version)}`);
  if (action === 'label.removed') return t(`${String(label)} removed from v${String(version)}`);
  return (
    <span translate="no">
      {action.replace(/^.*\./, '').replaceAll('_', ' ')}
      {isNumber(version) && ` v${version}`}
      {typeof label === 'string' && ` (${label})`}
    </span>
  );
}
