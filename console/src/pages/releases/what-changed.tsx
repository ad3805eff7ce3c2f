import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get, type Page, pathOf } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { DiffView } from '../../components/diff-view.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { Section } from '../../components/section.tsx';
import { Loading, QueryState } from '../../components/states.tsx';
import { formatJson, formatScore } from '../../format.ts';
import { promptQuery } from '../../queries.ts';
import { EvaluationFailures } from '../evaluations/evaluation-failures.tsx';
import { inWords } from '../evaluations/in-words.ts';
import { comparisonQuery, evaluationQuery, resultQuery, sameExampleQuery } from '../evaluations/queries.ts';
import type { Comparison, Result } from '../evaluations/types.ts';
import { textOf } from '../prompt/content.ts';
import { approveNumbersOf, evaluateNumbersOf, stepsOf } from './queries.ts';
import type { EvaluateNumbers, Release } from './types.ts';

const SAMPLES = 3;
const MAX_SAMPLES = 12;

/** The evaluation that people decide about, otherwise the last one. */
function evaluationOf(release: Release): EvaluateNumbers | undefined {
  const steps = stepsOf(release);
  const asked = approveNumbersOf(steps[release.step]?.numbers)?.evaluation_id;
  const all = steps.flatMap(({ numbers }) => evaluateNumbersOf(numbers) ?? []);
  return all.find(({ evaluation_id }) => evaluation_id === asked) ?? all.at(-1);
}

/** The candidate's changes: its text, its scores, and its outputs. */
export function WhatChanged({ release }: { release: Release }) {
  const { prompt_name, stable_version, candidate_version } = release;
  const before = useQuery(promptQuery(prompt_name, stable_version));
  const after = useQuery(promptQuery(prompt_name, candidate_version));
  const evaluation = evaluationOf(release);
  return (
    <Section id="changed" title="What changes">
      <QueryState query={before} what={`version ${stable_version}`}>
        {(old) => (
          <QueryState query={after} what={`version ${candidate_version}`}>
            {(changed) => (
              <>
                {changed.commit_message && <p>{changed.commit_message}</p>}
                <DiffView
                  before={{ title: `Stable: version ${stable_version}`, text: textOf(old) }}
                  after={{ title: `Candidate: version ${candidate_version}`, text: textOf(changed) }}
                />
              </>
            )}
          </QueryState>
        )}
      </QueryState>
      {evaluation && <Evaluated key={evaluation.evaluation_id} numbers={evaluation} />}
    </Section>
  );
}

function Evaluated({ numbers }: { numbers: EvaluateNumbers }) {
  const { evaluation_id: id, baseline_evaluation_id: other, score } = numbers;
  const hasEnded = score !== undefined;
  const candidate = useQuery({ ...evaluationQuery(id), enabled: hasEnded }).data;
  const comparison = useQuery({ ...comparisonQuery(id, other ?? ''), enabled: hasEnded && other !== null });
  if (!hasEnded)
    return (
      <p className="muted">
        The evaluations are running:{' '}
        <Link to="/evaluations/$id" params={{ id }}>
          the one of the candidate
        </Link>
        .
      </p>
    );
  return (
    <>
      <h3>Evaluation</h3>
      {candidate && <EvaluationFailures evaluation={candidate} />}
      {other === null ? (
        <p>
          The candidate scores <strong>{formatScore(score)}</strong>.{' '}
          <Link to="/evaluations/$id" params={{ id }}>
            The evaluation
          </Link>
        </p>
      ) : (
        <QueryState query={comparison} what="the comparison">
          {(found) => <Compared id={id} other={other} comparison={found} />}
        </QueryState>
      )}
      {(other === null || comparison.data) && (
        <Samples id={id} other={other} comparison={other === null ? undefined : comparison.data} />
      )}
    </>
  );
}

function Compared({ id, other, comparison }: { id: string; other: string; comparison: Comparison }) {
  const { text, tone } = inWords(comparison);
  return (
    <>
      <div className={`notice ${tone}`}>
        <strong>{text}</strong>
        <span>{comparison.note}</span>
      </div>
      <p>
        Stable {formatScore(comparison.score_a)}, candidate {formatScore(comparison.score_b)} over{' '}
        {comparison.examples_compared} examples: {comparison.regressions.total} worse, {comparison.improvements.total}{' '}
        better, {comparison.unchanged} the same.{' '}
        <Link to="/evaluations/$id/compare/$other" params={{ id, other }}>
          The whole comparison
        </Link>
      </p>
    </>
  );
}

/** Outputs side by side: worse ones first, then better ones, then the rest. */
function Samples({ id, other, comparison }: { id: string; other: string | null; comparison: Comparison | undefined }) {
  const [shown, setShown] = useState(SAMPLES);
  const first = useQuery({
    queryKey: ['evaluations', 'samples', id],
    queryFn: ({ signal }) => get<Page<Result>>(`${pathOf('evaluations', id)}/results`, { limit: MAX_SAMPLES }, signal),
    staleTime: 60_000,
  });
  const changed = [...(comparison?.regressions.examples ?? []), ...(comparison?.improvements.examples ?? [])];
  const places = [
    ...new Set([...changed.map(({ seq_b }) => seq_b), ...(first.data?.data ?? []).map(({ seq }) => seq)]),
  ];
  const all = places.slice(0, MAX_SAMPLES);
  return (
    <div className="stack release-samples">
      <h3>Outputs</h3>
      {first.data === undefined && <Loading what="outputs" />}
      {all.slice(0, shown).map((seq) => (
        <Sample key={seq} id={id} other={other} seq={seq} />
      ))}
      {shown < all.length && (
        <div>
          <Button onClick={() => setShown(MAX_SAMPLES)}>Show {all.length - shown} more</Button>
        </div>
      )}
    </div>
  );
}

function Sample({ id, other, seq }: { id: string; other: string | null; seq: number }) {
  const candidate = useQuery(resultQuery(id, seq));
  return (
    <QueryState query={candidate} what="an example">
      {(result) => <SampleOutputs id={id} other={other} result={result} />}
    </QueryState>
  );
}

function SampleOutputs({ id, other, result }: { id: string; other: string | null; result: Result }) {
  const name = result.example_id ?? String(result.seq + 1);
  const stable = useQuery({ ...sameExampleQuery(other ?? '', result), enabled: other !== null });
  return (
    <section className="card" aria-label={`Example ${name}`}>
      <h4>
        <Link to="/evaluations/$id" params={{ id }} search={{ example: result.seq }}>
          Example {name}
        </Link>
      </h4>
      {result.expected !== null && result.expected !== undefined && (
        <p className="muted">
          Expected: {typeof result.expected === 'string' ? result.expected : formatJson(result.expected)}
        </p>
      )}
      <div className="grid-2">
        {other !== null && (
          <QueryState query={stable} what="the output of the stable version">
            {(found) =>
              found === null ? (
                <p className="muted">The stable version was not run with this example.</p>
              ) : (
                <Output title="Stable" name={name} result={found} />
              )
            }
          </QueryState>
        )}
        <Output title="Candidate" name={name} result={result} />
      </div>
    </section>
  );
}

function Output({ title, name, result }: { title: string; name: string; result: Result }) {
  return (
    <div className="stack">
      <p>
        <strong>{title}</strong> {formatScore(result.score)}
      </p>
      {result.output === null ? (
        <p className="muted">{result.error?.message ?? 'No output.'}</p>
      ) : (
        <OutputView text={result.output} label={`${title}: output of example ${name}`} />
      )}
    </div>
  );
}
