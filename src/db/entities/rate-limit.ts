import { defineEntity, p } from '@mikro-orm/core';

/** Counters of the rate limiter, shared by all processes, in the form that rate-limiter-flexible expects. */
export const RateLimit = defineEntity({
  name: 'RateLimit',
  tableName: 'rate_limits',
  properties: {
    key: p.string().length(255).primary(),
    points: p.integer().default(0),
    expire: p.bigint('number').nullable(),
  },
});
