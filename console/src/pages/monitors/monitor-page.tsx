import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, type LinkOptions, linkOptions } from '@tanstack/react-router';
import { pathOf, put } from '../../api.ts';
import { Ago } from '../../components/ago.tsx';
import { Button, DialogButton } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { facetsQuery } from '../../components/facets-side.tsx';
import { Fact } from '../../components/fact.tsx';
import { ListTable } from '../../components/list-table.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { Section } from '../../components/section.tsx';
import { Loading } from '../../components/states.tsx';
import { showError, showUndo } from '../../components/toast.tsx';
import { formatTime } from '../../format.ts';
import { recordQuery, replaceData, useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { ExecutionFailures } from '../executions/execution-failures.tsx';
import { MonitorCharts } from './monitor-charts.tsx';
import { MonitorDialog } from './monitor-dialog.tsx';
import { formOf, toPut } from './monitor-form-state.ts';
import { monitorRoute } from './routes.ts';
import { checkWords, StateBadge, spanMs, spanWords, valueWords } from './state-badge.tsx';
import type { Monitor, MonitorChange } from './types.ts';

/** Monitors are evaluated once a minute. */
const REFETCH_MS = 15_000;

export function MonitorPage() {
  const { _splat: name = '' } = monitorRoute.useParams();
  const query = useQuery({ ...recordQuery<Monitor>('monitors', name), refetchInterval: REFETCH_MS });
  return (
    <RecordPage
      title={name}
      list={{ to: '/monitors', label: 'Monitors', back: 'Back to monitors' }}
      actions={query.data && <Actions monitor={query.data} />}
      missing="There is no such monitor"
      query={query}
      what="the monitor"
    >
      {(monitor) => <Body key={monitor.name} monitor={monitor} />}
    </RecordPage>
  );
}

/** All at the same time: failures would push down what is below them. */
function Body({ monitor }: { monitor: Monitor }) {
  const { isPending } = useQuery({
    ...facetsQuery('executions', watchedBy(monitor)),
    placeholderData: keepPreviousData,
  });
  if (isPending) return <Loading what="the monitor" />;
  return (
    <>
      <WatchedFailures monitor={monitor} />
      <Facts monitor={monitor} />
      <Checks monitor={monitor} />
      <MonitorCharts monitor={monitor} />
      {/* A change of the state adds an entry. */}
      <History key={monitor.since} name={monitor.name} />
    </>
  );
}

function Actions({ monitor }: { monitor: Monitor }) {
  const { name, enabled } = monitor;
  const client = useQueryClient();
  const navigate = monitorRoute.useNavigate();
  const mayWrite = useMay('write');
  const setEnabled = async (on: boolean) => {
    const changed = await put<Monitor>(pathOf('monitors', name), toPut(formOf(monitor), on));
    replaceData(client, ['monitors', 'one', name], changed);
    await client.invalidateQueries({ queryKey: ['monitors', 'list'] });
  };
  const toggle = useMutation({
    mutationFn: () => setEnabled(!enabled),
    onSuccess: () =>
      showUndo(enabled ? 'The monitor was disabled.' : 'The monitor was enabled.', () => setEnabled(enabled)),
    onError: showError,
  });
  if (!mayWrite) return null;
  return (
    <>
      <Button disabled={toggle.isPending} onClick={() => toggle.mutate()}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <DialogButton label="Change…" dialog={(close) => <MonitorDialog monitor={monitor} onClose={close} />} />
      <DeleteButton
        resource="monitors"
        id={name}
        title="Delete this monitor?"
        description="Its history is deleted, too."
        done="The monitor was deleted."
        onDeleted={() => navigate({ to: '/monitors' })}
      />
    </>
  );
}

/** The start of the window, at a full minute, so that a query stays the same within it. */
const startOf = ({ window }: Monitor) =>
  new Date(Math.floor((Date.now() - spanMs(window)) / 60_000) * 60_000).toISOString();

/** The filter of the executions in the monitor's window. */
const watchedBy = (monitor: Monitor) => ({
  prompt_name: monitor.prompt_name,
  label: monitor.label,
  since: startOf(monitor),
});

function WatchedFailures({ monitor }: { monitor: Monitor }) {
  const { prompt_name, label, window } = monitor;
  const since = startOf(monitor);
  return (
    <ExecutionFailures
      filter={watchedBy(monitor)}
      search={{
        since,
        ...(prompt_name !== null && { prompt_name }),
        ...(label !== null && { label }),
      }}
      title={(failed, all) => t(`${failed} of ${all} executions failed in the last ${spanWords(window)}`)}
    />
  );
}

function Facts({ monitor }: { monitor: Monitor }) {
  const { state, enabled, since, prompt_name, label, window, notify, last_checked_at } = monitor;
  return (
    <dl className="facts">
      <Fact label="State">
        <StateBadge state={state} enabled={enabled} /> since {formatTime(since)}
      </Fact>
      <Fact label="Watches">
        {prompt_name === null ? (
          'all prompts'
        ) : (
          <Link to="/prompts/$" params={{ _splat: prompt_name }}>
            {prompt_name}
          </Link>
        )}
        {label !== null && ` by the label ${label}`}, the last {spanWords(window)}
      </Fact>
      <Fact label="Last check">{last_checked_at === null ? 'none yet' : formatTime(last_checked_at)}</Fact>
      <Fact label="E-mails">{notify.email ? 'to the owner' : 'none'}</Fact>
    </dl>
  );
}

type CheckRow = Monitor['checks'][number] & {
  value: Monitor['values'][number] | undefined;
  index: number;
  runs: LinkOptions;
};

const checkColumns: Column<CheckRow>[] = [
  { key: 'check', header: 'Alerts when', width: 'minmax(14rem, 2fr)', cell: checkWords },
  {
    key: 'recovers',
    header: 'Recovers at',
    width: '6.5rem',
    alignEnd: true,
    cell: ({ metric, recover_at }) => valueWords(metric, recover_at),
  },
  {
    key: 'value',
    header: 'Now',
    width: '6rem',
    alignEnd: true,
    cell: ({ metric, value }) => valueWords(metric, value?.value ?? null),
  },
  {
    key: 'count',
    header: 'Of',
    width: '9rem',
    alignEnd: true,
    cell: ({ value, min_executions: least }) => t(`${value?.count ?? 0} (at least ${least})`),
  },
  {
    key: 'state',
    header: 'State',
    width: '6rem',
    onCard: 'beside',
    cell: ({ value }) => value?.alerting && <span className="badge bad">alerting</span>,
  },
  {
    key: 'runs',
    header: 'Runs',
    width: '8.5rem',
    cell: ({ metric, runs }) => (
      <Link {...runs}>{metric.endsWith('error_rate') ? 'Show the failing' : 'Show them'}</Link>
    ),
  },
];

/** The executions or traces of the window behind a check: those that failed, were slow, cost most or were scored so. */
function runsOf(monitor: Monitor, { metric, above, below }: Monitor['checks'][number]): LinkOptions {
  const { prompt_name, label } = monitor;
  const own = metric.replace('trace:', '');
  const score = own.startsWith('score:') ? own.slice('score:'.length) : undefined;
  const search = {
    since: startOf(monitor),
    ...(prompt_name !== null && { prompt_name }),
    ...(own === 'latency_p95' && above !== undefined && { min_latency_ms: String(Math.floor(above)) }),
    ...(own.startsWith('cost') && { order: '-cost' as const }),
    ...(score !== undefined && { score: above === undefined ? `${score}<${below}` : `${score}>${above}` }),
  };
  return own === metric
    ? linkOptions({
        to: '/executions',
        search: {
          ...search,
          ...(label !== null && { label }),
          ...(own === 'error_rate' && { status: 'failed' as const }),
        },
      })
    : linkOptions({
        to: '/traces',
        search: {
          ...search,
          ...(own === 'error_rate' && { status: 'error' as const }),
          ...(own === 'steps_mean' && { order: '-steps' as const }),
        },
      });
}

function Checks({ monitor }: { monitor: Monitor }) {
  const { checks, values } = monitor;
  return (
    <Section id="checks" title="Checks">
      <DataTable
        label="Checks"
        rows={checks.map((check, index) => ({ ...check, value: values[index], index, runs: runsOf(monitor, check) }))}
        columns={checkColumns}
        rowKey={({ index }) => String(index)}
      />
    </Section>
  );
}

const historyColumns: Column<MonitorChange>[] = [
  { key: 'at', header: 'At', width: '6.5rem', cell: ({ at }) => <Ago time={at} /> },
  { key: 'state', header: 'State', width: '7rem', onCard: 'beside', cell: ({ state }) => <StateBadge state={state} /> },
  {
    key: 'reason',
    header: 'Why',
    width: 'minmax(16rem, 3fr)',
    cell: ({ reason }) => <span title={reason}>{reason}</span>,
  },
];

function History({ name }: { name: string }) {
  const list = useList<MonitorChange>(`${pathOf('monitors', name)}/history`);
  return (
    <Section id="history" title="History">
      <ListTable
        list={list}
        what="the history"
        label="History"
        columns={historyColumns}
        rowKey={({ at, state }) => `${at} ${state}`}
        empty={<p className="muted">Its state has not changed yet.</p>}
      />
    </Section>
  );
}
