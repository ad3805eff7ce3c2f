import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronDown, ChevronRight, Play, X } from 'lucide-react';
import { lazy, Suspense, useId, useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Prompt } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { Editor } from '../../components/editor.tsx';
import { Fact } from '../../components/fact.tsx';
import { SelectField } from '../../components/fields.tsx';
import { ModelField } from '../../components/model-field.tsx';
import { ParametersForm } from '../../components/parameters-form.tsx';
import { formatCost, formatMs, formatScore } from '../../format.ts';
import { labelsQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { newMessage } from '../prompt/content.ts';
import { MessagesForm } from '../prompt/messages-form.tsx';
import { type Cells, useCells } from './cells.ts';
import { type Draft, draftOf, EMPTY_DRAFT, type Pane } from './pane-state.ts';
import { totalsOf } from './totals.ts';

const SaveVersionDialog = lazy(async () => ({
  default: (await import('./save-version-dialog.tsx')).SaveVersionDialog,
}));

/** The settings of one pane: its version, model and text, which becomes a draft when it is edited. */
export function PaneHead({
  pane,
  at,
  prompt,
  version,
  stored,
  dataset,
  onChange,
  onSaved,
  onRun,
  onRemove,
}: {
  pane: Pane;
  at: number;
  prompt: Prompt | undefined;
  /** The selected version. */
  version: Prompt | undefined;
  /** Models that need no confirmation because they have run before. */
  stored: readonly string[];
  /** The dataset of the rows. */
  dataset: string | undefined;
  onChange: (part: Partial<Pane>) => void;
  /** Called when it has become a version. */
  onSaved: (saved: Prompt) => void;
  /** Undefined if it is not needed, or this session lacks the permission. */
  onRun: (() => void) | undefined;
  onRemove: (() => void) | undefined;
}) {
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const [isSaving, setSaving] = useState(false);
  const [isOpen, setOpen] = useState(true);
  const body = useId();
  const mayWrite = useMay('write');
  const mayExecute = useMay('execute');
  const { draft } = pane;
  const name = t(`Pane ${at + 1}`);
  const latest = prompt === undefined ? 0 : Math.max(prompt.version, version?.version ?? 0);
  const listed = [
    ...labels.map(({ label }) => label),
    ...Array.from({ length: latest }, (_, index) => String(latest - index)),
  ];
  // The selected one is listed, even before the others are loaded.
  const isOther = pane.version !== '' && !listed.includes(pane.version);
  const ofVersion = useMemo(() => version && draftOf(version, latest), [version, latest]);
  const text = draft ?? ofVersion;
  return (
    <section
      className="bench-head"
      data-pane={pane.key}
      aria-label={name}
      // A field that needs an answer gets the focus, which a folded one cannot have.
      onInvalidCapture={() => flushSync(() => setOpen(true))}
    >
      <div className="pane-head">
        <h2>
          {onRemove ? (
            <button
              type="button"
              className="bench-fold"
              aria-expanded={isOpen}
              aria-controls={body}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? <ChevronDown className="icon" aria-hidden /> : <ChevronRight className="icon" aria-hidden />}
              {name}
            </button>
          ) : (
            name
          )}
        </h2>
        {draft !== undefined && prompt !== undefined && <span className="badge warn">edited</span>}
        <div className="row">
          {onRun && (
            <Button look="small" onClick={onRun}>
              <Play className="icon" aria-hidden />
              Run<span className="visually-hidden"> pane {at + 1}</span>
            </Button>
          )}
          {onRemove && (
            <Button look="small plain" onClick={onRemove} aria-label={`Remove pane ${at + 1}`} title="Remove">
              <X className="icon" aria-hidden />
            </Button>
          )}
        </div>
      </div>
      <div id={body} className="bench-settings" hidden={!isOpen}>
        {prompt !== undefined && (
          <SelectField
            label="Version"
            value={pane.version}
            onChange={(chosen) => onChange({ version: chosen })}
            options={[{ value: '', label: 'latest' }, ...(isOther ? [pane.version] : []), ...listed]}
          />
        )}
        <ModelField
          label="Model"
          stored={stored}
          value={pane.model}
          onChange={(model) => onChange({ model })}
          placeholder={version?.model ?? prompt?.model ?? 'provider/model'}
        />
        <details>
          <summary>Parameters{Object.keys(pane.parameters).length > 0 && ' (changed)'}</summary>
          <ParametersForm
            model={pane.model || (version?.model ?? prompt?.model ?? '')}
            value={pane.parameters}
            onChange={(parameters) => onChange({ parameters })}
          />
        </details>
        {text && (
          <DraftForm
            draft={text}
            label={`Text of pane ${at + 1}`}
            onChange={(changed) => onChange({ draft: changed })}
            onDrop={prompt && draft && (() => onChange({ draft: undefined }))}
          />
        )}
        <div className="row">
          {mayWrite && (
            <Button look="small" onClick={() => setSaving(true)}>
              Save as a version…
            </Button>
          )}
          {mayExecute && draft === undefined && version && (
            <Link
              to="/evaluations/new"
              search={{ prompt: version.name, version: version.version, ...(dataset !== undefined && { dataset }) }}
              className="button small"
            >
              Evaluate…<span className="visually-hidden"> pane {at + 1}</span>
            </Link>
          )}
        </div>
      </div>
      {isSaving && (
        <Suspense>
          <SaveVersionDialog
            pane={pane}
            prompt={version ?? prompt}
            newest={draft?.newest ?? latest}
            onSaved={onSaved}
            onClose={() => setSaving(false)}
          />
        </Suspense>
      )}
    </section>
  );
}

/** What a pane runs, and the total cost and time of its runs, above its outputs. */
export function PaneTotals({
  pane: { model, draft },
  at,
  version,
  cells,
  keys,
}: {
  pane: Pane;
  at: number;
  version: Prompt | undefined;
  cells: Cells;
  /** The keys of the pane's cells. */
  keys: readonly string[];
}) {
  const all = useCells(cells);
  const totals = totalsOf(keys.flatMap((key) => all.get(key) ?? []));
  return (
    <section aria-label={`Runs of pane ${at + 1}`}>
      <p className="bench-what">
        <strong>{t(`Pane ${at + 1}`)}</strong>{' '}
        <span className="muted">
          {draft ? 'edited' : version && `v${version.version}`} {model || version?.model}
        </span>
      </p>
      {/* With only one run, the totals would repeat its numbers. */}
      {totals.runs > 1 && (
        <dl className="pane-numbers">
          <Fact label="Completed">
            {totals.completed} of {totals.runs}
          </Fact>
          {totals.score !== undefined && (
            <Fact label="Score">
              <strong>{formatScore(totals.score)}</strong>
            </Fact>
          )}
          <Fact label="Cost">{formatCost({ amount: totals.cost })}</Fact>
          <Fact label="Median time">{formatMs(totals.medianMs)}</Fact>
          <Fact label="First token">{formatMs(totals.medianFirstTokenMs)}</Fact>
        </dl>
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
          <Button look="small" onClick={toMessages}>
            Write messages
          </Button>
        ) : (
          <Button
            look="small"
            onClick={() =>
              onChange({ ...draft, ...EMPTY_DRAFT, template: draft.messages.find(({ isJson }) => !isJson)?.text ?? '' })
            }
          >
            Write one text
          </Button>
        )}
        {onDrop && (
          <Button look="small" onClick={onDrop}>
            Back to the version
          </Button>
        )}
      </div>
    </div>
  );
}
