import { stepDetails, stepNumbers, stepState, stepTimes, stepTitle } from './in-words.ts';
import { isLive, stepsOf } from './queries.ts';
import type { Release } from './types.ts';

/** The steps of a release in a line, with the live one marked. */
export function StepsLine({ release }: { release: Release }) {
  return (
    <ol className="release-steps" aria-label="Steps">
      {stepsOf(release).map((step, index) => {
        const { text, tone } = stepState(step);
        const times = stepTimes(step);
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: steps keep their order
            key={index}
            className="release-step"
            data-tone={tone}
            aria-current={isLive(release) && index === release.step ? 'step' : undefined}
          >
            <h3>
              <span className="muted">{index + 1}.</span> {stepTitle(step)}
            </h3>
            <p>
              <span className={`badge ${tone}`}>{text}</span>
            </p>
            {times !== '' && <p className="muted">{times}</p>}
            {stepNumbers(step, release, index).map((line) => (
              <p key={line}>{line}</p>
            ))}
            {stepDetails(step).map((line) => (
              <p key={line} className="muted">
                {line}
              </p>
            ))}
          </li>
        );
      })}
    </ol>
  );
}
