import { useState } from 'react';
import { pathOf, remove } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { isMember, MemberName } from '../../components/member-name.tsx';
import { showToast } from '../../components/toast.tsx';
import { formatNumber, formatTime, NONE } from '../../format.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { AddScoreDialog } from './add-score-dialog.tsx';
import { scoreWords } from './score-value.ts';
import type { Score } from './types.ts';
import './scores.css';

const SOURCES = {
  api: t('program'),
  person: t('person'),
  evaluator: t('evaluator'),
  feedback: t('user feedback'),
} as const;
/** The number of scores in an execution's record. */
const SHOWN = 100;

/** The scores of an execution or an example, newest first, with a button to add one. */
export function ScoresSection({
  scores,
  subject,
  onChanged,
}: {
  scores: readonly Score[];
  subject: Score['subject'];
  onChanged: () => unknown;
}) {
  const [adding, setAdding] = useState(false);
  const [deleting, setDeleting] = useState<Score>();
  const mayScore = useMay('score');
  const mayWrite = useMay('write');
  const mayChange = mayScore || mayWrite;
  return (
    <section className="stack" aria-labelledby="scores">
      <div className="row">
        <h2 id="scores">Scores</h2>
        {mayChange && (
          <Button look="small" onClick={() => setAdding(true)}>
            Add a score…
          </Button>
        )}
      </div>
      {scores.length === 0 ? (
        <p className="muted">None yet.</p>
      ) : (
        <div className="scores" tabIndex={0} role="region" aria-label="Scores, table">
          <table aria-label="Scores">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Value</th>
                <th scope="col">By</th>
                <th scope="col">Comment</th>
                <th scope="col">At</th>
                {mayChange && (
                  <th scope="col">
                    <span className="visually-hidden">Delete</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {scores.map((score) => (
                <tr key={score.id}>
                  <th scope="row">{score.name}</th>
                  <td className="scores-value">{scoreWords(score.value)}</td>
                  <td>
                    <Author score={score} />
                  </td>
                  <td className="scores-comment">{score.comment ?? NONE}</td>
                  <td>{formatTime(score.updated_at)}</td>
                  {mayChange && (
                    <td>
                      <Button look="small danger" onClick={() => setDeleting(score)}>
                        Delete…<span className="visually-hidden"> {score.name}</span>
                      </Button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {scores.length >= SHOWN && <p className="muted">The newest {formatNumber(SHOWN)} are shown.</p>}
      {adding && <AddScoreDialog subject={subject} onClose={() => setAdding(false)} onAdded={onChanged} />}
      <FormDialog
        open={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title="Delete this score?"
        description={deleting && `${deleting.name}: ${scoreWords(deleting.value).slice(0, 200)}`}
        submitLabel="Delete"
        danger
        onSubmit={async () => {
          if (deleting === undefined) return;
          await remove(pathOf('scores', deleting.id));
          await onChanged();
          showToast('The score was deleted.');
        }}
      />
    </section>
  );
}

function Author({ score: { source, author, evaluator } }: { score: Score }) {
  return (
    <>
      <span className="badge">{SOURCES[source]}</span>{' '}
      {evaluator === null ? (
        isMember(author) ? (
          <MemberName id={author} fallback={author} />
        ) : (
          author !== null && <span className="muted mono">{author}</span>
        )
      ) : (
        <>
          {evaluator.rule}{' '}
          <span className="muted">
            version {evaluator.version}
            {evaluator.model !== null && `, ${evaluator.model}`}
          </span>
        </>
      )}
    </>
  );
}
