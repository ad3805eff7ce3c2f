export type { JsonValue } from '../prompt-rules/types.ts';
