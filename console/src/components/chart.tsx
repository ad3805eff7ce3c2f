import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatDay } from '../format.ts';
import { THEME_CHANGED } from '../shell/theme.ts';

const HEIGHT_PX = 200;
const LINES = 6;
const DAY_S = 86_400;

/** What the axis of the times shows: two units at least, or one point of a day would be somewhere in years. */
function spanOf(first: number, last: number, unitS: number): { min: number; max: number } {
  const padding = Math.max(0, unitS - (last - first) / 2);
  return { min: first - padding, max: last + padding };
}

export interface Series {
  label: string;
  /** One for each of the chart's points; null: there is none. */
  values: (number | null)[];
  /** `limit`: what the others are to stay below or above. `steps`: stays as it is until the next point. Default: a line from point to point. */
  kind?: 'limit' | 'steps';
}

/** What the times of a chart are. */
export interface TimeUnit {
  /** Heads their column. */
  title: string;
  seconds: number;
  format: (time: string) => string;
}

const DAYS: TimeUnit = { title: 'Day', seconds: DAY_S, format: formatDay };

const stepped = uPlot.paths.stepped?.({ align: 1 });

const colorNameOf = (kind: Series['kind'], index: number) =>
  kind === 'limit' ? '--bad' : `--line-${(index % LINES) + 1}`;

/** A colour of the theme as the canvas takes it. */
function colorOf(element: HTMLElement, name: string): string {
  const probe = element.appendChild(document.createElement('span'));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/**
 * Lines over time. A canvas says nothing to those who can't see it, so the same numbers are in a table below.
 * @param days as the API has them, in order; of another unit where `unit` says so
 */
export function Chart({
  title,
  days,
  series,
  format,
  unit = DAYS,
}: {
  title: string;
  days: readonly string[];
  series: readonly Series[];
  format: (value: number | null) => string;
  unit?: TimeUnit;
}) {
  const parent = useRef<HTMLDivElement>(null);
  const [themeCount, setThemeCount] = useState(0);
  useEffect(() => {
    const changed = () => setThemeCount((count) => count + 1);
    const media = matchMedia('(prefers-color-scheme: dark)');
    window.addEventListener(THEME_CHANGED, changed);
    media.addEventListener('change', changed);
    return () => {
      window.removeEventListener(THEME_CHANGED, changed);
      media.removeEventListener('change', changed);
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with the theme
  useEffect(() => {
    const element = parent.current;
    if (!element) return;
    const muted = colorOf(element, '--text-muted');
    const grid = { stroke: colorOf(element, '--border'), width: 1 };
    const axis = { stroke: muted, grid, ticks: grid, font: '12px system-ui' };
    const times = days.map((day) => Date.parse(day) / 1000);
    const plot = new uPlot(
      {
        width: element.clientWidth || 320,
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
        axes: [axis, { ...axis, size: 76, values: (_plot, values) => values.map((value) => format(value)) }],
        series: [
          {},
          ...series.map(({ label, kind }, index) => ({
            label,
            stroke: colorOf(element, colorNameOf(kind, index)),
            width: 2,
            spanGaps: true,
            points: { show: kind === undefined, size: 5 },
            ...(kind === 'limit' && { dash: [6, 4] }),
            ...(kind === 'steps' && stepped && { paths: stepped }),
          })),
        ],
      },
      [times, ...series.map(({ values }) => values)],
      element,
    );
    plot.setScale('x', spanOf(times[0] ?? 0, times.at(-1) ?? 0, unit.seconds));
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [days, series, format, unit, themeCount]);
  return (
    <figure className="chart">
      <figcaption>
        <h2>{title}</h2>
      </figcaption>
      <div ref={parent} aria-hidden="true" />
      <ul className="row">
        {series.map(({ label, kind }, index) => (
          <li key={label} className="row">
            <span aria-hidden="true" style={{ color: `var(${colorNameOf(kind, index)})` }}>
              {kind === 'limit' ? '╌╌' : '●'}
            </span>
            {label}
          </li>
        ))}
      </ul>
      <details>
        <summary>Numbers</summary>
        <div className="chart-numbers" tabIndex={0} role="region" aria-label={`${title}: numbers`}>
          <table>
            <thead>
              <tr>
                <th scope="col">{unit.title}</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.map((day, at) => (
                <tr key={day}>
                  <th scope="row">{unit.format(day)}</th>
                  {series.map(({ label, values }) => (
                    <td key={label}>{format(values[at] ?? null)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
