import { DefaultFailureConverter } from '@temporalio/common';

// The SDK loads this file by its path, into the sandbox of the workflows too: it may import nothing else.

/** Puts messages and stack traces of failures into payloads, which a codec can encrypt. Reads failures of either kind. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
