import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Play, X } from 'lucide-react';
import { Fragment, useState } from 'react';
import type { Prompt } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { Editor } from '../../components/editor.tsx';
import { Fact } from '../../components/fact.tsx';
import { SelectField } from '../../components/fields.tsx';
import { ModelField } from '../../components/model-field.tsx';
import { ParametersForm } from '../../components/parameters-form.tsx';
import { formatCost, formatJson, formatMs, formatScore } from '../../format.ts';
import { labelsQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { newMessage } from '../prompt/content.ts';
import { MessagesForm } from '../prompt/messages-form.tsx';
import { type Cells, useCells } from './cells.ts';
import { type Draft, draftOf, EMPTY_DRAFT, type Pane } from './pane-state.ts';
import { SaveVersionDialog } from './save-version-dialog.tsx';
import { totalsOf } from './totals.ts';

/** The settings of one pane, and the total cost and time of its runs. */
export function PaneHead({
  pane,
  at,
  prompt,
  version,
  cells,
  keys,
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
  cells: Cells;
  /** The keys of the pane's cells. */
  keys: readonly string[];
  /** Models that need no confirmation because they have run before. */
  stored: readonly string[];
  /** The dataset of the rows. */
  dataset: string | undefined;
  onChange: (part: Partial<Pane>) => void;
  /** Called when its text has become a version. */
  onSaved: () => void;
  /** Undefined if it is not needed, or this session lacks the permission. */
  onRun: (() => void) | undefined;
  onRemove: (() => void) | undefined;
}) {
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const [isSaving, setSaving] = useState(false);
  const mayWrite = useMay('write');
  const mayExecute = useMay('execute');
  const { draft } = pane;
  const name = t(`Pane ${at + 1}`);
  // The selected one is listed, even before the others are loaded.
  const isOther =
    pane.version !== '' && !/^\d+$/.test(pane.version) && !labels.some(({ label }) => label === pane.version);
  const latest = prompt === undefined ? 0 : Math.max(prompt.version, version?.version ?? 0);
  return (
    <section className="bench-head" data-pane={pane.key} aria-label={name}>
      <div className="pane-head">
        <h2>{name}</h2>
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
      {prompt !== undefined && (
        <SelectField
          label="Version"
          value={pane.version}
          onChange={(chosen) => onChange({ version: chosen })}
          options={[
            { value: '', label: 'latest' },
            ...(isOther ? [pane.version] : []),
            ...labels.map(({ label }) => label),
            ...Array.from({ length: latest }, (_, index) => String(latest - index)),
          ]}
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
      {draft === undefined && version && (
        <details open>
          <summary>Text</summary>
          <VersionText version={version} label={`text ${at + 1} (v${version.version})`} />
        </details>
      )}
      {draft !== undefined && (
        <DraftForm
          draft={draft}
          label={`Draft of pane ${at + 1}`}
          onChange={(changed) => onChange({ draft: changed })}
          onDrop={prompt && (() => onChange({ draft: undefined }))}
        />
      )}
      <div className="row">
        {draft === undefined && version && (
          <Button look="small" onClick={() => onChange({ draft: draftOf(version, latest) })}>
            Edit its text
          </Button>
        )}
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
      <Totals cells={cells} keys={keys} />
      {isSaving && (
        <SaveVersionDialog
          pane={pane}
          prompt={version ?? prompt}
          newest={draft?.newest ?? latest}
          onSaved={onSaved}
          onClose={() => setSaving(false)}
        />
      )}
    </section>
  );
}

/** A version's text, read-only. */
function VersionText({ version: { template, messages }, label }: { version: Prompt; label: string }) {
  return (
    <pre className="code bench-text" tabIndex={0} role="region" aria-label={label}>
      {template ??
        messages?.map((message, index) => (
          // Messages have no ids, and keep their order.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <Fragment key={index}>
            <strong>{'placeholder' in message ? `{{ ${message.placeholder} }}` : message.role}</strong>
            {'placeholder' in message ? '' : `\n${textOf(message.content)}`}
            {index < messages.length - 1 && '\n\n'}
          </Fragment>
        ))}
    </pre>
  );
}

const textOf = (content: unknown) => (typeof content === 'string' ? content : formatJson(content));

function Totals({ cells, keys }: { cells: Cells; keys: readonly string[] }) {
  const all = useCells(cells);
  const totals = totalsOf(keys.flatMap((key) => all.get(key) ?? []));
  // With only one run, the totals would repeat its numbers.
  if (totals.runs < 2) return null;
  return (
    <dl className="pane-numbers bench-totals">
      <Fact label="Completed">
        {totals.completed} of {totals.runs}
      </Fact>
      <Fact label="Cost">{formatCost({ amount: totals.cost })}</Fact>
      <Fact label="Median time">{formatMs(totals.medianMs)}</Fact>
      <Fact label="First token">{formatMs(totals.medianFirstTokenMs)}</Fact>
      {totals.score !== undefined && (
        <Fact label="Score">
          <strong>{formatScore(totals.score)}</strong>
        </Fact>
      )}
    </dl>
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
