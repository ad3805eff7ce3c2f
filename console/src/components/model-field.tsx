import { useQuery } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { providersQuery } from '../queries.ts';
import { ComboField } from './fields.tsx';

/** A model by name. It offers those of the providers that are set up, and takes any other. */
export function ModelField(props: Omit<ComponentProps<typeof ComboField>, 'options'>) {
  const { data } = useQuery(providersQuery);
  const options = (data?.data ?? [])
    .filter(({ is_configured }) => is_configured)
    .flatMap(({ models }) => models.map(({ model }) => model));
  return <ComboField spellCheck={false} {...props} options={options} />;
}
