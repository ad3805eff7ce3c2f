import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '../../api.ts';
import { CheckField, ComboField, TextField } from '../../components/fields.tsx';
import { PageHead } from '../../components/page.tsx';
import { CreateRunForm } from '../evaluations/create-run-form.tsx';
import type { Evaluator } from '../evaluations/evaluator.ts';
import { EMPTY_RUN, toScheduled } from '../evaluations/run-form-state.ts';
import { newScheduleRoute } from './routes.ts';
import type { CreateSchedule, Schedule } from './types.ts';

const CRONS = ['0 6 * * 1-5', '@daily', '@weekly', '@hourly'];

export function NewSchedulePage() {
  const [name, setName] = useState('');
  const [cron, setCron] = useState('0 6 * * 1-5');
  const [timeZone, setTimeZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [paused, setPaused] = useState(false);
  const [run, setRun] = useState(EMPTY_RUN);
  const client = useQueryClient();
  const navigate = newScheduleRoute.useNavigate();
  const create = async () => {
    const body: CreateSchedule = { name, cron, time_zone: timeZone, paused, evaluation: toScheduled(run) };
    const { id, evaluation } = await post<Schedule>('/schedules', body);
    await client.invalidateQueries({ queryKey: ['schedules'] });
    const { evaluators } = evaluation as { evaluators: Evaluator[] };
    return { id, evaluators };
  };
  return (
    <>
      <PageHead
        title="New schedule"
        crumbs={
          <ol className="crumbs">
            <li>
              <Link to="/schedules">Schedules</Link>
            </li>
          </ol>
        }
      />
      <CreateRunForm
        value={run}
        onChange={setRun}
        scheduled
        submitLabel="Create the schedule"
        onCreate={create}
        onCreated={(id) => navigate({ to: '/schedules/$id', params: { id } })}
      >
        <section className="card" aria-labelledby="when">
          <h2 id="when">When</h2>
          <div className="filters">
            <TextField label="Name" value={name} onChange={setName} required maxLength={100} />
            <ComboField
              label="Due"
              className="mono"
              value={cron}
              onChange={setCron}
              options={CRONS}
              required
              spellCheck={false}
              hint="Minute, hour, day, month, weekday."
            />
            <ComboField
              label="Time zone"
              value={timeZone}
              onChange={setTimeZone}
              options={Intl.supportedValuesOf('timeZone')}
              required
              spellCheck={false}
            />
            <CheckField label="Begin paused" checked={paused} onChange={setPaused} />
          </div>
        </section>
      </CreateRunForm>
    </>
  );
}
