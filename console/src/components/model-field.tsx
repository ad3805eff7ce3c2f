import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useMemo } from 'react';
import { providersQuery } from '../queries.ts';
import { ComboField, type OptionGroup } from './combo-field.tsx';

/** A model by name, with what a million tokens of it cost. It offers those of the providers that are set up, and takes any other. */
export function ModelField(props: Omit<ComponentProps<typeof ComboField>, 'options' | 'groups'>) {
  const { data } = useQuery(providersQuery);
  const groups = useMemo(
    (): OptionGroup[] =>
      (data?.data ?? [])
        .filter(({ is_configured, models }) => is_configured && models.length > 0)
        .map(({ provider, models }) => ({
          value: provider,
          items: models.map(({ model, pricing }) => ({
            value: model,
            ...(pricing && { detail: `$${pricing.input} in, $${pricing.output} out` }),
          })),
        })),
    [data],
  );
  return <ComboField spellCheck={false} {...props} groups={groups} />;
}
