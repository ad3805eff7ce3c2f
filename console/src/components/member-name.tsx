import { useQuery } from '@tanstack/react-query';
import { memberQuery } from '../queries.ts';

/** Whether a text names a member, rather than a key or a session. */
export const isMember = (author: string | null | undefined): author is string => author?.startsWith('mem_') === true;

/** A person's name; the fallback until it is known, or if it can't be. */
export function MemberName({ id, fallback }: { id: string; fallback: string }) {
  const { data } = useQuery(memberQuery(id));
  return <>{data?.name ?? fallback}</>;
}
