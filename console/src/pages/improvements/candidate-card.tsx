import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, DialogButton } from '../../components/button.tsx';
import { DiffView } from '../../components/diff-view.tsx';
import { Fact } from '../../components/fact.tsx';
import { formatJson, formatNumber, formatScore, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import { signed } from '../evaluations/in-words.ts';
import { wordsOf } from '../prompt/content.ts';
import { AcceptDialog, useMayAccept } from './accept-dialog.tsx';
import { kindInWords, outcomeInWords, usd } from './in-words.tsx';
import type { Candidate, Improvement } from './types.ts';

/** Which run of a candidate an evaluation was, in the order of the search. */
const TRIALS: Record<string, string> = {
  train: t('on the train examples'),
  parent: t('of its parent on the minibatch'),
  minibatch: t('on the minibatch'),
  check: t('on the check examples'),
  again: t('on the check examples again'),
  held_out: t('on the held-out examples'),
};

/** The wording of a candidate as one text. */
function textOf({ content }: Candidate): string | null {
  if (content === null) return null;
  const words = wordsOf(content as Parameters<typeof wordsOf>[0]);
  return content.tools === null ? words : `${words}\n\ntools: ${formatJson(content.tools)}`;
}

/** A candidate: why it was made, its scores, and its differences from its parent or from the base. */
export function CandidateCard({
  improvement,
  candidate,
  candidates,
  onOpen,
}: {
  improvement: Improvement;
  candidate: Candidate;
  candidates: readonly Candidate[];
  onOpen: (number: number) => void;
}) {
  const { number, parent, kind, change, diagnosis, reject, execution_ids: executions } = candidate;
  const mayAccept = useMayAccept(improvement, candidate);
  const evaluations = Object.entries(candidate.evaluation_ids).sort(
    ([one], [other]) => Object.keys(TRIALS).indexOf(one) - Object.keys(TRIALS).indexOf(other),
  );
  return (
    <article className="card" aria-label={number === 0 ? t('Base prompt') : t(`Candidate ${number}`)}>
      <div className="row changed-head">
        <h3>{number === 0 ? t('Base prompt') : t(`Candidate ${number}`)}</h3>
        <div className="row">
          {parent !== null && (
            <Button look="small" onClick={() => onOpen(parent)}>
              Its parent: {parent === 0 ? 'the base prompt' : parent}
            </Button>
          )}
          {mayAccept && (
            <DialogButton
              label="Accept this one…"
              look="small"
              dialog={(close) => <AcceptDialog improvement={improvement} candidate={candidate} onClose={close} />}
            />
          )}
        </div>
      </div>
      {reject !== null && (
        <p className="notice warn">
          <strong>{outcomeInWords(candidate).text}</strong> {reject.message}
        </p>
      )}
      {number > 0 && (
        <div className="stack">
          <h4>Why it was made</h4>
          {diagnosis.length > 0 && (
            <ul className="improve-notes">
              {diagnosis.map((each) => (
                <li key={each}>{each}</li>
              ))}
            </ul>
          )}
          {change === null ? (
            <p className="muted">{kindInWords(kind)}</p>
          ) : (
            <p>
              {change} <span className="muted">({kindInWords(kind)})</span>
            </p>
          )}
        </div>
      )}
      <Numbers candidate={candidate} />
      <Wording candidate={candidate} candidates={candidates} />
      {(evaluations.length > 0 || executions.length > 0) && (
        <details>
          <summary>Its runs</summary>
          <ul className="improve-notes">
            {executions.map((id, at) => (
              <li key={id}>
                <Link to="/executions/$id" params={{ id }}>
                  {at === 0 ? 'How it was written' : 'How it was written again after its refusal'}
                </Link>
              </li>
            ))}
            {evaluations.map(([name, id]) => (
              <li key={name}>
                <Link to="/evaluations/$id" params={{ id }}>
                  Run {TRIALS[name] ?? name}
                </Link>
              </li>
            ))}
          </ul>
        </details>
      )}
    </article>
  );
}

function Numbers({ candidate: { number, check, minibatch, length, cost } }: { candidate: Candidate }) {
  return (
    <dl className="facts">
      {check !== null && (
        <Fact label="Score on check examples">
          {formatScore(check.score)}
          {number > 0 && <span className="muted"> ({signed(check.difference)} points)</span>}
        </Fact>
      )}
      {minibatch !== null && minibatch.score !== null && (
        <Fact label={`First on ${plural(minibatch.examples, 'example', 'examples')}`}>
          {formatScore(minibatch.score)}{' '}
          <span className="muted">(its parent {formatScore(minibatch.parent_score)})</span>
        </Fact>
      )}
      {length !== null && <Fact label="Characters">{formatNumber(length)}</Fact>}
      <Fact label="Cost">{usd(cost)}</Fact>
    </dl>
  );
}

function Wording({ candidate, candidates }: { candidate: Candidate; candidates: readonly Candidate[] }) {
  const { number, parent } = candidate;
  const [against, setAgainst] = useState<number>();
  const text = textOf(candidate);
  if (text === null) return <p className="muted">It has no text: nothing was written that could be used.</p>;
  const other = against ?? parent ?? 0;
  const old = candidates.find((each) => each.number === other);
  const before = old === undefined ? null : textOf(old);
  const nameOf = (which: number) => (which === 0 ? t('Base prompt') : t(`Candidate ${which}`));
  return (
    <div className="stack">
      <div className="row">
        <h4>Wording</h4>
        {parent !== null && parent !== 0 && (
          <label className="row">
            beside
            <select className="narrow" value={other} onChange={({ target: { value } }) => setAgainst(Number(value))}>
              <option value={parent}>its parent, {parent}</option>
              <option value={0}>the base prompt</option>
            </select>
          </label>
        )}
      </div>
      {number === 0 || before === null ? (
        <pre className="code" tabIndex={0} role="region" aria-label={t(`Wording of candidate ${number}`)}>
          {text}
        </pre>
      ) : (
        <DiffView before={{ title: nameOf(other), text: before }} after={{ title: nameOf(number), text }} />
      )}
    </div>
  );
}
