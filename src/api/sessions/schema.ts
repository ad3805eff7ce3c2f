import { z } from 'zod';
import { ROLES } from '../../domain/roles.ts';
import { Timestamp } from '../../http/fields.ts';
import { pageOf } from '../../http/pagination.ts';
import { SCOPES } from '../../services/access/api-keys.ts';

export const CreateSession = z
  .strictObject({
    key: z.string('must be a string').min(1, 'must not be empty').max(255, 'must be at most 255 characters').meta({
      description: 'An API key. The session can do what it can, and ends with it.',
    }),
  })
  .meta({ id: 'CreateSession' });

export const Session = z
  .object({
    id: z.string(),
    key: z.object({ id: z.string(), name: z.string(), scopes: z.array(z.enum(SCOPES)) }),
    workspace: z.object({ name: z.string() }),
    member: z
      .object({ id: z.string(), name: z.string(), role: z.enum(ROLES) })
      .nullable()
      .meta({ description: 'Who is signed in; null where the key is nobody’s own.' }),
    provider: z.string().nullable().meta({
      description: 'The identity provider by which the person signed in, by its id in the settings; null: with a key.',
    }),
    is_current: z.boolean().meta({ description: 'Whether it is the session that this request was made with.' }),
    address: z.string().meta({ description: 'From where it was begun.' }),
    user_agent: z.string().nullable().meta({ description: 'The browser that began it.' }),
    created_at: Timestamp,
    last_used_at: Timestamp.meta({ description: 'To the minute.' }),
    expires_at: Timestamp.meta({
      description: '12 hours after its last use, 7 days after its beginning at the latest, and not after its key.',
    }),
  })
  .meta({ id: 'Session' });

export const OwnSession = Session.extend({
  drafts_key: z.string().meta({
    description:
      'What the console encrypts unsaved texts with before the browser keeps them: 32 bytes in base64, the same for all sessions of the key.',
  }),
  workspaces: z.array(z.object({ name: z.string(), role: z.enum(ROLES) })).meta({
    description:
      'The workspaces that `POST /v1/session/workspace` can switch to. Empty where the session was begun with a key.',
  }),
}).meta({ id: 'OwnSession' });

export const EndedSession = Session.extend({
  end_session_url: z.string().nullable().meta({
    description: 'Where a browser is to go to sign out at the identity provider, too; null: nowhere.',
  }),
}).meta({ id: 'EndedSession' });

export const SwitchWorkspace = z
  .strictObject({ workspace: z.string('must be a string').min(1, 'must not be empty').max(255) })
  .meta({ id: 'SwitchWorkspace' });

export const SessionPage = pageOf(Session).meta({ id: 'SessionPage' });
