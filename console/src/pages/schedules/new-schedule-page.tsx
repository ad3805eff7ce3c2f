import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { post } from '../../api.ts';
import { CheckField, ComboField, TextField } from '../../components/fields.tsx';
import { PageHead } from '../../components/page.tsx';
import { ErrorState } from '../../components/states.tsx';
import { EstimateView } from '../evaluations/estimate-view.tsx';
import { type Evaluator, newSecrets } from '../evaluations/evaluator-kinds.ts';
import { RunFormFields } from '../evaluations/run-form-fields.tsx';
import { EMPTY_RUN, toScheduled } from '../evaluations/run-form-state.ts';
import { SecretsDialog } from '../evaluations/secrets-dialog.tsx';
import { newScheduleRoute } from './routes.ts';
import type { CreateSchedule, Schedule } from './types.ts';

const CRONS = ['0 6 * * 1-5', '@daily', '@weekly', '@hourly'];

export function NewSchedulePage() {
  const [name, setName] = useState('');
  const [cron, setCron] = useState('0 6 * * 1-5');
  const [timeZone, setTimeZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [paused, setPaused] = useState(false);
  const [run, setRun] = useState(EMPTY_RUN);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const client = useQueryClient();
  const navigate = newScheduleRoute.useNavigate();
  const [created, setCreated] = useState<{ id: string; secrets: ReturnType<typeof newSecrets> }>();
  const open = (id: string) => navigate({ to: '/schedules/$id', params: { id } });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      const body: CreateSchedule = { name, cron, time_zone: timeZone, paused, evaluation: toScheduled(run) };
      const { id, evaluation } = await post<Schedule>('/schedules', body);
      await client.invalidateQueries({ queryKey: ['schedules'] });
      const { evaluators } = evaluation as { evaluators: Evaluator[] };
      const secrets = newSecrets(run.evaluators, evaluators);
      if (secrets.length > 0) setCreated({ id, secrets });
      else await open(id);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
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
      <form className="columns" onSubmit={(event) => void submit(event)}>
        <div className="stack">
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
          <RunFormFields value={run} onChange={setRun} scheduled />
          {error !== undefined && <ErrorState error={error} />}
          <div>
            <button type="submit" className="button primary" disabled={busy}>
              Create the schedule
            </button>
          </div>
        </div>
        <EstimateView form={run} />
        {created && <SecretsDialog secrets={created.secrets} onClose={() => void open(created.id)} />}
      </form>
    </>
  );
}
