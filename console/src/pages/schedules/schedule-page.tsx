import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { pathOf, post } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { Fact } from '../../components/fact.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { Section } from '../../components/section.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { showError, showToast } from '../../components/toast.tsx';
import { formatTime } from '../../format.ts';
import { recordQuery, replaceData } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { scheduleRoute } from './routes.ts';
import type { Schedule } from './types.ts';

export function SchedulePage() {
  const { id } = scheduleRoute.useParams();
  const query = useQuery(recordQuery<Schedule>('schedules', id));
  return (
    <RecordPage
      title={query.data?.name ?? 'Schedule'}
      list={{ to: '/schedules', label: 'Schedules', back: 'Back to schedules' }}
      id={id}
      actions={query.data && <Actions schedule={query.data} />}
      missing="There is no such schedule"
      query={query}
      what="the schedule"
    >
      {(schedule) => <Details schedule={schedule} />}
    </RecordPage>
  );
}

function Actions({ schedule: { id, paused } }: { schedule: Schedule }) {
  const client = useQueryClient();
  const navigate = scheduleRoute.useNavigate();
  const mayExecute = useMay('execute');
  const control = useMutation({
    mutationFn: (action: 'pause' | 'resume' | 'trigger') => post<Schedule>(`${pathOf('schedules', id)}/${action}`),
    async onSuccess(changed, action) {
      replaceData(client, ['schedules', 'one', id], changed);
      await client.invalidateQueries({ queryKey: ['schedules', 'list'] });
      if (action === 'trigger') showToast('An evaluation is being started.');
    },
    onError: showError,
  });
  const button = (action: 'pause' | 'resume' | 'trigger', label: string) => (
    <Button disabled={control.isPending} onClick={() => control.mutate(action)}>
      {label}
    </Button>
  );
  return (
    <>
      <Link to="/evaluations" search={{ schedule_id: id }} className="button">
        Its evaluations
      </Link>
      {mayExecute && (
        <>
          {button('trigger', t('Start one now'))}
          {paused ? button('resume', t('Resume')) : button('pause', t('Pause'))}
          <DeleteButton
            resource="schedules"
            id={id}
            title="Delete this schedule?"
            description="The evaluations that it has started stay."
            done="The schedule was deleted."
            onDeleted={() => navigate({ to: '/schedules' })}
          />
        </>
      )}
    </>
  );
}

function Details({ schedule }: { schedule: Schedule }) {
  const { cron, time_zone, paused, next_runs = [], last_error } = schedule;
  return (
    <>
      {last_error && (
        <div className="notice bad">
          <strong>The last start failed</strong> {last_error.message} ({formatTime(last_error.at)})
        </div>
      )}
      <dl className="facts">
        <Fact label="State">
          <span className={`badge ${paused ? 'warn' : 'good'}`}>{paused ? 'paused' : 'active'}</span>
        </Fact>
        <Fact label="Due">
          <code>{cron}</code> in {time_zone}
        </Fact>
        <Fact label="Next">
          {next_runs.length === 0 ? (
            'none while paused'
          ) : (
            <ul>
              {next_runs.slice(0, 5).map((time) => (
                <li key={time}>{formatTime(time)}</li>
              ))}
            </ul>
          )}
        </Fact>
        <Fact label="Created">{formatTime(schedule.created_at)}</Fact>
      </dl>
      <Section id="evaluation" title="The evaluation that it starts">
        <JsonView value={schedule.evaluation} label="evaluation" />
      </Section>
    </>
  );
}
