import type { ExpressionBuilder } from 'kysely';
import { CHANNELS, type Listener } from '../../../db/listener.ts';
import { notify } from '../../../db/sql.ts';
import type { Tables } from '../../../db/tables.ts';
import { createWaiter, type Waiter } from '../../../db/waiter.ts';
import { type DeliveryRow, getDelivery, hasEnded } from './deliveries.ts';

/** Lets requests wait for the end of test deliveries. */
export type DeliveryWaiter = Waiter<DeliveryRow>;

export function createDeliveryWaiter(listener: Listener): DeliveryWaiter {
  return createWaiter(listener, {
    listen: (heard) => listener.on(CHANNELS.deliveryFinished, heard),
    read: getDelivery,
    isFinished: hasEnded,
  });
}

/** For the RETURNING of a statement that ends deliveries (`d`): wakes the request that waits for a test. */
export const notifyTester = (eb: ExpressionBuilder<Tables & { d: Tables['deliveries'] }, 'd'>) =>
  eb
    .case()
    .when('d.trigger', '=', 'test')
    .then(notify(CHANNELS.deliveryFinished, eb.ref('d.id')))
    .end()
    .as('notified');
