import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { get, pathOf } from '../../api.ts';
import type { Prompt, Provider } from '../../api-types.ts';
import { SelectField } from '../../components/fields.tsx';
import { providersQuery } from '../../queries.ts';
import { t } from '../../strings.ts';
import { type RunForm, selectorOf } from './run-form-state.ts';

/** The fields that decide how calls can be made. */
export type ModeForm = Pick<RunForm, 'prompt' | 'which' | 'evaluators' | 'mode' | 'maxWait' | 'leftovers'>;

const HOURS_OF_DAY = 24;
const WAITS = [
  { value: '1h', label: '1 hour' },
  { value: '6h', label: '6 hours' },
  { value: '12h', label: '12 hours' },
  { value: '24h', label: '24 hours' },
  { value: `${2 * HOURS_OF_DAY}h`, label: '2 days' },
  { value: `${7 * HOURS_OF_DAY}h`, label: '7 days' },
];

const versionQuery = (name: string, selector: { version?: number; label?: string }) =>
  queryOptions({
    queryKey: ['prompts', 'selected', name, selector],
    queryFn: ({ signal }) => get<Prompt>(pathOf('prompts', name), selector, signal),
    retry: false,
  });

/** The provider of a model, even if the name does not include it. */
const providerOf = (model: string, providers: readonly Provider[]) =>
  providers.find(({ provider, models }) =>
    model.includes('/')
      ? model.startsWith(`${provider}/`)
      : models.some((each) => each.model === `${provider}/${model}`),
  );

/** Models of the run that can't be called in batches here; undefined until known. */
function useModelsWithoutBatches(form: ModeForm): string[] | undefined {
  const providers = useQuery(providersQuery).data?.data;
  const name = form.prompt.trim();
  const prompt = useQuery({ ...versionQuery(name, selectorOf(form)), enabled: name !== '' }).data;
  if (providers === undefined || prompt === undefined) return undefined;
  const judges = form.evaluators.flatMap(({ type, model }) =>
    type === 'llm_judge' && typeof model === 'string' && model !== '' ? [model] : [],
  );
  return [...new Set([prompt.model, ...judges])].filter((model) => {
    const provider = providerOf(model, providers);
    return !(provider?.has_batches === true && provider.is_configured);
  });
}

function hintOf(form: ModeForm, without: string[] | undefined): string {
  if (without !== undefined && without.length > 0 && form.mode !== 'interactive')
    return t(`${without.join(t(' and '))} can’t be called in batches here.`);
  if (form.mode === 'interactive') return t('In batches, calls cost less and take up to a day.');
  return t(
    'The provider responds within hours, at a lower price. Choose here what happens to calls without a response by then.',
  );
}

/** How to call the models of a run: only supported modes are available. */
export function RunModeFields({
  value,
  set,
  children,
}: {
  value: ModeForm;
  set: (part: Partial<ModeForm>) => void;
  /** Fields beside these. */
  children?: ReactNode;
}) {
  const without = useModelsWithoutBatches(value);
  const waits = WAITS.some((wait) => wait.value === value.maxWait)
    ? WAITS
    : [...WAITS, { value: value.maxWait, label: value.maxWait }];
  const modes = [
    { value: 'interactive', label: 'Individually, now' },
    // A choice made for another prompt stays visible; the estimate says why it is not possible.
    ...(without?.length === 0 || value.mode === 'batch' ? [{ value: 'batch', label: 'In batches' }] : []),
    { value: 'auto', label: 'In batches where all models support them' },
  ];
  return (
    <div className="filters">
      <SelectField
        label="Model calls"
        value={value.mode}
        onChange={(mode) => set({ mode: mode as ModeForm['mode'] })}
        options={modes}
        hint={hintOf(value, without)}
      />
      {value.mode !== 'interactive' && (
        <>
          <SelectField
            label="Maximum wait for a batch"
            value={value.maxWait}
            onChange={(maxWait) => set({ maxWait })}
            options={waits}
          />
          <SelectField
            label="Calls without a response by then"
            value={value.leftovers}
            onChange={(leftovers) => set({ leftovers: leftovers as ModeForm['leftovers'] })}
            options={[
              { value: 'interactive', label: 'are made one by one' },
              { value: 'fail', label: 'count as failed' },
            ]}
          />
        </>
      )}
      {children}
    </div>
  );
}
