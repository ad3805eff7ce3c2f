import { z } from 'zod';

/** Streams for `stream-load.ts` to read, all at once: runs of the prompt `bench`. */
export const StreamLoad = z.object({
  origin: z.string(),
  key: z.string(),
  streams: z.int(),
  /** Over which the streams begin. */
  withinMs: z.number(),
});
export type StreamLoad = z.infer<typeof StreamLoad>;

/** How long words were on their way from the model to the caller, in milliseconds. */
export const StreamResult = z.object({
  /** Of each stream: its first word. */
  firstMs: z.array(z.number()),
  /** Of each piece that arrived: its first word, which waited longest. */
  pieceMs: z.array(z.number()),
  /** All words. */
  words: z.int(),
});
export type StreamResult = z.infer<typeof StreamResult>;
