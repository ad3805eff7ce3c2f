import { defineStates } from './state-machine.ts';

/** Webhooks. Nothing is sent to one that is disabled. */
export const WEBHOOK_STATES = defineStates({
  enabled: ['disabled'],
  disabled: ['enabled'],
});

export type WebhookStatus = (typeof WEBHOOK_STATES.states)[number];
