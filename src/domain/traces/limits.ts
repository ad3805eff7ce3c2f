/** Bytes of a request, after it is decompressed. */
export const MAX_PROTOBUF_BYTES = 16 * 1024 * 1024;
export const MAX_OTLP_JSON_BYTES = 8 * 1024 * 1024;
/** Spans of a request. */
export const MAX_SPANS = 10_000;

/** What a step keeps. More is cut, and named in its `cut`. */
export const MAX_STEP_ATTRIBUTES = 256;
export const MAX_STEP_EVENTS = 128;
export const MAX_STEP_LINKS = 128;
export const MAX_ATTRIBUTE_DEPTH = 32;
/** UTF-8 bytes of one text, and of all that a step has. */
export const MAX_STEP_TEXT_BYTES = 256 * 1024;
export const MAX_STEP_BYTES = 1024 * 1024;
/** Characters of names, such as those of a step, model, tool, user or conversation. */
export const MAX_STEP_NAME_CHARS = 200;
export const MAX_STEP_ERROR_CHARS = 10_000;
export const MAX_STEP_TAGS = 50;
export const MAX_STEP_METADATA = 50;
export const MAX_STEP_METADATA_CHARS = 512;
/** Of the resource, which each of its steps has. */
export const MAX_RESOURCE_ATTRIBUTES = 64;
export const MAX_RESOURCE_BYTES = 8 * 1024;
export const MAX_STEP_SCORES = 50;

/** Further steps are dropped: the trace says so. */
export const MAX_TRACE_STEPS = 50_000;
/** How far a sender's clock may be ahead. */
export const MAX_AHEAD_MS = 5 * 60_000;

/** Refused spans of a request whose reason is told. */
export const MAX_TOLD_REASONS = 5;
