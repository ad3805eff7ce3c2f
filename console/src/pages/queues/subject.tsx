import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Trace, WholeTraceStep } from '../../api-types.ts';
import { PromptLink } from '../../components/badges.tsx';
import { MessagesView } from '../../components/messages-view.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { ErrorState, Loading } from '../../components/states.tsx';
import { formatJson } from '../../format.ts';
import { executionQuery, recordQuery } from '../../queries.ts';
import { t } from '../../strings.ts';
import { inputQuery, sameExampleQuery } from '../evaluations/queries.ts';
import type { QueueItem } from './types.ts';

/** The content to score, from its execution or evaluation. */
export interface Content {
  output: string | null;
  /** Undefined while loading. Null if nothing was sent. */
  input: string | readonly unknown[] | null | undefined;
  expected: unknown;
  /** Undefined for traces. */
  variables?: Record<string, unknown>;
  prompt: { name: string | null; version: number | null } | undefined;
  error: unknown;
}

/** Undefined while loading. */
export function useContent({
  execution_id,
  evaluation_id,
  example_id,
  trace_id,
  span_id,
}: QueueItem['subject']): Content | undefined {
  const trace = useQuery({
    ...recordQuery<Trace | WholeTraceStep>('traces', `${trace_id}${span_id === undefined ? '' : `/steps/${span_id}`}`),
    enabled: trace_id !== undefined,
  });
  const execution = useQuery({ ...executionQuery(execution_id ?? ''), enabled: execution_id !== undefined });
  const isExample = evaluation_id !== undefined && example_id !== undefined;
  const example = useQuery({
    ...sameExampleQuery(evaluation_id ?? '', { seq: 0, example_id: example_id ?? '' }),
    enabled: isExample,
  });
  const found = example.data ?? undefined;
  const sent = useQuery({ ...inputQuery(evaluation_id ?? '', found?.seq ?? 0), enabled: found !== undefined });
  const nothing = { output: null, input: null, expected: undefined, prompt: undefined };
  if (isExample) {
    if (example.error) return { ...nothing, error: example.error };
    if (example.data === undefined) return undefined;
    if (found === undefined)
      return { ...nothing, error: new Error('This example is no longer part of the evaluation.') };
    return {
      output: found.output,
      input: sent.data?.input,
      expected: found.expected,
      variables: found.variables,
      prompt: undefined,
      error: sent.error,
    };
  }
  if (trace_id !== undefined) {
    if (trace.error) return { ...nothing, error: trace.error };
    return trace.data && { ...nothing, output: trace.data.output, input: trace.data.input, error: null };
  }
  if (execution.data !== undefined) {
    const { output, input, variables, prompt_name, prompt_version } = execution.data;
    const prompt = { name: prompt_name, version: prompt_version };
    return { output, input, expected: undefined, variables, prompt, error: null };
  }
  return execution.error ? { ...nothing, error: execution.error } : undefined;
}

/** Characters of a text in a row, which shows fewer. */
const EXCERPT_CHARACTERS = 160;

/** A link to the scored subject. */
export function SubjectLink({
  subject: { execution_id, evaluation_id, example_id, trace_id, span_id },
  children,
}: {
  subject: QueueItem['subject'];
  /** Default: its kind and id. */
  children?: string | undefined;
}) {
  if (execution_id !== undefined)
    return (
      <Link to="/executions/$id" params={{ id: execution_id }}>
        {children ?? t(`Execution ${execution_id.slice(-12)}`)}
      </Link>
    );
  if (trace_id !== undefined)
    return (
      <Link to="/traces/$id" params={{ id: trace_id }} search={{ step: span_id }}>
        {children ?? (span_id === undefined ? t(`Trace ${trace_id.slice(-12)}`) : t(`Step ${span_id} of a trace`))}
      </Link>
    );
  if (evaluation_id === undefined) return null;
  return (
    <Link to="/evaluations/$id" params={{ id: evaluation_id }}>
      {children ?? t(`Example ${example_id} of ${evaluation_id.slice(-12)}`)}
    </Link>
  );
}

/** A line of the output, as a link to it; until it is known, its id. */
export function SubjectText({ subject }: { subject: QueueItem['subject'] }) {
  const content = useContent(subject);
  const text = content?.output ?? (typeof content?.input === 'string' ? content.input : undefined);
  return (
    <SubjectLink subject={subject}>
      {text?.slice(0, EXCERPT_CHARACTERS).replaceAll(/\s+/g, ' ').trim() || undefined}
    </SubjectLink>
  );
}

export function ContentView({ content }: { content: Content | undefined }) {
  if (content === undefined) return <Loading what="the item to score" />;
  const { output, input, expected, prompt, error } = content;
  return (
    <>
      {error ? <ErrorState error={error} /> : null}
      {prompt && (
        <p>
          <PromptLink {...prompt} />
        </p>
      )}
      <h3>Input</h3>
      {input === undefined ? <Loading what="the input" /> : input === null ? <p className="muted">None.</p> : null}
      {input != null && <MessagesView input={input} />}
      <h3>Output</h3>
      {output === null ? <p className="muted">None.</p> : <OutputView text={output} label="output" />}
      {expected !== undefined && expected !== null && (
        <>
          <h3>Expected</h3>
          <OutputView text={typeof expected === 'string' ? expected : formatJson(expected)} label="expected" />
        </>
      )}
    </>
  );
}
