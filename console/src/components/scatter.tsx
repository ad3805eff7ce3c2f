import type { ReactNode } from 'react';
import { plural } from '../format.ts';
import { t } from '../strings.ts';
import { ChartFrame } from './chart-frame.tsx';
import { Mark, Sample, ticksBetween, ticksTo } from './chart-parts.tsx';
import { PlotReader } from './plot-reader.tsx';
import { useWidth } from './use-width.ts';

const HEIGHT = 260;
const TOP = 12;
const BOTTOM = 40;
const RIGHT = 16;
/** Space for marks at the ends of the axes. */
const INSET = 14;

export interface ScatterPoint {
  key: string;
  /** Determines its mark. */
  series: string;
  /** Next to the mark. */
  label: string;
  /** The full name, such as a link. */
  name: ReactNode;
  x: number;
  y: number;
}

/** Plots one number against another, a point each. */
export function Scatter({
  title,
  points,
  xTitle,
  yTitle,
  formatX,
  formatY,
  level,
}: {
  title: string;
  points: readonly ScatterPoint[];
  xTitle: string;
  yTitle: string;
  formatX: (value: number) => string;
  formatY: (value: number) => string;
  level?: 'h2' | 'h3';
}) {
  const [box, width] = useWidth<HTMLDivElement>(480);
  const xTicks = ticksTo(Math.max(...points.map((point) => point.x)));
  const [lowest, highest] = [Math.min(...points.map((point) => point.y)), Math.max(...points.map((point) => point.y))];
  const yTicks = ticksBetween(lowest === highest ? 0 : lowest, highest);
  const left = Math.max(...yTicks.map((tick) => formatY(tick).length)) * 6.6 + 14;
  const [bottom, top, end] = [yTicks[0] ?? 0, yTicks.at(-1) ?? 1, xTicks.at(-1) ?? 1];
  const x = (value: number) => left + INSET + (value / end) * (width - left - RIGHT - 2 * INSET);
  const y = (value: number) =>
    TOP + INSET + (1 - (value - bottom) / (top - bottom)) * (HEIGHT - TOP - BOTTOM - 2 * INSET);
  const all = [...new Set(points.map(({ series }) => series))];
  const sorted = [...points].sort((a, b) => a.x - b.x);
  // Overlapping points share a label, next to the first of them.
  const places = Map.groupBy(sorted, (point) => `${point.x} ${point.y}`);
  const labelOf = (point: ScatterPoint) => {
    const here = places.get(`${point.x} ${point.y}`) ?? [];
    return here[0] === point ? here.map(({ label }) => label).join(', ') : '';
  };
  const text = (point: ScatterPoint) =>
    `${point.label}, ${point.series}: ${yTitle} ${formatY(point.y)}, ${xTitle} ${formatX(point.x)}`;
  return (
    <ChartFrame
      title={title}
      {...(level && { level })}
      legend={
        <ul className="chart-legend">
          {all.map((name, index) => (
            <li key={name}>
              <Sample series={index} kind="point" /> {name}
            </li>
          ))}
        </ul>
      }
      numbers={{
        head: [t('Of'), t('Series'), xTitle, yTitle],
        rows: sorted.map((point) => ({
          key: point.key,
          cells: [point.name, point.series, formatX(point.x), formatY(point.y)],
          values: [point.label, point.series, point.x, point.y],
        })),
      }}
    >
      <div ref={box}>
        <PlotReader
          label={`${title}: ${plural(points.length, 'point', 'points')}. ${yTitle} from ${formatY(lowest)} to ${formatY(highest)}.`}
          places={sorted.map((point) => ({ x: x(point.x), y: y(point.y) }))}
          width={width}
          byX={false}
          tell={(at) => {
            const point = sorted[at];
            return (
              point && (
                <>
                  <strong>{point.label}</strong>
                  <div>{point.series}</div>
                  <div>
                    {yTitle}: <b>{formatY(point.y)}</b>
                  </div>
                  <div>
                    {xTitle}: <b>{formatX(point.x)}</b>
                  </div>
                </>
              )
            );
          }}
          say={(at) => {
            const point = sorted[at];
            return point === undefined ? '' : text(point);
          }}
        >
          {(current) => (
            <svg
              className="chart-plot"
              viewBox={`0 0 ${width} ${HEIGHT}`}
              width={width}
              height={HEIGHT}
              aria-hidden="true"
            >
              {yTicks.map((tick) => (
                <g key={tick}>
                  <line x1={left} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} stroke="var(--border)" />
                  <text x={left - 6} y={y(tick) + 4} textAnchor="end" className="chart-text">
                    {formatY(tick)}
                  </text>
                </g>
              ))}
              {xTicks.map((tick) => (
                <text key={tick} x={x(tick)} y={HEIGHT - BOTTOM + 16} textAnchor="middle" className="chart-text">
                  {formatX(tick)}
                </text>
              ))}
              <text x={(left + width - RIGHT) / 2} y={HEIGHT - 6} textAnchor="middle" className="chart-text">
                {xTitle}
              </text>
              {sorted.map((point, at) => (
                <g key={point.key}>
                  <Mark
                    series={all.indexOf(point.series)}
                    x={x(point.x)}
                    y={y(point.y)}
                    size={at === current ? 7 : 5}
                  />
                  <text
                    x={x(point.x) + (x(point.x) > width * 0.85 ? -9 : 9)}
                    y={y(point.y) - 6}
                    textAnchor={x(point.x) > width * 0.85 ? 'end' : 'start'}
                    className="chart-text"
                  >
                    {labelOf(point)}
                  </text>
                </g>
              ))}
            </svg>
          )}
        </PlotReader>
      </div>
    </ChartFrame>
  );
}
