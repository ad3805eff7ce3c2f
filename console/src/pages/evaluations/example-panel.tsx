import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ComponentProps, useDeferredValue } from 'react';
import type { Evaluation } from '../../api-types.ts';
import { DiffView } from '../../components/diff-view.tsx';
import { Fact } from '../../components/fact.tsx';
import { Images, imagesIn } from '../../components/images.tsx';
import { MessagesView } from '../../components/messages-view.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { PeekPanel } from '../../components/peek-panel.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { TemporalLink } from '../../components/temporal-link.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { formatCost, formatMs, formatNumber, formatScore } from '../../format.ts';
import { isNotFound } from '../../queries.ts';
import { t } from '../../strings.ts';
import { inputQuery, resultQuery, sameExampleQuery } from './queries.ts';
import { asText, outputOf } from './result-text.ts';
import type { Result } from './types.ts';

/** A longer comparison would block the browser: the texts are shown below each other. */
const MAX_COMPARED_CHARACTERS = 100_000;

/** One example of a run beside the list: input, output, expected value and reasons, then the rest. */
export function ExamplePanel({
  evaluation,
  seq,
  listed,
  onStep,
  onClose,
}: {
  evaluation: Evaluation;
  /** The position of the example in the run. */
  seq: number;
  /** Its result, if the list has it. */
  listed: Result | undefined;
  onStep: ComponentProps<typeof PeekPanel>['onStep'];
  onClose: () => void;
}) {
  const query = useQuery({ ...resultQuery(evaluation.id, seq), enabled: listed === undefined });
  // Comparing texts takes longer than a keystroke may: the panel shows the id of the example immediately.
  const result = useDeferredValue(listed ?? query.data);
  return (
    <PeekPanel id={String(seq)} title={t(`Example ${seq + 1}`)} onStep={onStep} onClose={onClose}>
      <p className="muted mono">{(listed ?? query.data)?.example_id}</p>
      {isNotFound(query.error) ? (
        <EmptyState title="The run has no such example, or no result of it yet" />
      ) : (
        <QueryState query={{ ...query, data: result }} what="the example">
          {(found) => <Details evaluation={evaluation} result={found} />}
        </QueryState>
      )}
    </PeekPanel>
  );
}

function Details({ evaluation, result }: { evaluation: Evaluation; result: Result }) {
  const { baseline_id } = evaluation;
  const isCode = evaluation.target.type === 'code';
  const baseline = useQuery({
    ...sameExampleQuery(baseline_id ?? '', result),
    enabled: baseline_id !== null,
  }).data;
  const output = outputOf(result);
  return (
    <div className="stack">
      {result.error && (
        <div className="notice bad">
          <strong>{result.error.code}</strong> {result.error.message}
        </div>
      )}
      <div className="stack">
        <h3>Variables</h3>
        <JsonView value={result.variables} label="variables" />
      </div>
      <div className="stack">
        <h3>Output</h3>
        {output === null ? <p className="muted">None.</p> : <OutputView text={output} label="output" />}
      </div>
      {result.expected !== null && (
        <Beside heading="Expected" label="expected" before={asText(result.expected)} after={output} />
      )}
      <Scores result={result} baseline={baseline ?? undefined} />
      {baseline && (
        <Beside heading="Output of the baseline" label="baseline's output" before={outputOf(baseline)} after={output} />
      )}
      {!isCode && <Sent id={evaluation.id} seq={result.seq} />}
      <dl className="facts">
        <Fact label="Score">
          <strong>{formatScore(result.score)}</strong>
          {result.baseline_score !== null && <span className="muted"> was {formatScore(result.baseline_score)}</span>}
        </Fact>
        {!isCode && <Fact label="Model">{result.model ?? evaluation.model}</Fact>}
        <Fact label="Tokens">
          {result.tokens_unknown
            ? 'not known: the provider did not report them'
            : `${formatNumber(result.tokens.input)} in, ${formatNumber(result.tokens.output)} out`}
        </Fact>
        {result.skipped && <Fact label="Left out">{result.skipped.join(', ')}</Fact>}
        <Fact label="Calls">{formatNumber(result.attempts)}</Fact>
        <Fact label="Cost, latency">
          {formatCost(result.cost)}, {formatMs(result.model_ms)}
        </Fact>
      </dl>
      <div className="row">
        {!isCode && (
          <Link to="/playground" search={{ evaluation: evaluation.id, example: result.seq }} className="button small">
            Open in the playground
          </Link>
        )}
        <ReusedLink from={result.reused_from} />
        <TemporalLink small workflowId={evaluation.workflow_id} />
      </div>
    </div>
  );
}

/** A link to the execution that paid for a reused response. */
function ReusedLink({ from }: { from: string | null }) {
  if (from === null) return null;
  return from.startsWith('eval_') ? (
    <Link to="/evaluations/$id" params={{ id: from }} className="button small">
      Evaluation that called the model
    </Link>
  ) : (
    <Link to="/executions/$id" params={{ id: from }} className="button small">
      Execution that called the model
    </Link>
  );
}

/** The input of the model. */
function Sent({ id, seq }: { id: string; seq: number }) {
  const query = useQuery(inputQuery(id, seq));
  return (
    <section className="stack" aria-label="Sent to the model">
      <h3>Sent to the model</h3>
      <QueryState query={query} what="what was sent">
        {({ input }) =>
          input === null ? (
            <p className="muted">Nothing: the variables do not fill the prompt.</p>
          ) : (
            <MessagesView input={input} />
          )
        }
      </QueryState>
    </section>
  );
}

/** A text next to the output, with differences marked. */
function Beside({
  heading,
  label,
  before,
  after,
}: {
  heading: string;
  label: string;
  before: string | null;
  after: string | null;
}) {
  const fits = (before?.length ?? 0) + (after?.length ?? 0) <= MAX_COMPARED_CHARACTERS;
  return (
    <section className="stack" aria-label={heading}>
      <h3>{heading}</h3>
      {before === null ? (
        <p className="muted">None.</p>
      ) : after !== null && fits ? (
        <>
          <DiffView before={{ title: heading, text: before }} after={{ title: 'Output of this run', text: after }} />
          <Images images={imagesIn(before)} label={`images of ${label}`} />
        </>
      ) : (
        <OutputView text={before} label={label} />
      )}
    </section>
  );
}

function Scores({ result, baseline }: { result: Result; baseline: Result | undefined }) {
  const scores = Object.entries(result.scores ?? {});
  if (scores.length === 0) return null;
  return (
    <section className="stack" aria-labelledby="example-scores">
      <h3 id="example-scores">Scores</h3>
      <table className="simple-table">
        <thead>
          <tr>
            <th scope="col">Evaluator</th>
            <th scope="col">Score</th>
            {baseline && <th scope="col">Baseline</th>}
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {scores.map(([name, { score, reason }]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{formatScore(score)}</td>
              {baseline && <td>{formatScore(baseline.scores?.[name]?.score)}</td>}
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
