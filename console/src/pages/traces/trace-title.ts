import type { Trace } from '../../api-types.ts';

/** The name of a trace, or the end of its id if it has no name. */
export const titleOf = ({ id, name }: Pick<Trace, 'id' | 'name'>): string => name ?? id.slice(-12);
