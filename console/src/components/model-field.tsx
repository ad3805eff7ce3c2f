import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useMemo } from 'react';
import { formatCount } from '../format.ts';
import { providersQuery } from '../queries.ts';
import { t } from '../strings.ts';
import { ComboField, type OptionGroup } from './combo-field.tsx';

/** A model by name, with what a million tokens of it cost, and how many it takes at once. It offers those of the providers that are set up, and takes any other. */
export function ModelField(props: Omit<ComponentProps<typeof ComboField>, 'options' | 'groups'>) {
  const { data } = useQuery(providersQuery);
  const groups = useMemo(
    (): OptionGroup[] =>
      (data?.data ?? [])
        .filter(({ is_configured, models }) => is_configured && models.length > 0)
        .map(({ provider, models }) => ({
          value: provider,
          items: models.map(({ model, pricing, context_window: tokens }) => {
            const detail = [
              tokens !== null && t(`${formatCount(tokens)} tokens`),
              pricing && t(`$${pricing.input} in, $${pricing.output} out`),
            ].filter((part) => typeof part === 'string');
            return { value: model, ...(detail.length > 0 && { detail: detail.join(' · ') }) };
          }),
        })),
    [data],
  );
  return <ComboField spellCheck={false} {...props} groups={groups} />;
}
