import { z } from 'zod';
import { ROLES } from '../../domain/roles.ts';
import { Timestamp } from '../../http/fields.ts';
import { pageOf } from '../../http/pagination.ts';
import { GrantedScope } from '../api-keys/schema.ts';

export const CreateSession = z
  .strictObject({
    key: z.string('must be a string').min(1, 'must not be empty').max(255, 'must be at most 255 characters').meta({
      description: 'An API key. The session has the permissions of the key and ends with it.',
    }),
  })
  .meta({ id: 'CreateSession' });

export const Session = z
  .object({
    id: z.string(),
    key: z.object({ id: z.string(), name: z.string(), scopes: z.array(GrantedScope) }),
    workspace: z.object({ name: z.string() }),
    member: z
      .object({ id: z.string(), name: z.string(), role: z.enum(ROLES) })
      .nullable()
      .meta({ description: 'The signed-in member; null if the key belongs to the workspace.' }),
    provider: z.string().nullable().meta({
      description: 'The id of the identity provider used to sign in, as in the settings; null if signed in with a key.',
    }),
    is_current: z.boolean().meta({ description: 'Whether this is the session of the request.' }),
    address: z.string().meta({ description: 'The address that started the session.' }),
    user_agent: z.string().nullable().meta({ description: 'The browser that started the session.' }),
    created_at: Timestamp,
    last_used_at: Timestamp.meta({ description: 'The time of the last request, to the minute.' }),
    expires_at: Timestamp.meta({
      description: '12 hours after its last use, at most 7 days after its start, and never after its key expires.',
    }),
  })
  .meta({ id: 'Session' });

export const OwnSession = Session.extend({
  drafts_key: z.string().meta({
    description:
      'The key that the console uses to encrypt unsaved texts stored in the browser: 32 bytes in base64, the same for all sessions of the key.',
  }),
  workspaces: z.array(z.object({ name: z.string(), role: z.enum(ROLES) })).meta({
    description:
      'The workspaces that `POST /v1/session/workspace` can switch to. Empty if the session was started with a key.',
  }),
}).meta({ id: 'OwnSession' });

export const EndedSession = Session.extend({
  end_session_url: z.string().nullable().meta({
    description: 'The address to visit to sign out of the identity provider, too; null if there is none.',
  }),
}).meta({ id: 'EndedSession' });

export const SwitchWorkspace = z
  .strictObject({ workspace: z.string('must be a string').min(1, 'must not be empty').max(255) })
  .meta({ id: 'SwitchWorkspace' });

export const SessionPage = pageOf(Session).meta({ id: 'SessionPage' });
