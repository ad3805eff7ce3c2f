import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Prompt } from '../../api-types.ts';
import { StatusBadge } from '../../components/badges.tsx';
import { Editor } from '../../components/editor.tsx';
import { SelectField } from '../../components/fields.tsx';
import { ModelField } from '../../components/model-field.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { ParametersForm } from '../../components/parameters-form.tsx';
import { ErrorState } from '../../components/states.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { formatCost, formatMs, formatNumber } from '../../format.ts';
import { labelsQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { newMessage } from '../prompt/content.ts';
import { MessagesForm } from '../prompt/messages-form.tsx';
import { type Draft, draftOf, EMPTY_DRAFT, type Pane } from './pane-state.ts';
import type { Run } from './run.ts';
import { SaveExampleDialog } from './save-example-dialog.tsx';
import { SaveVersionDialog } from './save-version-dialog.tsx';

const STATES = { starting: 'Starting…', running: 'Running…', ended: '', refused: '' };

/** What one pane runs, and what came of it. */
export function PaneView({
  pane,
  at,
  prompt,
  version,
  onChange,
  onSaved,
  onRun,
  onStop,
  onRemove,
}: {
  pane: Pane;
  at: number;
  prompt: Prompt | undefined;
  /** The version that the pane has chosen. */
  version: Prompt | undefined;
  onChange: (part: Partial<Pane>) => void;
  /** Its text is a version now. */
  onSaved: () => void;
  /** Undefined: this session may not. */
  onRun: (() => void) | undefined;
  onStop: () => void;
  onRemove: (() => void) | undefined;
}) {
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const [dialog, setDialog] = useState<'version' | 'example'>();
  const mayWrite = useMay('write');
  const { run, draft } = pane;
  const isBusy = run?.state === 'starting' || run?.state === 'running';
  const name = `Pane ${at + 1}`;
  const latest = prompt === undefined ? 0 : Math.max(prompt.version, version?.version ?? 0);
  return (
    <section className="card" aria-label={name}>
      <div className="pane-head">
        <h2>{name}</h2>
        <div className="row">
          <button
            type="button"
            className="button small"
            disabled={onRun === undefined}
            onClick={isBusy ? onStop : onRun}
          >
            {isBusy ? 'Stop' : 'Run'}
            <span className="visually-hidden"> pane {at + 1}</span>
          </button>
          {onRemove && (
            <button type="button" className="button small" onClick={onRemove} aria-label={`Remove pane ${at + 1}`}>
              ✕
            </button>
          )}
        </div>
      </div>
      {prompt !== undefined && (
        <SelectField
          label="Version"
          value={pane.version}
          onChange={(chosen) => onChange({ version: chosen })}
          options={[
            { value: '', label: 'latest' },
            ...labels.map(({ label }) => ({ value: label, label })),
            ...Array.from({ length: latest }, (_, index) => String(latest - index)),
          ]}
        />
      )}
      <ModelField
        label="Model"
        value={pane.model}
        onChange={(model) => onChange({ model })}
        placeholder={version?.model ?? prompt?.model ?? 'provider/model'}
      />
      <details>
        <summary>Parameters{Object.keys(pane.parameters).length > 0 && ' (changed)'}</summary>
        <ParametersForm value={pane.parameters} onChange={(parameters) => onChange({ parameters })} />
      </details>
      {draft === undefined ? (
        version && (
          <div>
            <button
              type="button"
              className="button small"
              onClick={() => onChange({ draft: draftOf(version, latest) })}
            >
              Edit the text
            </button>
          </div>
        )
      ) : (
        <DraftForm
          draft={draft}
          label={`Draft of pane ${at + 1}`}
          onChange={(changed) => onChange({ draft: changed })}
          onDrop={prompt && (() => onChange({ draft: undefined }))}
        />
      )}
      {run && <RunView run={run} label={`output of pane ${at + 1}`} />}
      {mayWrite && (
        <div className="row">
          <button type="button" className="button small" onClick={() => setDialog('version')}>
            Save as a version…
          </button>
          {run?.execution?.status === 'completed' && (
            <button type="button" className="button small" onClick={() => setDialog('example')}>
              Save as an example…
            </button>
          )}
        </div>
      )}
      {dialog === 'version' && (
        <SaveVersionDialog
          pane={pane}
          prompt={version ?? prompt}
          newest={draft?.newest ?? latest}
          onSaved={onSaved}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'example' && run?.execution && (
        <SaveExampleDialog execution={run.execution} onClose={() => setDialog(undefined)} />
      )}
    </section>
  );
}

function DraftForm({
  draft,
  label,
  onChange,
  onDrop,
}: {
  draft: Draft;
  label: string;
  onChange: (draft: Draft) => void;
  onDrop: (() => void) | undefined;
}) {
  const toMessages = () => onChange({ ...draft, form: 'messages', messages: [newMessage('user', draft.template)] });
  return (
    <div className="stack">
      {draft.form === 'template' ? (
        <Editor
          label={label}
          value={draft.template}
          onChange={(template) => onChange({ ...draft, template })}
          minLines={5}
        />
      ) : (
        <MessagesForm
          messages={draft.messages}
          onChange={(messages) => onChange({ ...draft, messages })}
          disabled={false}
        />
      )}
      <div className="row">
        {draft.form === 'template' ? (
          <button type="button" className="button small" onClick={toMessages}>
            Write messages
          </button>
        ) : (
          <button
            type="button"
            className="button small"
            onClick={() =>
              onChange({ ...draft, ...EMPTY_DRAFT, template: draft.messages.find(({ isJson }) => !isJson)?.text ?? '' })
            }
          >
            Write one text
          </button>
        )}
        {onDrop && (
          <button type="button" className="button small" onClick={onDrop}>
            Back to the version
          </button>
        )}
      </div>
    </div>
  );
}

function RunView({ run, label }: { run: Run; label: string }) {
  const { execution, state, output, toolCalls, error } = run;
  const hasEnded = state === 'ended' && execution !== undefined;
  return (
    <div className="stack">
      <p role="status" className="row">
        {hasEnded ? <StatusBadge status={execution.status} /> : STATES[state]}
        {execution && (
          <Link to="/executions/$id" params={{ id: execution.id }}>
            Details
          </Link>
        )}
      </p>
      {error !== undefined && <ErrorState error={error} />}
      {execution?.error && (
        <div className="notice bad">
          <strong>{execution.error.code}</strong> {execution.error.message}
        </div>
      )}
      {output !== '' && <OutputView text={output} label={label} />}
      {toolCalls.length > 0 && <JsonView value={toolCalls} label={`tool calls of ${label}`} />}
      {hasEnded && (
        <dl className="pane-numbers">
          <div>
            <dt>Tokens</dt>
            <dd>
              {formatNumber(execution.tokens.input)} in, {formatNumber(execution.tokens.output)} out
            </dd>
          </div>
          <div>
            <dt>Cost</dt>
            <dd>{formatCost(execution.cost)}</dd>
          </div>
          <div>
            <dt>Duration</dt>
            <dd>{formatMs(execution.latency.total_ms)}</dd>
          </div>
        </dl>
      )}
    </div>
  );
}
