import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { PayloadKeys } from '../lib/setting-values.ts';
import { createPayloadCodec } from './payload-codec.ts';

/** For the bundle of the workflows, which fail as activities do. */
export const ENCODED_FAILURES = fileURLToPath(new URL('encoded-failures.ts', import.meta.url));

/**
 * How values become payloads, for the client and the workers alike.
 * @param payloadKeys undefined: payloads are not encrypted
 */
export function createDataConverter(payloadKeys: PayloadKeys | undefined): DataConverter {
  return {
    payloadCodecs: [createPayloadCodec(payloadKeys)],
    ...(payloadKeys?.encrypts === true && { failureConverterPath: ENCODED_FAILURES }),
  };
}
