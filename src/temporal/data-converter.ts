import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { PayloadKeys } from '../lib/setting-values.ts';
import { createPayloadCodec } from './payload-codec.ts';

/** For the bundle of the workflows, so that their failures are encoded as those of activities. */
export const ENCODED_FAILURES = fileURLToPath(new URL('encoded-failures.ts', import.meta.url));

/**
 * Converts values to payloads, for the client and the workers alike.
 * @param payloadKeys undefined if payloads are not encrypted
 */
export function createDataConverter(payloadKeys: PayloadKeys | undefined): DataConverter {
  return {
    payloadCodecs: [createPayloadCodec(payloadKeys)],
    ...(payloadKeys?.encrypts === true && { failureConverterPath: ENCODED_FAILURES }),
  };
}
