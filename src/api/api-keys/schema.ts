import { z } from 'zod';
import { API_KEY_KINDS } from '../../db/entities/api-key.ts';
import { ROLES } from '../../domain/roles.ts';
import { saneText, Timestamp, TimestampInput } from '../../http/fields.ts';
import { pageOf } from '../../http/pagination.ts';
import { SCOPES } from '../../services/access/api-keys.ts';

const Scopes = z.array(z.enum(SCOPES, `must be one of ${SCOPES.join(', ')}`)).meta({
  description:
    '`read`, `execute` (run prompts and evaluations), `write` (change things), `publish` (move protected labels), `admin` (keys, and everything).',
});

export const CreateApiKey = z
  .strictObject({
    name: saneText().min(1, 'must not be empty').max(100, 'must be at most 100 characters'),
    scopes: Scopes.min(1, 'must name at least one scope').max(SCOPES.length),
    expires_at: TimestampInput.refine((time) => time.getTime() > Date.now(), 'must be in the future')
      .nullable()
      .optional(),
  })
  .meta({ id: 'CreateApiKey' });

export const ApiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(API_KEY_KINDS).meta({
      description:
        '`service`: of the workspace. `personal`: of a member, and ends with the membership. `sign_in`: what the sessions of a member belong to. `emergency`: made by an operator to sign in with.',
    }),
    member_id: z.string().nullable().meta({ description: 'The member whose key it is.' }),
    scopes: Scopes,
    expires_at: Timestamp.nullable(),
    revoked_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'ApiKey' });

export const CreatedApiKey = ApiKey.extend({
  key: z.string().meta({ description: 'The key itself. It is shown this once and stored nowhere.' }),
}).meta({ id: 'CreatedApiKey' });

export const CurrentApiKey = ApiKey.extend({
  member: z
    .object({ id: z.string(), name: z.string(), role: z.enum(ROLES) })
    .nullable()
    .meta({ description: 'The person whose key it is. Null: it is the workspace’s.' }),
  workspace: z.object({ name: z.string() }).meta({ description: 'The workspace that it opens.' }),
}).meta({ id: 'CurrentApiKey' });

export const ApiKeyPage = pageOf(ApiKey).meta({ id: 'ApiKeyPage' });
