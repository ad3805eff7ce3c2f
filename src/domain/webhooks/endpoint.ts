import { z } from 'zod';
import { signingSecretProblem } from './webhook-signature.ts';

/** The maximum length of a caller's endpoint address, in characters, both as passed and as sent. */
export const MAX_URL_LENGTH = 2048;

/** The address of a caller's endpoint. Checks only its syntax: the allowed hosts depend on the settings (`outbound/target.ts`). */
export const EndpointUrl = z
  .string('is required and must be a string')
  .max(MAX_URL_LENGTH, `must be at most ${MAX_URL_LENGTH} characters`)
  .refine((url) => !/[\s\p{Cc}]/u.test(url), 'must not contain spaces or line breaks');

/** The secret that signs requests to a caller's endpoint. */
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
