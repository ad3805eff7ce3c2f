import { Fact } from '../../components/fact.tsx';
import { MessagesView } from '../../components/messages-view.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { ErrorState, Loading } from '../../components/states.tsx';
import { formatJson } from '../../format.ts';
import { t } from '../../strings.ts';
import type { ValueType } from '../scores/score-value.ts';
import type { Content } from './subject.tsx';

/** The answers about a pair. Which run is which is not shown until it is answered. */
export const PAIR_ANSWERS: ValueType = {
  data_type: 'categorical',
  categories: [
    { value: 'first', label: t('← First is better') },
    { value: 'tie', label: t('Tie (t)') },
    { value: 'second', label: t('Second is better →') },
  ],
};

/** Two outputs side by side, below their common variables, or the input if there are none: versions fill different texts with them. */
export function PairView({ first, second }: { first: Content | undefined; second: Content | undefined }) {
  const error = first?.error ?? second?.error;
  if (error) return <ErrorState error={error} />;
  if (first === undefined || second === undefined) return <Loading what="the pair" />;
  const { input, expected, variables = {} } = first;
  const given = Object.entries(variables);
  return (
    <>
      <div className="pair-input stack">
        <h3>Input</h3>
        {given.length > 0 ? (
          <dl className="facts">
            {given.map(([name, value]) => (
              <Fact key={name} label={name}>
                <span className="pair-value">{typeof value === 'string' ? value : formatJson(value)}</span>
              </Fact>
            ))}
          </dl>
        ) : input === undefined ? (
          <Loading what="the input" />
        ) : input === null ? (
          <p className="muted">None.</p>
        ) : (
          <MessagesView input={input} />
        )}
      </div>
      <div className="grid-2">
        <Output title="First" text={first.output} label="first output" />
        <Output title="Second" text={second.output} label="second output" />
      </div>
      {expected !== undefined && expected !== null && (
        <>
          <h3>Expected</h3>
          <OutputView text={typeof expected === 'string' ? expected : formatJson(expected)} label="expected" />
        </>
      )}
    </>
  );
}

function Output({ title, text, label }: { title: string; text: string | null; label: string }) {
  return (
    <section aria-label={title} className="card">
      <h3>{title}</h3>
      {text === null ? <p className="muted">None.</p> : <OutputView text={text} label={label} />}
    </section>
  );
}
