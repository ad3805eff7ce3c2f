import { CHANNELS, type Listener } from '../../db/listener.ts';
import { createWaiter, type Waiter } from '../../db/waiter.ts';
import { type DeliveryRow, getDelivery, hasEnded } from './deliveries.ts';

/** Lets requests wait for deliveries whose end is told of. */
export type DeliveryWaiter = Waiter<DeliveryRow>;

export function createDeliveryWaiter(listener: Listener): DeliveryWaiter {
  return createWaiter(listener, { channel: CHANNELS.deliveryFinished, read: getDelivery, isFinished: hasEnded });
}
