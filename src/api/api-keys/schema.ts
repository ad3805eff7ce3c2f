import { z } from 'zod';
import { API_KEY_KINDS } from '../../db/entities/api-key.ts';
import { ROLES } from '../../domain/roles.ts';
import { growing, storableString, Timestamp, TimestampInput } from '../../http/fields.ts';
import { pageOf } from '../../http/pagination.ts';
import { SCOPES } from '../../services/access/api-keys.ts';

const description =
  '`read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys).';

export const CreateApiKey = z
  .strictObject({
    name: storableString().min(1, 'must not be empty').max(100, 'must be at most 100 characters'),
    scopes: z
      .array(z.enum(SCOPES, `must be one of ${SCOPES.join(', ')}`))
      .min(1, 'must name at least one scope')
      .max(SCOPES.length)
      .meta({ description }),
    expires_at: TimestampInput.refine((time) => time.getTime() > Date.now(), 'must be in the future')
      .nullable()
      .optional(),
  })
  .meta({ id: 'CreateApiKey' });

/** A scope of a key, in a response. */
export const GrantedScope = growing(SCOPES).meta({ id: 'GrantedScope' });

export const ApiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(API_KEY_KINDS).meta({
      description:
        '`service`: belongs to the workspace. `personal`: belongs to a member and ends with the membership. `sign_in`: the key behind the sessions of a member. `emergency`: created by an operator for signing in.',
    }),
    member_id: z.string().nullable().meta({ description: 'The member who owns the key.' }),
    scopes: z.array(GrantedScope).meta({ description }),
    expires_at: Timestamp.nullable(),
    revoked_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'ApiKey' });

export const CreatedApiKey = ApiKey.extend({
  key: z.string().meta({ description: 'The key itself. It is shown only once and never stored.' }),
}).meta({ id: 'CreatedApiKey' });

export const CurrentApiKey = ApiKey.extend({
  member: z
    .object({ id: z.string(), name: z.string(), role: z.enum(ROLES) })
    .nullable()
    .meta({ description: 'The member who owns the key; null if the workspace owns it.' }),
  workspace: z.object({ name: z.string() }).meta({ description: 'The workspace that the key gives access to.' }),
}).meta({ id: 'CurrentApiKey' });

export const ApiKeyPage = pageOf(ApiKey).meta({ id: 'ApiKeyPage' });
