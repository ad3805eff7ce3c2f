import { z } from 'zod';

/** Streams for `stream-load.ts` to read concurrently: runs of the prompt `bench`. */
export const StreamLoad = z.object({
  origin: z.string(),
  key: z.string(),
  streams: z.int(),
  /** The time over which the starts are spread. */
  withinMs: z.number(),
});
export type StreamLoad = z.infer<typeof StreamLoad>;

/** The time of words from the model to the caller, in milliseconds. */
export const StreamResult = z.object({
  /** For each stream: its first word. */
  firstMs: z.array(z.number()),
  /** For each chunk: its first word, which waited longest. */
  pieceMs: z.array(z.number()),
  /** The number of all words. */
  words: z.int(),
});
export type StreamResult = z.infer<typeof StreamResult>;
