import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import type { EventRow } from '../../services/events/list-events.ts';
import type { Event } from './schema.ts';

export function presentEvent({ id, type, data, created_at: createdAt }: EventRow): z.input<typeof Event> {
  return { id: publicId('event', id), event: type, data, timestamp: createdAt.toISOString() };
}
