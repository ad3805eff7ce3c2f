import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get, pathOf, post } from '../../api.ts';
import { Ago } from '../../components/ago.tsx';
import { DialogButton } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { Fact } from '../../components/fact.tsx';
import { TextArea } from '../../components/fields.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { Section } from '../../components/section.tsx';
import { ErrorState } from '../../components/states.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { formatScore } from '../../format.ts';
import { useMay } from '../../shell/session.ts';
import { useSubmit } from '../../use-submit.ts';
import { savedEvaluatorRoute } from './routes.ts';
import { SavedEvaluatorDialog } from './saved-evaluator-dialog.tsx';
import { TypeName } from './saved-evaluators-page.tsx';
import type { SavedEvaluator } from './types.ts';

export function SavedEvaluatorPage() {
  const { name } = savedEvaluatorRoute.useParams();
  const { version } = savedEvaluatorRoute.useSearch();
  const mayExecute = useMay('execute');
  const query = useQuery({
    queryKey: ['saved-evaluators', 'one', name, version],
    queryFn: ({ signal }) => get<SavedEvaluator>(pathOf('saved-evaluators', name), { version }, signal),
  });
  return (
    <RecordPage
      title={name}
      list={{ to: '/evaluators', label: 'Evaluators', back: 'Back to evaluators' }}
      actions={query.data && <Actions saved={query.data} />}
      missing="There is no such evaluator"
      query={query}
      what="the evaluator"
    >
      {(saved) => (
        <>
          <Facts saved={saved} />
          <Section id="options" title="Options">
            <JsonView value={saved.evaluator} label="Options as JSON" />
          </Section>
          {mayExecute && !NOT_TRIED.includes(saved.evaluator.type) && <Try saved={saved} />}
        </>
      )}
    </RecordPage>
  );
}

/** Types that need more than one output. */
const NOT_TRIED = ['similar', 'pairwise'];

function Actions({ saved }: { saved: SavedEvaluator }) {
  const navigate = savedEvaluatorRoute.useNavigate();
  if (!useMay('write')) return null;
  return (
    <>
      <DialogButton label="New version…" dialog={(close) => <SavedEvaluatorDialog saved={saved} onClose={close} />} />
      <DeleteButton
        resource="saved-evaluators"
        id={saved.name}
        title="Delete this evaluator?"
        description="All its versions are deleted. Rules and runs that use it keep its options."
        done="The evaluator was deleted."
        onDeleted={() => navigate({ to: '/evaluators' })}
      />
    </>
  );
}

function Facts({ saved: { name, version, versions, evaluator, description, created_at } }: { saved: SavedEvaluator }) {
  return (
    <dl className="facts">
      <Fact label="Scores by">
        <TypeName type={evaluator.type} />
      </Fact>
      {description !== null && <Fact label="Measures">{description}</Fact>}
      <Fact label="Version">
        <span translate="no">v{version}</span>, <Ago time={created_at} />
      </Fact>
      {versions > 1 && (
        <Fact label="All versions">
          {Array.from({ length: versions }, (_, at) => versions - at).map((each) => (
            <span key={each}>
              <Link
                to="/evaluators/$name"
                params={{ name }}
                search={each === versions ? {} : { version: each }}
                translate="no"
              >
                v{each}
              </Link>{' '}
            </span>
          ))}
        </Fact>
      )}
    </dl>
  );
}

interface Tried {
  scores: { score: number | null; reason: string | null; problem: string | null }[];
}

/** Scores an output that is typed, with the version that is shown. */
function Try({ saved: { name, version } }: { saved: SavedEvaluator }) {
  const [input, setInput] = useState('');
  const [output, setOutput] = useState('');
  const [expected, setExpected] = useState('');
  const [tried, setTried] = useState<Tried>();
  const { busy, error, submit } = useSubmit();
  const run = () =>
    submit(async () => {
      setTried(undefined);
      setTried(
        await post<Tried>('/evaluators/try', {
          evaluators: [{ type: 'saved', name, version }],
          output,
          ...(input !== '' && { input }),
          ...(expected !== '' && { expected }),
        }),
      );
    });
  const score = tried?.scores[0];
  return (
    <Section id="try" title="Try it">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <TextArea label="Input" value={input} onChange={setInput} />
        <TextArea label="Output" value={output} onChange={setOutput} required />
        <TextArea label="Expected" value={expected} onChange={setExpected} />
        <div>
          <button type="submit" className="button primary" disabled={busy}>
            {busy ? 'Scoring…' : 'Score'}
          </button>
        </div>
        {error !== undefined && <ErrorState error={error} />}
        {score && (
          <p role="status">
            <strong>{score.score === null ? 'No score' : formatScore(score.score)}</strong>{' '}
            {score.problem ?? score.reason}
          </p>
        )}
      </form>
    </Section>
  );
}
