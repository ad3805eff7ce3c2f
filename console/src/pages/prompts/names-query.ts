import { queryOptions } from '@tanstack/react-query';
import { get } from '../../api.ts';

/** The names of all prompts that are not archived, from `GET /models`, which omits their content. */
export const namesQuery = queryOptions({
  queryKey: ['prompts', 'names'],
  queryFn: async ({ signal }) => {
    const { data } = await get<{ data: { id: string }[] }>('/models', undefined, signal);
    return data.map(({ id }) => id);
  },
});
