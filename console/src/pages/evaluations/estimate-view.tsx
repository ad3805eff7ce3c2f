import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { post } from '../../api.ts';
import { formatCost, formatNumber, plural } from '../../format.ts';
import { type RunForm, toCreate } from './run-form-state.ts';
import type { CreateEvaluation, Estimate } from './types.ts';

const TYPING_MS = 600;

/** The estimated cost of this form's run, or what is still missing. */
export function EstimateView({ form }: { form: RunForm }) {
  const [settled, setSettled] = useState(form);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(form), TYPING_MS);
    return () => clearTimeout(timer);
  }, [form]);
  let body: CreateEvaluation | undefined;
  try {
    const isFilled = settled.prompt !== '' && (settled.source !== 'dataset' || settled.dataset !== '');
    body = isFilled ? toCreate({ ...settled, startAt: '' }) : undefined;
  } catch {
    // Incomplete JSON input.
  }
  const { data, error, isFetching } = useQuery({
    queryKey: ['evaluations', 'estimate', body],
    queryFn: ({ signal }) => post<Estimate>('/evaluations/estimate', body, { signal }),
    enabled: body !== undefined,
    placeholderData: (before) => before,
    retry: false,
  });
  return (
    <section className="card" aria-labelledby="estimate" aria-live="polite">
      <h2 id="estimate">Estimate</h2>
      {body === undefined && <p className="muted">Choose a prompt and examples to see what the run would cost.</p>}
      {body !== undefined && error && <p className="field-error">{error.message}</p>}
      {body !== undefined && !error && data === undefined && <p className="muted">{isFetching ? 'Estimating…' : ''}</p>}
      {body !== undefined && !error && data && (
        <>
          <p>
            <strong>
              {data.cost === null ? 'Cost unknown: a model has no price' : `About ${formatCost(data.cost)}`}
            </strong>
            {data.savings !== null && `, ${formatCost(data.savings)} less than with single calls`}
          </p>
          <p>
            {plural(data.examples, 'example', 'examples')}, {plural(data.model_calls, 'call', 'calls')} of the model
            {data.judge_calls > 0 && `, ${formatNumber(data.judge_calls)} of judges`}, {formatNumber(data.tokens.input)}{' '}
            tokens in, {formatNumber(data.tokens.output)} out.
          </p>
          <p className="muted">{data.basis}</p>
        </>
      )}
    </section>
  );
}
