import { useQuery } from '@tanstack/react-query';
import { ComboField } from '../../components/combo-field.tsx';
import { SelectField, TextArea } from '../../components/fields.tsx';
import { t } from '../../strings.ts';
import { EXECUTION_STATES } from '../executions/routes.ts';
import { namesQuery } from '../prompts/names-query.ts';

/** The raw input of an execution filter. */
export interface FilterForm {
  prompt: string;
  status: string;
  /** One condition per line. */
  scores: string;
  /** Other fields of the filter, set through the API: kept unchanged. */
  rest: Record<string, unknown>;
}

export const EMPTY_FILTER: FilterForm = { prompt: '', status: '', scores: '', rest: {} };

const asText = (value: unknown) => (typeof value === 'string' ? value : '');

export function filterFormOf(filter: Record<string, unknown>): FilterForm {
  const { prompt_name, status, score, ...rest } = filter;
  return {
    prompt: asText(prompt_name),
    status: asText(status),
    scores: Array.isArray(score) ? score.join('\n') : asText(score),
    rest,
  };
}

/** The filter in API format. */
export function toFilter({ prompt, status, scores, rest }: FilterForm): Record<string, unknown> {
  const conditions = scores
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return {
    ...rest,
    ...(prompt.trim() !== '' && { prompt_name: prompt.trim() }),
    ...(status !== '' && { status }),
    ...(conditions.length > 0 && { score: conditions }),
  };
}

const asWords = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        .map((entry) => entry.join('='))
        .join(' ')
    : String(value);

/** A filter in words. */
export function filterWords(filter: Record<string, unknown> | null): string {
  if (filter === null) return t('none');
  const parts = Object.entries(filter).flatMap(([name, value]) =>
    name === 'score' ? [value].flat().map(String) : [`${name} ${asWords(value)}`],
  );
  return parts.length === 0 ? t('all executions') : parts.join(', ');
}

/** @param withStatus whether executions other than completed ones can be selected */
export function FilterFields({
  value,
  onChange,
  withStatus = true,
}: {
  value: FilterForm;
  onChange: (value: FilterForm) => void;
  withStatus?: boolean;
}) {
  const names = useQuery(namesQuery).data ?? [];
  const others = Object.entries(value.rest);
  return (
    <>
      <ComboField
        label="Prompt"
        placeholder="all"
        spellCheck={false}
        options={names}
        value={value.prompt}
        onChange={(prompt) => onChange({ ...value, prompt })}
      />
      {withStatus && (
        <SelectField
          label="Status"
          value={value.status}
          onChange={(status) => onChange({ ...value, status })}
          options={[{ value: '', label: 'completed, unless chosen' }, ...EXECUTION_STATES]}
        />
      )}
      <TextArea
        label="Conditions on scores"
        className="mono"
        rows={2}
        spellCheck={false}
        value={value.scores}
        onChange={(scores) => onChange({ ...value, scores })}
        hint="One per line, all must hold: helpful=false, tone<0.5."
      />
      {others.length > 0 && (
        <p className="muted">
          Also: {others.map(([name, each]) => `${name} ${asWords(each)}`).join(', ')}. This part is unchanged.
        </p>
      )}
    </>
  );
}
