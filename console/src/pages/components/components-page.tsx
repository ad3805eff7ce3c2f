import { Rocket, Search } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { LabelBadge, StatusBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Chart } from '../../components/chart.tsx';
import { ComboField } from '../../components/combo-field.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { ModelField } from '../../components/model-field.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { PageHead } from '../../components/page.tsx';
import { Scatter } from '../../components/scatter.tsx';
import { EmptyState, ErrorState, Loading } from '../../components/states.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { showError, showToast } from '../../components/toast.tsx';
import { formatCount, formatScore } from '../../format.ts';

const COLOURS = [
  'bg',
  'surface',
  'surface-raised',
  'border',
  'border-strong',
  'text',
  'text-muted',
  'accent',
  'good',
  'bad',
  'warn',
];
const CHART_DAYS = Array.from({ length: 10 }, (_, index) => `2026-02-${String(index + 1).padStart(2, '0')}`);
const SIZES = ['xs', 'sm', 'base', 'lg', 'xl', '2xl'];
const STATES = ['queued', 'running', 'completed', 'failed', 'canceled', 'paused', 'disabled'];
const MARKDOWN =
  '# Shipping\n\n- *Norway*: **five** days\n- [Terms](https://example.com)\n\n```js\nconst days = 5;\n```\n\n| to | days |\n|---|---|\n| Oslo | 5 |';
const ROWS = Array.from({ length: 1_000 }, (_, index) => ({ name: `prompt-${index}`, runs: index * 7 }));

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Every component in its states, for review in both themes. */
export function ComponentsPage() {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState('one');
  const [model, setModel] = useState('');
  const [checked, setChecked] = useState(true);
  const [open, setOpen] = useState(false);
  return (
    <>
      <PageHead title="Components" note={<p className="muted">What pages are made of.</p>} />
      <div className="grid-2">
        <Section title="Charts">
          <Chart
            title="Lines"
            days={CHART_DAYS}
            series={['first', 'second', 'third'].map((label, index) => ({
              label,
              values: CHART_DAYS.map((_, at) => 10 + ((at * (index + 3)) % 7) + index * 4),
            }))}
            format={formatCount}
            events={[{ at: '2026-02-04', label: 'v3 → production' }]}
          />
          <Chart
            title="A stack"
            days={CHART_DAYS}
            series={['first', 'second', 'third'].map((label, index) => ({
              label,
              values: CHART_DAYS.map((_, at) => 2 + ((at * (index + 2)) % 5)),
            }))}
            format={formatCount}
            stacked
          />
          <Scatter
            title="A scatter"
            points={[1, 2, 3, 4].map((each) => ({
              key: String(each),
              series: each % 2 === 0 ? 'even' : 'odd',
              label: `v${each}`,
              name: `v${each}`,
              x: each * each,
              y: 0.5 + each / 10,
            }))}
            xTitle="Cost"
            yTitle="Score"
            formatX={formatCount}
            formatY={formatScore}
          />
        </Section>
        <Section title="Colour">
          <ul className="row">
            {COLOURS.map((name) => (
              <li key={name}>
                <span style={{ display: 'block', width: '6rem', height: '3rem', background: `var(--${name})` }} />
                <code>{name}</code>
              </li>
            ))}
          </ul>
        </Section>
        <Section title="Type">
          {SIZES.map((size) => (
            <p key={size} style={{ fontSize: `var(--text-${size})` }}>
              {size}: the quick brown fox, 0123456789
            </p>
          ))}
        </Section>
        <Section title="Buttons">
          <div className="row">
            <Button look="primary">
              <Rocket className="icon" aria-hidden />
              Primary
            </Button>
            <Button>Button</Button>
            <Button look="danger">Danger</Button>
            <Button look="plain">Plain</Button>
            <Button look="small">
              <Search className="icon" aria-hidden />
              Small
            </Button>
            <Button disabled>Disabled</Button>
          </div>
        </Section>
        <Section title="Badges">
          <div className="row">
            {STATES.map((status) => (
              <StatusBadge key={status} status={status} />
            ))}
            <LabelBadge label="production" version={2} />
          </div>
        </Section>
        <Section title="Fields">
          <TextField label="Text" hint="What it is for." value={text} onChange={setText} />
          <TextField label="Refused" error="It must have a name." value={text} onChange={setText} />
          <SelectField label="Of a few" value={chosen} onChange={setChosen} options={['one', 'two']} />
          <ComboField label="Of many" value={text} onChange={setText} options={ROWS.map(({ name }) => name)} />
          <ModelField label="Model" value={model} onChange={setModel} />
          <TextArea label="Long text" value={text} onChange={setText} rows={3} />
          <CheckField label="Yes or no" checked={checked} onChange={setChecked} />
        </Section>
        <Section title="States">
          <Loading what="prompts" />
          <EmptyState title="There are no prompts yet">
            <p>What would be here, and the one action that brings it.</p>
          </EmptyState>
          <ErrorState error={new Error('The service does not respond.')} onRetry={() => showToast('Tried again')} />
          <p className="notice warn">A notice that warns.</p>
        </Section>
        <Section title="Dialogs and messages">
          <div className="row">
            <Button onClick={() => setOpen(true)}>Open a dialog…</Button>
            <Button onClick={() => showToast('Saved', 'Version 3 of support/answer.')}>Message</Button>
            <Button onClick={() => showError(new Error('It was refused.'))}>Error</Button>
          </div>
          <FormDialog
            open={open}
            onClose={() => setOpen(false)}
            title="A dialog"
            description="What happens next."
            submitLabel="Do it"
            onSubmit={() => Promise.resolve()}
          >
            <TextField label="Text" value={text} onChange={setText} />
          </FormDialog>
        </Section>
        <Section title="Texts">
          <OutputView text={'An output of a model,\nas it is.'} label="text" />
          <OutputView text={MARKDOWN} label="Markdown" />
          <OutputView text={JSON.stringify({ answer: 42, because: ['of', 'this'] })} label="JSON" />
          <JsonView value={{ answer: 42 }} label="record" />
        </Section>
      </div>
      <DataTable
        label="Rows"
        rows={ROWS}
        rowKey={({ name }) => name}
        columns={[
          { key: 'name', header: 'Name', cell: ({ name }) => <a href="#main">{name}</a> },
          { key: 'runs', header: 'Runs', alignEnd: true, cell: ({ runs }) => runs },
        ]}
      />
    </>
  );
}
