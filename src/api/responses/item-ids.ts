/** An item of a response: the message of an execution, or one of its tool calls. */
interface ItemOfExecution {
  /** UUID. */
  executionId: string;
  /** Index from 0; undefined for the message. */
  toolCall: number | undefined;
}

const ITEM_ID = /^(?:msg_([0-9a-f-]{36})|fc_([0-9a-f-]{36})_(\d{1,4}))$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Ids that encode what they refer to, so that nothing has to be stored. */
export const messageId = (executionId: string): string => `msg_${executionId}`;
export const functionCallId = (executionId: string, index: number): string => `fc_${executionId}_${index}`;

/** @returns undefined if it is not an item id */
export function parseItemId(id: string): ItemOfExecution | undefined {
  const [, ofMessage, ofCall, index] = ITEM_ID.exec(id) ?? [];
  const executionId = ofMessage ?? ofCall ?? '';
  if (!UUID.test(executionId)) return undefined;
  return { executionId, toolCall: index === undefined ? undefined : Number(index) };
}
