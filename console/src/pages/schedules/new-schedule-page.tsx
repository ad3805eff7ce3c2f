import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { post } from '../../api.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { CheckField, TextField } from '../../components/fields.tsx';
import { PageHead } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { useDraftForm } from '../../drafts/use-draft-form.tsx';
import { CreateRunForm } from '../evaluations/create-run-form.tsx';
import type { Evaluator } from '../evaluations/evaluator.ts';
import { EMPTY_RUN, toScheduled } from '../evaluations/run-form-state.ts';
import { newScheduleRoute } from './routes.ts';
import type { CreateSchedule, Schedule } from './types.ts';

const CRONS = ['0 6 * * 1-5', '@daily', '@weekly', '@hourly'];

export function NewSchedulePage() {
  const { value, change, sent, notice } = useDraftForm('schedule', '', {
    name: '',
    cron: '0 6 * * 1-5',
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    paused: false,
    run: EMPTY_RUN,
  });
  const { name, cron, timeZone, paused, run } = value;
  const client = useQueryClient();
  const navigate = newScheduleRoute.useNavigate();
  const create = async () => {
    const body: CreateSchedule = { name, cron, time_zone: timeZone, paused, evaluation: toScheduled(run) };
    const { id, evaluation } = await post<Schedule>('/schedules', body);
    sent();
    await client.invalidateQueries({ queryKey: ['schedules'] });
    const { evaluators } = evaluation as { evaluators: Evaluator[] };
    return { id, evaluators };
  };
  return (
    <>
      <PageHead title="New schedule" crumbs={<Link to="/schedules">Schedules</Link>} />
      <CreateRunForm
        value={run}
        onChange={(next) => change({ run: next })}
        scheduled
        submitLabel="Create the schedule"
        onCreate={create}
        onCreated={(id) => navigate({ to: '/schedules/$id', params: { id } })}
      >
        {notice}
        <Section id="when" className="card" title="When">
          <div className="filters">
            <TextField label="Name" value={name} onChange={(next) => change({ name: next })} required maxLength={100} />
            <ComboField
              label="Schedule (cron)"
              className="mono"
              value={cron}
              onChange={(next) => change({ cron: next })}
              options={CRONS}
              required
              spellCheck={false}
              hint="Minute, hour, day of month, month, day of week."
            />
            <ComboField
              label="Time zone"
              value={timeZone}
              onChange={(next) => change({ timeZone: next })}
              options={Intl.supportedValuesOf('timeZone')}
              required
              spellCheck={false}
            />
            <CheckField label="Start paused" checked={paused} onChange={(next) => change({ paused: next })} />
          </div>
        </Section>
      </CreateRunForm>
    </>
  );
}
