import { z } from 'zod';
import { storableString, Timestamp } from '../../http/fields.ts';
import { SCOPES } from '../../services/access/api-keys.ts';
import { CreatedApiKey, GrantedScope } from '../api-keys/schema.ts';

const UserCode = 'The code shown to the person: 8 letters, single use.';

export const CreateDeviceAuthorization = z
  .strictObject({
    client: storableString()
      .min(1, 'must not be empty')
      .max(100, 'must be at most 100 characters')
      .refine((text) => !/\p{Cc}|\p{Cf}/u.test(text), 'must have no control characters')
      .meta({ description: 'The program and where it runs. Shown to the person and used as the name of the key.' }),
  })
  .meta({ id: 'CreateDeviceAuthorization' });

export const CreatedDeviceAuthorization = z
  .object({
    device_code: z.string().meta({ description: 'The code for `POST /device/token`. Never show it to anyone.' }),
    user_code: z.string().meta({ description: UserCode }),
    verification_uri: z.string().meta({ description: 'The console page where the person enters the code.' }),
    verification_uri_complete: z.string().meta({ description: 'The same page with the code filled in.' }),
    expires_in: z.int().meta({ description: 'The lifetime of the codes in seconds.' }),
    interval: z.int().meta({ description: 'The minimum number of seconds between two polls.' }),
  })
  .meta({ id: 'CreatedDeviceAuthorization' });

export const DeviceToken = z
  .strictObject({
    device_code: z.string('must be a string').min(1, 'must not be empty').max(255, 'must be at most 255 characters'),
  })
  .meta({ id: 'DeviceToken' });

export const DeviceKey = CreatedApiKey.extend({
  workspace: z.object({ name: z.string() }).meta({ description: 'The workspace that the key gives access to.' }),
}).meta({ id: 'DeviceKey' });

export const UserCodeParams = z.object({
  user_code: z.string().max(100).meta({ description: UserCode, example: 'BCDF-GHJK' }),
});

export const MAX_KEY_DAYS = 365;

export const ApproveDeviceAuthorization = z
  .strictObject({
    scopes: z
      .array(z.enum(SCOPES, `must be one of ${SCOPES.join(', ')}`))
      .min(1, 'must name at least one scope')
      .max(SCOPES.length)
      .optional()
      .meta({ description: 'Scopes of the key. Default: all scopes of the session. Other scopes are rejected.' }),
    expires_in_days: z
      .int('must be a whole number of days')
      .min(1, 'must be at least 1 day')
      .max(MAX_KEY_DAYS, `must be at most ${MAX_KEY_DAYS} days`)
      .default(90),
  })
  .meta({ id: 'ApproveDeviceAuthorization' });

export const DeviceAuthorization = z
  .object({
    client: z.string().meta({ description: 'The program, as it identifies itself.' }),
    address: z.string().meta({ description: 'The address the request came from.' }),
    status: z.enum(['pending', 'approved', 'denied']),
    key: z
      .object({
        kind: z.enum(['personal', 'service']),
        scopes: z.array(GrantedScope),
        expires_at: Timestamp.nullable(),
      })
      .nullable()
      .meta({
        description: 'The key to be issued or, while pending, the most it can be. Null if no key will be issued.',
      }),
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'DeviceAuthorization' });
