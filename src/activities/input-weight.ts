/**
 * Each character of an input is in the messages, the request body and the bytes sent, and the model may repeat it in its response:
 * 2 bytes in each string, and up to 3 as UTF-8.
 */
const INPUT_FACTOR = 8;

/** The most memory that a call takes, in bytes. @param chars of its input */
export const inputWeight = (chars: number): number => INPUT_FACTOR * chars;
