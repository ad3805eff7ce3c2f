import { Link } from '@tanstack/react-router';
import { Ago } from '../../components/ago.tsx';
import type { Column } from '../../components/data-table.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { NameText } from '../../components/name-text.tsx';
import { formatNumber, plural } from '../../format.ts';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { MonitorDialog } from './monitor-dialog.tsx';
import { checkWords, metricWords, StateBadge, spanWords, valueWords } from './state-badge.tsx';
import type { Monitor } from './types.ts';

const columns: Column<Monitor>[] = [
  {
    key: 'name',
    header: 'Name',
    width: 'minmax(10rem, 1fr)',
    cell: ({ name }) => (
      <Link to="/monitors/$" params={{ _splat: name }}>
        <NameText name={name} />
      </Link>
    ),
  },
  {
    key: 'state',
    header: 'State',
    width: '7rem',
    onCard: 'beside',
    cell: ({ state, enabled }) => <StateBadge state={state} enabled={enabled} />,
  },
  { key: 'since', header: 'Since', width: '6.5rem', cell: ({ since }) => <Ago time={since} /> },
  {
    key: 'prompt',
    header: 'Watches',
    width: 'minmax(10rem, 1fr)',
    cell: ({ prompt_name, label, window }) =>
      `${prompt_name ?? t('all prompts')}${label === null ? '' : `@${label}`}, ${spanWords(window)}`,
  },
  {
    key: 'checks',
    header: 'Alerts when',
    width: 'minmax(12rem, 2fr)',
    cell: ({ checks }) => checks.map(checkWords).join(', '),
  },
];

/** The monitors that alert, with their measurements. */
function Alerting({ monitors }: { monitors: readonly Monitor[] }) {
  if (monitors.length === 0) return null;
  return (
    <section className="notice bad" aria-label="Alerts">
      <strong>{plural(monitors.length, 'monitor alerts', 'monitors alert')}</strong>
      <ul>
        {monitors.map(({ name, values }) => (
          <li key={name}>
            <Link to="/monitors/$" params={{ _splat: name }}>
              {name}
            </Link>
            {': '}
            {values
              .filter(({ alerting }) => alerting)
              .map(({ metric, value, count }) =>
                t(`${metricWords(metric)} is ${valueWords(metric, value)}, of ${formatNumber(count)}`),
              )
              .join(', ')}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function MonitorsPage() {
  const list = useList<Monitor>('/monitors');
  return (
    <ListPage
      title="Monitors"
      list={list}
      what="monitors"
      columns={columns}
      rowKey={({ name }) => name}
      create={useMay('write') && { label: 'New monitor…', dialog: (close) => <MonitorDialog onClose={close} /> }}
      empty={{
        title: 'There are no monitors yet',
        text: (
          <>
            A monitor measures errors, latency, cost or scores of your executions once a minute, and alerts when a check
            does not hold.
          </>
        ),
        more: (
          <a className="button" href="/docs/guides/monitors">
            How monitors work
          </a>
        ),
      }}
    >
      <Alerting monitors={list.data?.filter(({ enabled, state }) => enabled && state === 'alerting') ?? []} />
    </ListPage>
  );
}
