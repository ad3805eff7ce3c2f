/** Bytes of a request after decompression. */
export const MAX_PROTOBUF_BYTES = 16 * 1024 * 1024;
export const MAX_OTLP_JSON_BYTES = 8 * 1024 * 1024;
/** Spans per request. */
export const MAX_SPANS = 10_000;

/** Limits of a step. Excess data is cut, and named in its `cut`. */
export const MAX_STEP_ATTRIBUTES = 256;
export const MAX_STEP_EVENTS = 128;
export const MAX_STEP_LINKS = 128;
export const MAX_ATTRIBUTE_DEPTH = 32;
/** UTF-8 bytes of one text, and of a whole step. */
export const MAX_STEP_TEXT_BYTES = 256 * 1024;
export const MAX_STEP_BYTES = 1024 * 1024;
/** Characters of names, such as those of a step, model, tool, user or conversation. */
export const MAX_STEP_NAME_CHARS = 200;
export const MAX_STEP_ERROR_CHARS = 10_000;
export const MAX_STEP_TAGS = 50;
export const MAX_STEP_METADATA = 50;
export const MAX_STEP_METADATA_CHARS = 512;
/** Limits of the resource, which each of its steps stores. */
export const MAX_RESOURCE_ATTRIBUTES = 64;
export const MAX_RESOURCE_BYTES = 8 * 1024;
export const MAX_STEP_SCORES = 50;

/** Further steps are dropped: `incomplete` says so. */
export const MAX_TRACE_STEPS = 50_000;
/** How far a sender's clock may be ahead. */
export const MAX_AHEAD_MS = 5 * 60_000;

/** Maximum number of reasons in a response about refused spans. */
export const MAX_TOLD_REASONS = 5;
