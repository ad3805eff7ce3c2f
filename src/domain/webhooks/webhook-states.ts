import { defineStates } from '../state-machine.ts';

/** Webhooks. Nothing is sent to one that is disabled. */
export const webhookStates = defineStates({
  enabled: ['disabled'],
  disabled: ['enabled'],
});

export type WebhookStatus = (typeof webhookStates.states)[number];
