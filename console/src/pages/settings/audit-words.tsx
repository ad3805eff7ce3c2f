import { Link } from '@tanstack/react-router';
import type { z } from 'zod';
import type * as audit from '../../../../src/api/audit-log/schema.ts';
import { MemberName } from '../../components/member-name.tsx';
import { t } from '../../strings.ts';

export type AuditEntry = z.output<typeof audit.AuditEntry>;

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** What an entry of the audit log says, such as "production moved from v2 to v3". Other actions are shown as the API names them. */
export function AuditWords({ action, details }: Pick<AuditEntry, 'action' | 'details'>) {
  const { label, version, previous_version: before } = details;
  if (action === 'label.moved')
    return isNumber(before)
      ? t(`${String(label)} moved from v${before} to v${String(version)}`)
      : t(`${String(label)} set to v${String(version)}`);
  if (action === 'label.removed') return t(`${String(label)} removed from v${String(version)}`);
  if (action === 'prompt.updated') return t(`v${String(version)} created`);
  return (
    <span translate="no">
      {action.replace(/^.*\./, '').replaceAll('_', ' ')}
      {isNumber(version) && ` v${version}`}
      {typeof label === 'string' && ` (${label})`}
    </span>
  );
}

/** Who made a change: a person by name, plus the key's name if it differs. */
export function Actor({ actor: { type, key_name, member_id, session_id } }: Pick<AuditEntry, 'actor'>) {
  const name = key_name ?? type;
  const suffix = session_id === null ? '' : ' (console)';
  if (member_id === null) return `${name}${suffix}`;
  return (
    <>
      <MemberName id={member_id} fallback={name} />
      {session_id === null ? <span className="muted"> by the key {name}</span> : suffix}
    </>
  );
}

/** What was changed, with a link to it if it has a page. */
export function Changed({ resource: { type, id }, details }: Pick<AuditEntry, 'resource' | 'details'>) {
  if (type === 'prompt')
    return (
      <Link to="/prompts/$" params={{ _splat: id }} search={{ tab: 'versions' }}>
        {id}
      </Link>
    );
  const name = details['prompt_name'] ?? details['prompt'];
  return (
    <Link to="/releases/$id" params={{ id }}>
      {typeof name === 'string' ? t(`Release of ${name}`) : t('Release')}
    </Link>
  );
}
