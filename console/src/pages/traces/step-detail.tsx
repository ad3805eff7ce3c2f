import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { SquareTerminal } from 'lucide-react';
import type { Ref } from 'react';
import type { Trace, WholeTraceStep } from '../../api-types.ts';
import { PromptLink, StatusBadge } from '../../components/badges.tsx';
import { Fact } from '../../components/fact.tsx';
import { MessagesView } from '../../components/messages-view.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { QueryState } from '../../components/states.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { formatCost, formatMs, formatNumber } from '../../format.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { TryVersionLink } from '../executions/try-version-link.tsx';
import { stepQuery } from './queries.ts';
import { StepIcon } from './step-icons.tsx';
import type { TreeStep } from './tree.ts';

/** A step with its texts, which are fetched on demand. */
export function StepDetail({
  trace,
  placed,
  heading,
}: {
  trace: Trace;
  placed: TreeStep;
  heading: Ref<HTMLHeadingElement>;
}) {
  const { step, begin, took } = placed;
  const mayExecute = useMay('execute');
  const query = useQuery(stepQuery(trace, step.id, step.status));
  const { tokens, own_tokens: own, execution_id: execution, error } = step;
  const hasSum = tokens !== null && own !== null && (own.input !== tokens.input || own.output !== tokens.output);
  return (
    <section className="step-detail" aria-labelledby="step-title">
      <h2 id="step-title" tabIndex={-1} ref={heading} className="row">
        <StepIcon type={step.type} />
        {step.name}
      </h2>
      {execution !== null && (
        <div className="row">
          <Link to="/executions/$id" params={{ id: execution }} className="button small">
            Execution
          </Link>
          <Link to="/playground" search={{ execution }} className="button small">
            <SquareTerminal size={16} aria-hidden />
            Open in the playground
          </Link>
          {mayExecute && step.status === 'ok' && (
            <TryVersionLink small prompt={step.prompt?.name} executions={{ execution_ids: [execution] }}>
              Try another version
            </TryVersionLink>
          )}
        </div>
      )}
      {error && (
        <div className="notice bad">
          {error.type !== null && <strong>{error.type}</strong>}{' '}
          {error.message ?? (error.type === null && 'It failed.')}
        </div>
      )}
      <dl className="facts">
        <Fact label="Type">{step.type}</Fact>
        <Fact label="Status">
          <StatusBadge status={step.status} />
        </Fact>
        <Fact label="Duration">
          {took === undefined ? 'not ended yet' : formatMs(took)}
          <span className="muted"> after {formatMs(begin)}</span>
        </Fact>
        {step.model !== null && (
          <Fact label="Model">{step.provider === null ? step.model : `${step.provider}/${step.model}`}</Fact>
        )}
        {tokens && (
          <Fact label="Tokens">
            {formatNumber(tokens.input)} in, {formatNumber(tokens.output)} out
            {hasSum && (
              <span className="muted">
                {' '}
                (its own {formatNumber(own.input)} in, {formatNumber(own.output)} out)
              </span>
            )}
          </Fact>
        )}
        {step.cost.amount !== null && <Fact label="Cost">{formatCost(step.cost)}</Fact>}
        {step.tool !== null && <Fact label="Tool">{step.tool}</Fact>}
        {step.agent !== null && <Fact label="Agent">{step.agent}</Fact>}
        {step.prompt && (
          <Fact label="Prompt">
            <PromptLink name={step.prompt.name} version={step.prompt.version} />
          </Fact>
        )}
      </dl>
      {step.cut.length > 0 && (
        <p className="notice">These were too long and are stored in part: {step.cut.join(', ')}.</p>
      )}
      <QueryState query={query} what="the texts of the step">
        {(whole) => <Texts step={whole} />}
      </QueryState>
    </section>
  );
}

const isEmpty = (value: object) => Object.keys(value).length === 0;

function Texts({ step }: { step: WholeTraceStep }) {
  const { input, output, tool_calls: calls, events, links } = step;
  const others = [
    [t('Parameters'), step.parameters],
    [t('Metadata'), step.metadata],
    [t('Attributes'), step.attributes],
    [t('Resource'), step.resource],
  ] as const;
  return (
    <>
      {(output !== null || calls.length > 0) && (
        <div className="stack">
          <h3>Output</h3>
          {output !== null && output !== '' && <OutputView text={output} label="output" />}
          {calls.length > 0 && <JsonView value={calls} label="tool calls" />}
        </div>
      )}
      {input !== null && (
        <div className="stack">
          <h3>Input</h3>
          <MessagesView input={input} />
        </div>
      )}
      {input === null && output === null && calls.length === 0 && (
        <p className="muted">This step was sent without input and output.</p>
      )}
      {others.map(([title, value]) =>
        isEmpty(value) ? null : (
          <details key={title} className="stack">
            <summary>{title}</summary>
            <JsonView value={value} label={title} />
          </details>
        ),
      )}
      {events.length > 0 && (
        <details className="stack">
          <summary>Events</summary>
          <JsonView value={events} label="events" />
        </details>
      )}
      {links.length > 0 && (
        <details className="stack">
          <summary>Links</summary>
          <JsonView value={links} label="links" />
        </details>
      )}
    </>
  );
}
