import { z } from 'zod';
import { ACTOR_TYPES, AUDIT_ACTION_NAMES, AUDITED_TYPES, type AuditedType } from '../../domain/audit.ts';
import { parsePublicId } from '../../domain/ids.ts';
import { growing, storableString, Timestamp, TimestampInput } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import type { AuditFilter } from '../../services/audit/list-audit-log.ts';

const Actor = storableString()
  .max(100)
  .transform((text, context): NonNullable<AuditFilter['actor']> => {
    const keyId = parsePublicId('apiKey', text);
    const sessionId = parsePublicId('session', text);
    const memberId = parsePublicId('member', text);
    if (text === 'operator' || text === 'provisioning') return text;
    if (keyId !== undefined) return { keyId };
    if (sessionId !== undefined) return { sessionId };
    if (memberId !== undefined) return { memberId };
    context.addIssue({
      code: 'custom',
      message: 'must be the id of a key (key_…), session (sess_…) or member (mem_…), operator or provisioning',
    });
    return z.NEVER;
  })
  .meta({
    description:
      'Only changes made by this key (including its sessions), this session, this member (with any key), the `operator`, or the `provisioning` of the identity provider.',
  });

const isAuditedType = (text: string): text is AuditedType => (AUDITED_TYPES as readonly string[]).includes(text);

const Resource = storableString()
  .max(300)
  .transform((text, context): NonNullable<AuditFilter['resource']> => {
    const colon = text.indexOf(':');
    const type = colon === -1 ? text : text.slice(0, colon);
    if (isAuditedType(type)) return { type, id: colon === -1 ? undefined : text.slice(colon + 1) };
    const message = `must be a type, or a type and an id, such as prompt:support/greeting; the types are ${AUDITED_TYPES.join(', ')}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .meta({
    description: 'Only changes to this resource: a type (`webhook`), or a type and an id (`prompt:support/greeting`).',
  });

const Action = z.enum(AUDIT_ACTION_NAMES, `must be one of ${AUDIT_ACTION_NAMES.join(', ')}`);

export const ListQuery = z.strictObject({
  ...PageQuery,
  actor: Actor.optional(),
  action: Action.optional(),
  resource: Resource.optional(),
  since: TimestampInput.optional().meta({ description: 'Only changes at or after this.' }),
  until: TimestampInput.optional().meta({ description: 'Only changes before this.' }),
});

export const AuditEntry = z
  .object({
    id: z.string(),
    actor: z.object({
      type: z.enum(ACTOR_TYPES).meta({
        description:
          '`operator`: the operator command line, and changes that a sign-in or a session check makes on behalf of the identity provider. `provisioning`: changes that the identity provider sends by SCIM.',
      }),
      key_id: z.string().nullable().meta({ description: 'The key, or the key of the session.' }),
      key_name: z.string().nullable(),
      member_id: z
        .string()
        .nullable()
        .meta({ description: 'The member who owns or created the key; null if there is none.' }),
      session_id: z.string().nullable(),
    }),
    action: growing(AUDIT_ACTION_NAMES),
    resource: z.object({
      type: growing(AUDITED_TYPES),
      id: z.string().meta({ description: 'The name of a prompt, label or dataset; the id of any other resource.' }),
    }),
    details: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The change; the fields depend on the action. Never contains secrets.' }),
    address: z.string().nullable().meta({ description: 'The IP address that the change was made from.' }),
    request_id: z.string().nullable().meta({ description: 'The `X-Request-Id` of the request.' }),
    created_at: Timestamp,
  })
  .meta({ id: 'AuditEntry' });

export const AuditLogPage = pageOf(AuditEntry).meta({ id: 'AuditLogPage' });
