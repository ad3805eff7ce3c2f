import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { pathOf, post } from '../../api.ts';
import type { Prompt } from '../../api-types.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { CheckField, SelectField, TextField } from '../../components/fields.tsx';
import { PageHead } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { ErrorState } from '../../components/states.tsx';
import { getIfThere, labelsQuery, promptQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { useSubmit } from '../../use-submit.ts';
import { datasetNamesQuery } from '../evaluations/queries.ts';
import { namesQuery } from '../prompts/names-query.ts';
import { stepsInWords } from './in-words.ts';
import { newReleaseRoute } from './routes.ts';
import { StepsFields } from './steps-form.tsx';
import { formOf, readSteps, type StepsForm, usualSteps } from './steps-form-state.ts';
import type { CreateRelease, Release } from './types.ts';

const SHOWN_VERSIONS = 200;

/** The version of a label. Null if the prompt does not have the label. */
const labelledQuery = (name: string, label: string) => ({
  queryKey: ['prompts', 'labelled', name, label],
  queryFn: ({ signal }: { signal: AbortSignal }) => getIfThere<Prompt>(pathOf('prompts', name), { label }, signal),
});

export function NewReleasePage() {
  const search = newReleaseRoute.useSearch();
  const navigate = newReleaseRoute.useNavigate();
  const client = useQueryClient();
  const isAdmin = useMay('admin');
  const mayPublish = useMay('publish');
  const [name, setName] = useState(search.prompt ?? '');
  const [label, setLabel] = useState(search.label ?? 'production');
  const [chosenVersion, setChosenVersion] = useState(search.version);
  const [reason, setReason] = useState('');
  const [deadline, setDeadline] = useState('');
  const [supersede, setSupersede] = useState(false);
  const [ownSteps, setOwnSteps] = useState(false);
  /** Undefined until something is edited. */
  const [edited, setEdited] = useState<StepsForm>();
  const { busy, error, submit } = useSubmit();

  const names = useQuery(namesQuery).data ?? [];
  const isKnown = names.includes(name);
  const prompt = useQuery({ ...promptQuery(name), enabled: isKnown }).data;
  const now = useQuery({ ...labelledQuery(name, label.trim()), enabled: isKnown && label.trim() !== '' }).data;
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const datasets = useQuery(datasetNamesQuery).data?.data;
  const policyOf = labels.find((each) => each.label === label.trim());
  const policy = policyOf?.release ?? null;
  const isRequired = policy?.required === true;
  const isRefused = policyOf?.protected === true && !mayPublish;
  const version = chosenVersion ?? prompt?.version;
  const usesPolicy = policy !== null && !ownSteps;
  const [usual] = useState(() => ({ with: usualSteps(true), without: usualSteps(false) }));
  const steps = edited ?? (policy !== null ? undefined : (datasets?.length ?? 0) > 0 ? usual.with : usual.without);

  const start = async () => {
    if (version === undefined) throw new Error('Choose a prompt.');
    const body: CreateRelease = {
      prompt_name: name.trim(),
      label: label.trim(),
      version,
      ...(!usesPolicy && steps && { steps: readSteps(steps) }),
      ...(reason.trim() !== '' && { reason: reason.trim() }),
      ...(deadline !== '' && { deadline: new Date(deadline).toISOString() as never }),
      ...(supersede && { supersede }),
      ...(ownSteps && isRequired && { override: true as const }),
    };
    const { id } = await post<Release>('/releases', body);
    await client.invalidateQueries({ queryKey: ['releases', 'list'] });
    await navigate({ to: '/releases/$id', params: { id } });
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void submit(start);
  };
  return (
    <>
      <PageHead title="New release" crumbs={<Link to="/releases">Releases</Link>} />
      <form className="stack" onSubmit={onSubmit}>
        <Section id="what" className="card" title="What is released">
          <div className="filters">
            <ComboField
              label="Prompt"
              value={name}
              onChange={(typed) => {
                setName(typed);
                setChosenVersion(undefined);
              }}
              options={names}
              required
              spellCheck={false}
              error={name !== '' && names.length > 0 && !isKnown ? 'There is no such prompt.' : undefined}
            />
            <ComboField
              label="Label"
              value={label}
              onChange={setLabel}
              options={[...new Set(['production', 'staging', ...labels.map((each) => each.label)])]}
              required
              spellCheck={false}
            />
            <SelectField
              label="Version"
              value={version === undefined ? '' : String(version)}
              onChange={(chosen) => setChosenVersion(Number(chosen))}
              options={versionsOf(prompt?.version ?? 0, version, now?.version)}
            />
          </div>
          {now && (
            <p className="muted">
              {now.version === version
                ? `“${label.trim()}” is on version ${now.version} already.`
                : `“${label.trim()}” is on version ${now.version}, which stays the stable one until the label moves.`}
            </p>
          )}
          {now === null && (
            <p className="notice warn">
              This prompt does not have the label “{label.trim()}” yet: set it on a version first.
            </p>
          )}
          {isRefused && (
            <p className="notice warn">This label is protected: the key of this session lacks the scope “publish”.</p>
          )}
          <div className="filters">
            <TextField
              label="Reason"
              value={reason}
              onChange={setReason}
              maxLength={1_000}
              required={ownSteps && isRequired}
            />
            <TextField
              label="Roll back unless promoted by"
              type="datetime-local"
              value={deadline}
              onChange={setDeadline}
            />
          </div>
          <CheckField label="Replace a release in progress on this label" checked={supersede} onChange={setSupersede} />
        </Section>
        <Section id="steps" className="card" title="Steps">
          {policy !== null && (
            <p>
              {isRequired ? 'This label moves only by these steps: ' : 'This label has its own steps: '}
              <strong>{stepsInWords(policy.steps)}</strong>
            </p>
          )}
          {policy !== null && (!isRequired || isAdmin) && (
            <CheckField
              label={isRequired ? 'Use other steps: the audit log keeps the reason' : 'Use other steps'}
              checked={ownSteps}
              onChange={(own) => {
                setOwnSteps(own);
                setEdited(own ? formOf(policy.steps) : undefined);
              }}
            />
          )}
          {!usesPolicy && steps && <StepsFields value={steps} onChange={setEdited} />}
        </Section>
        <div className="save-bar">
          <button
            type="submit"
            className="button primary"
            disabled={busy || isRefused || now === null || version === undefined || now?.version === version}
          >
            Start the release
          </button>
          {error !== undefined && <ErrorState error={error} />}
        </div>
      </form>
    </>
  );
}

function versionsOf(latest: number, chosen: number | undefined, stable: number | undefined) {
  const numbers = Array.from({ length: Math.min(latest, SHOWN_VERSIONS) }, (_, index) => latest - index);
  if (chosen !== undefined && !numbers.includes(chosen)) numbers.push(chosen);
  return numbers.map((number) => ({
    value: String(number),
    label: `${number}${number === latest ? ', the latest' : ''}${number === stable ? ', stable now' : ''}`,
  }));
}
