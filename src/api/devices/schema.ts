import { z } from 'zod';
import { saneText, Timestamp } from '../../http/fields.ts';
import { SCOPES } from '../../services/access/api-keys.ts';
import { CreatedApiKey } from '../api-keys/schema.ts';

const UserCode = 'What the person is shown: 8 letters, one use.';

export const CreateDeviceAuthorization = z
  .strictObject({
    client: saneText()
      .min(1, 'must not be empty')
      .max(100, 'must be at most 100 characters')
      .refine((text) => !/\p{Cc}|\p{Cf}/u.test(text), 'must have no control characters')
      .meta({ description: 'What asks, and where it runs: the person is shown it, and the key has it as its name.' }),
  })
  .meta({ id: 'CreateDeviceAuthorization' });

export const CreatedDeviceAuthorization = z
  .object({
    device_code: z.string().meta({ description: 'For `POST /device/token`. It is shown to nobody.' }),
    user_code: z.string().meta({ description: UserCode }),
    verification_uri: z.string().meta({ description: 'The page of the console where the code is typed.' }),
    verification_uri_complete: z.string().meta({ description: 'The same page with the code in it.' }),
    expires_in: z.int().meta({ description: 'Seconds.' }),
    interval: z.int().meta({ description: 'Seconds to leave between two polls.' }),
  })
  .meta({ id: 'CreatedDeviceAuthorization' });

export const DeviceToken = z
  .strictObject({
    device_code: z.string('must be a string').min(1, 'must not be empty').max(255, 'must be at most 255 characters'),
  })
  .meta({ id: 'DeviceToken' });

export const DeviceKey = CreatedApiKey.extend({
  workspace: z.object({ name: z.string() }).meta({ description: 'The workspace that it opens.' }),
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
      .meta({ description: 'Of the key. Default: all that the session has; others than these are refused.' }),
    expires_in_days: z
      .int('must be a whole number of days')
      .min(1, 'must be at least 1 day')
      .max(MAX_KEY_DAYS, `must be at most ${MAX_KEY_DAYS} days`)
      .default(90),
  })
  .meta({ id: 'ApproveDeviceAuthorization' });

export const DeviceAuthorization = z
  .object({
    client: z.string().meta({ description: 'What asks, as it says itself.' }),
    address: z.string().meta({ description: 'From where it asks.' }),
    status: z.enum(['pending', 'approved', 'denied']),
    key: z
      .object({
        kind: z.enum(['personal', 'service']),
        scopes: z.array(z.enum(SCOPES)),
        expires_at: Timestamp.nullable(),
      })
      .nullable()
      .meta({
        description: 'What the key will be; while it is pending, what it can be at most. Null: there will be none.',
      }),
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'DeviceAuthorization' });
