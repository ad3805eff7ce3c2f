import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useMemo, useState } from 'react';
import type { Provider } from '../api-types.ts';
import { formatCount } from '../format.ts';
import { providersQuery } from '../queries.ts';
import { t } from '../strings.ts';
import { ComboField, type OptionGroup } from './combo-field.tsx';
import { CheckField } from './fields.tsx';

/**
 * A model by name, with its price per million tokens and its context window. Suggests models of configured providers, and accepts any
 * other.
 */
export function ModelField({
  stored,
  ...props
}: Omit<ComponentProps<typeof ComboField>, 'options' | 'groups'> & {
  /** Models confirmed when they were stored. Default: the initial one. */
  stored?: readonly string[];
}) {
  const { data } = useQuery(providersQuery);
  const [before] = useState([props.value]);
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
  const { value } = props;
  const [confirmed, setConfirmed] = useState<string>();
  const warning = !(stored ?? before).includes(value) && !isKnown(data?.data, value) && (
    <CheckField
      label="This model is not in the list: use it anyway"
      required
      checked={value === confirmed}
      onChange={(checked) => setConfirmed(checked ? value : undefined)}
    />
  );
  return <ComboField spellCheck={false} {...props} groups={groups} warning={warning} />;
}

/** Whether a provider lists a model, or has no list. A name without its provider is matched by its end. */
function isKnown(providers: readonly Provider[] | undefined, value: string): boolean {
  const name = value.trim();
  if (providers === undefined || name === '') return true;
  const own = providers.find(({ provider }) => name.startsWith(`${provider}/`));
  const listed = own?.models ?? providers.flatMap(({ models }) => models);
  if (own !== undefined && listed.length === 0) return true;
  return listed.some(({ model }) => model === name || (own === undefined && model.endsWith(`/${name}`)));
}
