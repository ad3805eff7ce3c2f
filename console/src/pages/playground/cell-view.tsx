import { Link } from '@tanstack/react-router';
import { Play, Square } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { StatusBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Fact } from '../../components/fact.tsx';
import { Images, imagesIn } from '../../components/images.tsx';
import { MessagesView } from '../../components/messages-view.tsx';
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
import { SaveExampleDialog } from './save-example-dialog.tsx';
import { ToolResultsForm } from './tool-results-form.tsx';

const InlineDiff = lazy(async () => ({ default: (await import('../../components/text-diff.tsx')).InlineDiff }));

const STATES = {
  waiting: t('Waiting for its turn…'),
  stopped: t('Stopped before it started'),
  starting: t('Starting…'),
  running: t('Running…'),
  ended: '',
  refused: '',
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
  return (
    <article className="bench-cell" aria-label={`Cell ${name}`}>
      <div className="pane-head">
        <span className="bench-name">{name}</span>
        {cell && <CellState cell={cell} />}
        {!isAlone && (
          <Button look="small plain" disabled={onRun === undefined} onClick={() => (busy ? cells.stop(at) : onRun?.())}>
            {busy ? <Square className="icon" aria-hidden /> : <Play className="icon" aria-hidden />}
            {busy ? 'Stop' : 'Run'}
            <span className="visually-hidden"> {name}</span>
          </Button>
        )}
      </div>
      {cell && <CellContent cells={cells} cell={cell} {...{ name, compareWith, expected, onRun }} />}
    </article>
  );
}

function CellState({ cell: { run } }: { cell: Cell }) {
  const { execution, state } = run;
  return (
    <p role="status" className="row">
      {state === 'ended' && execution ? <StatusBadge status={execution.status} /> : STATES[state]}
      {execution && (
        <Link to="/executions/$id" params={{ id: execution.id }}>
          Details
        </Link>
      )}
    </p>
  );
}

function CellContent({
  cells,
  cell,
  name,
  compareWith,
  expected,
  onRun,
}: {
  cells: Cells;
  cell: Cell;
  name: string;
  compareWith: string | undefined;
  expected: unknown;
  onRun: ((turns?: readonly ChatMessage[]) => void) | undefined;
}) {
  const [dialog, setDialog] = useState(false);
  const [isContinued, setContinued] = useState(false);
  const mayWrite = useMay('write');
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
      {isCompleted && (
        <div className="row">
          {onRun && toolCalls.length === 0 && !isContinued && (
            <Button look="small" onClick={() => setContinued(true)}>
              Continue…<span className="visually-hidden"> {name}</span>
            </Button>
          )}
          {mayWrite && (
            <Button look="small" onClick={() => setDialog(true)}>
              Save as an example…<span className="visually-hidden"> {name}</span>
            </Button>
          )}
        </div>
      )}
      {isContinued && isCompleted && (
        <ReplyForm
          name={name}
          onSend={(text) => goOn([{ role: 'user', content: text }])}
          onCancel={() => setContinued(false)}
        />
      )}
      {dialog && execution && (
        <SaveExampleDialog
          id={execution.id}
          variables={execution.variables}
          expected={typeof expected === 'string' ? expected : (execution.output ?? '')}
          onClose={() => setDialog(false)}
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
