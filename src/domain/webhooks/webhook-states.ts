import { defineStates } from '../state-machine.ts';

/** Webhooks. Nothing is sent to disabled ones. */
export const webhookStates = defineStates({
  enabled: ['disabled'],
  disabled: ['enabled'],
});

export type WebhookStatus = (typeof webhookStates.states)[number];
