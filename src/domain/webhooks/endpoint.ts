import { z } from 'zod';
import { signingSecretProblem } from './webhook-signature.ts';

/** The longest address of a caller's endpoint, in characters as given and as sent. */
export const MAX_URL_LENGTH = 2048;

/** The address of a caller's endpoint. Only its syntax: which hosts are allowed depends on the settings (`outbound/target.ts`). */
export const EndpointUrl = z
  .string('is required and must be a string')
  .max(MAX_URL_LENGTH, `must be at most ${MAX_URL_LENGTH} characters`)
  .refine((url) => !/[\s\p{Cc}]/u.test(url), 'must not contain spaces or line breaks');

/** What requests to a caller's endpoint are signed with. */
export const SigningSecret = z
  .string()
  .check((context) => {
    const message = signingSecretProblem(context.value);
    // Without the input, which is secret.
    if (message !== undefined) context.issues.push({ code: 'custom', message, input: undefined });
  })
  .meta({
    description:
      'The signing secret: 24–128 visible ASCII characters; after the prefix `whsec_`, if any, padded base64. Default: generated.',
    minLength: 24,
    maxLength: 128,
    pattern: '^[\\x21-\\x7e]+$',
  });
