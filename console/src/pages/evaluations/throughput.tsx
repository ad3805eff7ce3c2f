import { useEffect, useState } from 'react';
import type { Evaluation } from '../../api-types.ts';
import { formatFixed, formatMs } from '../../format.ts';
import { t } from '../../strings.ts';

/** The time range of the chart, its number of bars, and the averaging window of the rate. */
const SHOWN_MS = 180_000;
const BARS = 36;
const RATE_MS = 60_000;
const TICK_MS = 1_000;
const WIDTH = 180;
const HEIGHT = 28;

interface Sample {
  at: number;
  done: number;
}

/** How many were done at a given time. @param samples sorted by time */
function doneAt(samples: readonly Sample[], time: number): number {
  let found = samples[0]?.done ?? 0;
  for (const { at, done } of samples) {
    if (at > time) break;
    found = done;
  }
  return found;
}

const rateInWords = (perSecond: number) =>
  perSecond >= 1 ? t(`${formatFixed(perSecond, 1)} examples/s`) : t(`${formatFixed(perSecond * 60, 1)} examples/min`);

/** The speed of a run since the page was opened, and the estimated remaining time. */
export function Throughput({ evaluation }: { evaluation: Evaluation }) {
  const { examples_evaluated: done, examples_total: total } = evaluation;
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    setSamples((before) => [
      ...before.filter(({ at }) => at > Date.now() - SHOWN_MS - RATE_MS),
      { at: Date.now(), done },
    ]);
  }, [done]);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const first = samples[0];
  if (first === undefined || now - first.at < 2 * TICK_MS) return null;
  const since = Math.max(first.at, now - RATE_MS);
  const perSecond = ((done - doneAt(samples, since)) / (now - since)) * 1_000;
  const slot = SHOWN_MS / BARS;
  const bars = Array.from({ length: BARS }, (_, index) => {
    const from = now - SHOWN_MS + index * slot;
    return from + slot <= first.at ? 0 : doneAt(samples, from + slot) - doneAt(samples, from);
  });
  const most = Math.max(1, ...bars);
  const left = perSecond > 0 ? formatMs(((total - done) / perSecond) * 1_000) : undefined;
  return (
    <p className="throughput">
      <svg
        role="img"
        aria-label={`${rateInWords(perSecond)} over the last minute`}
        width={WIDTH}
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      >
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--border-strong)" />
        {bars.map((count, index) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: each index stands for a time
            key={index}
            x={(index * WIDTH) / BARS}
            y={HEIGHT - (count / most) * HEIGHT}
            width={WIDTH / BARS - 1}
            height={(count / most) * HEIGHT}
            fill="var(--line-1)"
          />
        ))}
      </svg>
      <span>
        <strong>{rateInWords(perSecond)}</strong> <span className="muted">over the last minute</span>
      </span>
      {left && <span className="muted">about {left} left</span>}
    </p>
  );
}
