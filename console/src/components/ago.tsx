import { formatAgo, formatTime, NONE } from '../format.ts';

/** A time relative to now, such as "3 hr. ago"; the full one appears on hover. */
export function Ago({ time }: { time: string | null | undefined }) {
  if (!time) return NONE;
  return (
    <time dateTime={time} title={formatTime(time)}>
      {formatAgo(time)}
    </time>
  );
}
