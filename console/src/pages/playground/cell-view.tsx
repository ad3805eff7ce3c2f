import { linkOptions } from '@tanstack/react-router';
import { Play, Square } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { StatusBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Fact } from '../../components/fact.tsx';
import { Images, imagesIn } from '../../components/images.tsx';
import { MessagesView } from '../../components/messages-view.tsx';
import { MoreMenu } from '../../components/more-menu.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { ErrorState } from '../../components/states.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { formatCost, formatMs, formatNumber, formatScore, NONE, plural } from '../../format.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { type Cell, type Cells, type Scoring, useCell } from './cells.ts';
import type { ChatMessage } from './pane-state.ts';
import { ReplyForm, replyOf } from './reply-form.tsx';
import { isBusy } from './run.ts';
import { ToolResultsForm } from './tool-results-form.tsx';

// Loaded when it is opened.
const SaveExampleDialog = lazy(async () => ({
  default: (await import('./save-example-dialog.tsx')).SaveExampleDialog,
}));
const InlineDiff = lazy(async () => ({ default: (await import('../../components/text-diff.tsx')).InlineDiff }));

const STATES = {
  waiting: t('Waiting for its turn…'),
  stopped: t('Stopped before it started'),
  starting: t('Starting…'),
  running: t('Running…'),
  ended: '',
  refused: '',
  earlier: t('Result of the evaluation'),
};

/**
 * The result of a pane with a row: the streamed output, its cost and duration, its scores, and how to continue the conversation.
 */
export function CellView({
  cells,
  at,
  name,
  compareWith,
  expected,
  onRun,
  isAlone,
}: {
  cells: Cells;
  /** The key of the cell. */
  at: string;
  /** Such as "pane 1, row 2". */
  name: string;
  /** The key of the cell to compare the output with. */
  compareWith: string | undefined;
  /** The expected value of the row. */
  expected: unknown;
  /** Runs it again after these messages. Undefined if this session lacks the permission. */
  onRun: ((turns?: readonly ChatMessage[]) => void) | undefined;
  /** The only cell: "Run all" runs it. */
  isAlone: boolean;
}) {
  const cell = useCell(cells, at);
  const busy = cell !== undefined && isBusy(cell.run);
  const mayWrite = useMay('write');
  const [isContinued, setContinued] = useState(false);
  const { execution, toolCalls = [] } = cell?.run ?? {};
  const isCompleted = cell?.run.state === 'ended' && execution?.status === 'completed';
  return (
    <article className="bench-cell" aria-label={`Cell ${name}`} data-cell={at}>
      {(cell || !isAlone) && (
        <div className="pane-head">
          {!isAlone && <span className="bench-name">{name}</span>}
          {cell && <CellState cell={cell} />}
          <div className="row bench-controls">
            {!isAlone && (
              <Button
                look="small plain"
                disabled={onRun === undefined}
                onClick={() => (busy ? cells.stop(at) : onRun?.())}
                aria-label={busy ? `Stop ${name}` : `Run ${name}`}
                title={busy ? 'Stop' : 'Run'}
              >
                {busy ? <Square className="icon" aria-hidden /> : <Play className="icon" aria-hidden />}
              </Button>
            )}
            <MoreMenu
              of={name}
              actions={[
                isCompleted &&
                  onRun !== undefined &&
                  toolCalls.length === 0 && { label: 'Continue…', onClick: () => setContinued(true) },
                isCompleted &&
                  mayWrite &&
                  execution !== undefined && {
                    label: 'Save as an example…',
                    dialog: (close) => (
                      <Suspense>
                        <SaveExampleDialog
                          id={execution.id}
                          variables={execution.variables}
                          expected={typeof expected === 'string' ? expected : (execution.output ?? '')}
                          onClose={close}
                        />
                      </Suspense>
                    ),
                  },
                execution !== undefined && {
                  label: 'Open the execution',
                  link: linkOptions({ to: '/executions/$id', params: { id: execution.id } }),
                },
              ]}
            />
          </div>
        </div>
      )}
      {cell ? (
        <CellContent cells={cells} cell={cell} {...{ name, compareWith, onRun, isContinued, setContinued }} />
      ) : (
        isAlone && <p className="muted">The output appears here.</p>
      )}
    </article>
  );
}

const CellState = ({ cell: { run } }: { cell: Cell }) => (
  <p role="status" className="row">
    {run.state === 'ended' && run.execution ? <StatusBadge status={run.execution.status} /> : STATES[run.state]}
  </p>
);

function CellContent({
  cells,
  cell,
  name,
  compareWith,
  onRun,
  isContinued,
  setContinued,
}: {
  cells: Cells;
  cell: Cell;
  name: string;
  compareWith: string | undefined;
  onRun: ((turns?: readonly ChatMessage[]) => void) | undefined;
  /** Whether the next message is being written. */
  isContinued: boolean;
  setContinued: (is: boolean) => void;
}) {
  const { run, turns, scoring } = cell;
  const { execution, output, toolCalls, error, state } = run;
  const isCompleted = state === 'ended' && execution?.status === 'completed';
  const goOn = (next: readonly ChatMessage[]) => {
    setContinued(false);
    onRun?.([...turns, ...replyOf(run), ...next]);
  };
  return (
    <>
      {turns.length > 0 && (
        <details className="bench-turns" open={turns.length < 5}>
          <summary>The conversation so far: {plural(turns.length, 'message', 'messages')}</summary>
          <MessagesView input={turns} />
        </details>
      )}
      {error !== undefined && <ErrorState error={error} />}
      {execution?.error && (
        <div className="notice bad">
          <strong>{execution.error.code}</strong> {execution.error.message}
        </div>
      )}
      {output !== '' && <Output cells={cells} text={output} label={`output of ${name}`} compareWith={compareWith} />}
      {toolCalls.length > 0 &&
        (isCompleted && onRun ? (
          <ToolResultsForm calls={toolCalls} name={name} onSend={goOn} />
        ) : (
          <JsonView value={toolCalls} label={`tool calls of ${name}`} />
        ))}
      {execution && state === 'ended' && (
        <dl className="pane-numbers">
          <Fact label="Tokens">{execution.tokens_unknown ? NONE : formatNumber(execution.tokens.total)}</Fact>
          <Fact label="Cost">{formatCost(execution.cost)}</Fact>
          <Fact label="First token">{formatMs(run.firstTokenMs)}</Fact>
          <Fact label="Total">{formatMs(run.totalMs)}</Fact>
        </dl>
      )}
      {scoring && <Scores scoring={scoring} />}
      {execution && typeof execution.input !== 'string' && <Images images={imagesIn(execution.input)} />}
      {isContinued && isCompleted && (
        <ReplyForm
          name={name}
          onSend={(text) => goOn([{ role: 'user', content: text }])}
          onCancel={() => setContinued(false)}
        />
      )}
    </>
  );
}

function Output({
  cells,
  text,
  label,
  compareWith,
}: {
  cells: Cells;
  text: string;
  label: string;
  compareWith: string | undefined;
}) {
  const other = useCell(cells, compareWith ?? '')?.run.output;
  const asItIs = <OutputView text={text} label={label} />;
  if (compareWith === undefined || other === undefined || other === '') return asItIs;
  return (
    <Suspense fallback={asItIs}>
      <InlineDiff before={other} after={text} label={label} />
    </Suspense>
  );
}

function Scores({ scoring: { isUnderWay, score, scores, error } }: { scoring: Scoring }) {
  if (error !== undefined) return <ErrorState error={error} />;
  if (isUnderWay) return <p className="muted">Scoring…</p>;
  return (
    <ul className="bench-scores" aria-label="Scores">
      {scores.map(({ name, score: own, reason, problem, cost }) => (
        <li key={name}>
          <span className={`badge ${problem !== null ? 'warn' : own === 1 ? 'good' : own === 0 ? 'bad' : ''}`}>
            {name}: {problem === null ? formatScore(own) : 'not scored'}
          </span>{' '}
          {reason !== null && <span>{reason}</span>}{' '}
          {cost !== null && <span className="muted">{formatCost(cost)} for the judge</span>}
        </li>
      ))}
      {scores.length > 1 && score !== undefined && (
        <li>
          <strong>{formatScore(score)}</strong> together
        </li>
      )}
    </ul>
  );
}
