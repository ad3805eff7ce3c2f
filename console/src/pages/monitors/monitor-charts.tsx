import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { get, pathOf } from '../../api.ts';
import { Chart, type TimeUnit } from '../../components/chart.tsx';
import { Section } from '../../components/section.tsx';
import { formatTime } from '../../format.ts';
import { useList } from '../../queries.ts';
import { t } from '../../strings.ts';
import { metricWords, STATE_WORDS, spanWords, valueWords } from './state-badge.tsx';
import type { Monitor, MonitorChange, MonitorNumbers } from './types.ts';

const REFETCH_MS = 60_000;
const WINDOWS: TimeUnit = { title: 'End of the window', seconds: 60, format: formatTime };

/** What each check measures over time, with its threshold and the changes of the state. */
export function MonitorCharts({ monitor }: { monitor: Monitor }) {
  const { name, checks, window, updated_at } = monitor;
  const path = `${pathOf('monitors', name)}/history`;
  const { data: numbers } = useQuery({
    queryKey: ['monitors', 'numbers', name, updated_at],
    queryFn: ({ signal }) => get<MonitorNumbers>(`${path}/numbers`, undefined, signal),
    refetchInterval: REFETCH_MS,
  });
  const changes = useList<MonitorChange>(path).data;
  const { times, values, events } = useMemo(() => {
    const points = numbers?.data ?? [];
    return {
      times: points.map(({ at }) => at),
      values: (index: number) => points.map((point) => point.values[index]?.value ?? null),
      events: (changes ?? []).map(({ at, state }) => ({ at, label: STATE_WORDS[state] })).reverse(),
    };
  }, [numbers, changes]);
  return (
    <Section id="over-time" title="Over time">
      <div className="grid-2">
        {checks.map(({ metric, above, below }, index) => (
          <Chart
            // biome-ignore lint/suspicious/noArrayIndexKey: two checks can have the same metric
            key={index}
            title={metricWords(metric)}
            note={<span className="muted">in {spanWords(window)}</span>}
            days={times}
            series={[
              { label: t('measured'), values: values(index) },
              {
                label: above === undefined ? t('alerts below') : t('alerts above'),
                values: times.map(() => above ?? below ?? null),
                kind: 'limit',
              },
            ]}
            format={(value) => valueWords(metric, value)}
            unit={WINDOWS}
            events={events}
          />
        ))}
      </div>
    </Section>
  );
}
