import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { post } from '../../api.ts';
import { formatCost, formatNumber, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import { type RunForm, toCreate } from './run-form-state.ts';
import type { Estimate } from './types.ts';

const TYPING_MS = 600;

/** The estimated cost of this form's run, or what is still missing. */
export function EstimateView({ form }: { form: RunForm }) {
  return (
    <EstimateCard
      form={form}
      resource="evaluations"
      toBody={bodyOf}
      missing={t('Choose a prompt and examples to see what the run would cost.')}
    >
      {(estimate: Estimate) => <RunEstimate estimate={estimate} />}
    </EstimateCard>
  );
}

const bodyOf = (form: RunForm) =>
  form.prompt !== '' && (form.source !== 'dataset' || form.dataset !== '')
    ? toCreate({ ...form, startAt: '' })
    : undefined;

/** What a form's `POST /{resource}/estimate` says, some time after the last change. */
export function EstimateCard<Form, Result>({
  form,
  resource,
  toBody,
  missing,
  children,
}: {
  form: Form;
  resource: string;
  /** The body of the request; undefined or an error while something is missing. */
  toBody: (form: Form) => object | undefined;
  /** Shown instead while something is missing. */
  missing: string;
  children: (estimate: Result) => ReactNode;
}) {
  const [settled, setSettled] = useState(form);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(form), TYPING_MS);
    return () => clearTimeout(timer);
  }, [form]);
  let body: object | undefined;
  try {
    body = toBody(settled);
  } catch {
    // Incomplete JSON input.
  }
  const { data, error, isFetching } = useQuery({
    queryKey: [resource, 'estimate', body],
    queryFn: ({ signal }) => post<Result>(`/${resource}/estimate`, body, { signal }),
    enabled: body !== undefined,
    placeholderData: (before) => before,
    retry: false,
  });
  return (
    <section className="card" aria-labelledby="estimate" aria-live="polite">
      <h2 id="estimate">Estimate</h2>
      {body === undefined && <p className="muted">{missing}</p>}
      {body !== undefined && error && <p className="field-error">{error.message}</p>}
      {body !== undefined && !error && data === undefined && <p className="muted">{isFetching ? 'Estimating…' : ''}</p>}
      {body !== undefined && !error && data && children(data)}
    </section>
  );
}

function RunEstimate({ estimate }: { estimate: Estimate }) {
  const { cost, savings, examples, model_calls, judge_calls, tokens, basis } = estimate;
  return (
    <>
      <p>
        <strong>{cost === null ? 'Cost unknown: a model has no price' : `About ${formatCost(cost)}`}</strong>
        {savings !== null && `, ${formatCost(savings)} less than with single calls`}
      </p>
      <p>
        {plural(examples, 'example', 'examples')}, {plural(model_calls, 'call', 'calls')} of the model
        {judge_calls > 0 && `, ${formatNumber(judge_calls)} of judges`}, {formatNumber(tokens.input)} tokens in,{' '}
        {formatNumber(tokens.output)} out.
      </p>
      <p className="muted">{basis}</p>
    </>
  );
}
