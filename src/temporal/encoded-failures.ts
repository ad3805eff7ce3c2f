import { DefaultFailureConverter } from '@temporalio/common';

// The SDK loads this file by path, also into the sandbox of the workflows: it must not import anything else.

/**
 * Puts messages and stack traces of failures into payloads, which a codec can encrypt. Reads both encoded and plain failures.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
