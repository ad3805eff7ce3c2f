/**
 * A character of an input is in the messages, in the body of the request and in what is sent of it, and a model may repeat it in its response:
 * 2 bytes in each text, and up to 3 as UTF-8.
 */
const INPUT_FACTOR = 8;

/** The bytes that a call takes at most while it is made. @param chars of its input */
export const inputWeight = (chars: number): number => INPUT_FACTOR * chars;
