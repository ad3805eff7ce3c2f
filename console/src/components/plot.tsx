import { type ReactNode, useMemo } from 'react';
import { NONE } from '../format.ts';
import { t } from '../strings.ts';
import { ChartFrame } from './chart-frame.tsx';
import { colorOf, dashOf, Hatches, Mark, patternOf, Sample, ticksTo } from './chart-parts.tsx';
import { PlotReader } from './plot-reader.tsx';
import { useWidth } from './use-width.ts';

const HEIGHT = 220;
const TOP = 22;
const BOTTOM = 26;
const RIGHT = 10;
/** With more points, marks would overlap: only the line is drawn. */
const MOST_MARKS = 60;
/** Event names closer than this are stacked vertically. */
const NEAR_PX = 110;
const CHARACTER_PX = 6.6;

export interface Series {
  label: string;
  /** One for each point of the chart; null for none. */
  values: (number | null)[];
  /** `limit`: a bound for the other series. `steps`: constant until the next point. Default: a line between points. */
  kind?: 'limit' | 'steps';
  /** The confidence interval of each value, drawn as a bar through it. */
  intervals?: ({ low: number; high: number } | null)[];
}

/** An event, drawn as a line across the chart. */
export interface Event {
  at: number;
  label: string;
}

export interface PlotProps {
  title: string;
  note?: ReactNode;
  level?: 'h2' | 'h3';
  /** Horizontal positions of the points, in order. */
  xs: readonly number[];
  domain: readonly [number, number];
  xTicks: readonly { at: number; label: string }[];
  /** The name of each point. */
  names: readonly string[];
  /** Heading of their column. */
  xTitle: string;
  series: readonly Series[];
  format: (value: number | null) => string;
  /** The end of the vertical axis; default: the largest value. */
  max?: number;
  /** Bars on top of each other instead of lines. */
  stacked?: boolean;
  events?: readonly Event[];
  /** More about a point, in the table and the tooltip. */
  detail?: (index: number) => ReactNode;
}

const isNumber = (value: number | null | undefined): value is number => value != null;

/** Describes a chart in words: the first and last value of each series. */
function describe(title: string, series: readonly Series[], format: PlotProps['format']): string {
  const said = series.slice(0, 6).flatMap(({ label, values, kind }) => {
    const known = values.filter(isNumber);
    const [first, last] = [known[0], known.at(-1)];
    if (first === undefined || last === undefined) return [];
    return kind === 'limit' || known.length === 1 || first === last
      ? [`${label} ${format(last)}`]
      : [t(`${label} from ${format(first)} to ${format(last)}`)];
  });
  return `${title}: ${said.join('; ') || t('no values')}.`;
}

/** Lines, or stacked bars, on axes. */
export function Plot({
  title,
  note,
  level,
  xs,
  domain,
  xTicks,
  names,
  xTitle,
  series,
  format,
  max,
  stacked = false,
  events = [],
  detail,
}: PlotProps) {
  const [box, width] = useWidth<HTMLDivElement>(480);
  const totals = useMemo(
    () => xs.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)),
    [xs, series],
  );
  const highest = stacked
    ? Math.max(0, ...totals)
    : Math.max(
        0,
        ...series.flatMap(({ values, intervals }) => [
          ...values.filter(isNumber),
          ...(intervals ?? []).map((each) => each?.high ?? 0),
        ]),
      );
  const ticks = ticksTo(max ?? highest);
  const top = ticks.at(-1) ?? 1;
  const left = Math.min(96, Math.max(36, Math.max(...ticks.map((tick) => format(tick).length)) * CHARACTER_PX + 12));
  const plotWidth = Math.max(40, width - left - RIGHT);
  const [from, to] = domain;
  const x = (value: number) => left + (to === from ? 0.5 : (value - from) / (to - from)) * plotWidth;
  const y = (value: number) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  // After rounding, two may be equal.
  const tickLabels = ticks.map(format).map((label, index, all) => (label === all[index - 1] ? '' : label));
  const places = xs.map((value) => ({ x: x(value), y: HEIGHT / 2 }));
  const spacing =
    xs.length < 2 ? plotWidth / 4 : plotWidth / Math.max(1, Math.round((to - from) / smallestGap(xs)) + 1);
  const barWidth = Math.max(1, Math.min(36, spacing * 0.7));
  const shown = xTicks.filter((_, index) => index % tickStride(xTicks, plotWidth) === 0);
  const hasMarks = xs.length <= MOST_MARKS;
  const tell = (at: number) => (
    <>
      <strong>{names[at]}</strong>
      <ul>
        {series.map(({ label, values, kind }, index) => (
          <li key={label}>
            <Sample series={index} kind={stacked ? 'bar' : kind} /> {label}: <b>{format(values[at] ?? null)}</b>
          </li>
        ))}
      </ul>
      {stacked && series.length > 1 && <div>Total: {format(totals[at] ?? null)}</div>}
      {detail?.(at)}
    </>
  );
  const say = (at: number) =>
    [names[at], ...series.map(({ label, values }) => `${label} ${format(values[at] ?? null)}`)].join(', ');
  return (
    <ChartFrame
      title={title}
      note={note}
      {...(level && { level })}
      legend={
        <ul className="chart-legend">
          {series.map(({ label, kind }, index) => (
            <li key={label}>
              <Sample series={index} kind={stacked ? 'bar' : kind} /> {label}
            </li>
          ))}
        </ul>
      }
      numbers={{
        head: [xTitle, ...series.map(({ label }) => label), ...(detail ? [t('Details')] : [])],
        rows: xs.map((value, at) => ({
          key: `${value} ${names[at]}`,
          cells: [
            names[at],
            ...series.map(({ values, intervals }) => {
              const bounds = intervals?.[at];
              const text = format(values[at] ?? null);
              return bounds ? `${text} (${format(bounds.low)} – ${format(bounds.high)})` : text;
            }),
            ...(detail ? [detail(at)] : []),
          ],
          values: [names[at] ?? '', ...series.map(({ values }) => values[at] ?? null)],
        })),
      }}
    >
      <div ref={box}>
        <PlotReader label={describe(title, series, format)} places={places} width={width} byX tell={tell} say={say}>
          {(current) => (
            <svg
              className="chart-plot"
              viewBox={`0 0 ${width} ${HEIGHT}`}
              width={width}
              height={HEIGHT}
              aria-hidden="true"
            >
              {stacked && <Hatches />}
              {ticks.map((tick, index) => (
                <g key={tick}>
                  <line x1={left} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} stroke="var(--border)" />
                  <text x={left - 6} y={y(tick) + 4} textAnchor="end" className="chart-text">
                    {tickLabels[index]}
                  </text>
                </g>
              ))}
              {shown.map(({ at, label }) => (
                <text key={`${at} ${label}`} x={x(at)} y={HEIGHT - 8} textAnchor="middle" className="chart-text">
                  {label}
                </text>
              ))}
              {events.map(({ at, label }, index) => (
                <g key={`${at} ${label}`}>
                  <line
                    x1={x(at)}
                    x2={x(at)}
                    y1={TOP - 6}
                    y2={HEIGHT - BOTTOM}
                    stroke="var(--text-muted)"
                    strokeDasharray="3 3"
                  />
                  <text
                    x={x(at)}
                    y={index % 2 === 1 && x(at) - x(events[index - 1]?.at ?? from) < NEAR_PX ? 20 : 10}
                    textAnchor={x(at) > width * 0.8 ? 'end' : x(at) < width * 0.2 ? 'start' : 'middle'}
                    className="chart-text"
                  >
                    {label}
                  </text>
                </g>
              ))}
              {current !== undefined && (
                <line
                  x1={places[current]?.x}
                  x2={places[current]?.x}
                  y1={TOP}
                  y2={HEIGHT - BOTTOM}
                  stroke="var(--text-muted)"
                />
              )}
              {stacked
                ? xs.map((value, at) => (
                    <Stack key={value} series={series} at={at} x={x(value)} y={y} width={barWidth} />
                  ))
                : series.map((each, index) => (
                    <Line
                      key={each.label}
                      each={each}
                      index={index}
                      xs={xs}
                      x={x}
                      y={y}
                      hasMarks={hasMarks}
                      current={current}
                    />
                  ))}
            </svg>
          )}
        </PlotReader>
      </div>
    </ChartFrame>
  );
}

const smallestGap = (xs: readonly number[]) =>
  xs.slice(1).reduce((gap, each, at) => Math.min(gap, each - (xs[at] ?? 0) || gap), Number.POSITIVE_INFINITY);

/** Skips labels that would overlap. */
function tickStride(ticks: readonly { label: string }[], width: number): number {
  const widest = Math.max(1, ...ticks.map(({ label }) => label.length)) * CHARACTER_PX + 14;
  return Math.max(1, Math.ceil((ticks.length * widest) / width));
}

function Stack({
  series,
  at,
  x,
  y,
  width,
}: {
  series: readonly Series[];
  at: number;
  x: number;
  y: (value: number) => number;
  width: number;
}) {
  let sum = 0;
  return (
    <g>
      {series.map(({ label, values }, index) => {
        const value = values[at] ?? 0;
        if (value <= 0) return null;
        const box = { x: x - width / 2, y: y(sum + value), width, height: Math.max(0.5, y(sum) - y(sum + value)) };
        sum += value;
        return (
          <g key={label}>
            <rect {...box} fill={colorOf(index)} stroke="var(--surface)" strokeWidth="0.5" />
            {index % 6 !== 0 && <rect {...box} fill={patternOf(index)} />}
          </g>
        );
      })}
    </g>
  );
}

function Line({
  each: { values, kind, intervals },
  index,
  xs,
  x,
  y,
  hasMarks,
  current,
}: {
  each: Series;
  index: number;
  xs: readonly number[];
  x: (value: number) => number;
  y: (value: number) => number;
  hasMarks: boolean;
  current: number | undefined;
}) {
  const known = xs.flatMap((value, at) => {
    const found = values[at];
    return isNumber(found) ? [{ at, x: x(value), y: y(found) }] : [];
  });
  const path = known
    .map((point, at) =>
      at === 0 ? `M${point.x} ${point.y}` : kind === 'steps' ? `H${point.x}V${point.y}` : `L${point.x} ${point.y}`,
    )
    .join('');
  const color = kind === 'limit' ? 'var(--bad)' : colorOf(index);
  return (
    <g>
      <path
        d={path}
        fill="none"
        stroke={color}
        strokeWidth="2"
        strokeLinejoin="round"
        strokeDasharray={kind === 'limit' ? '6 4' : dashOf(index)}
      />
      {intervals &&
        known.map((point) => {
          const bounds = intervals[point.at];
          return (
            bounds && (
              <path
                key={point.at}
                d={`M${point.x} ${y(bounds.low)}V${y(bounds.high)}M${point.x - 4} ${y(bounds.low)}h8M${point.x - 4} ${y(bounds.high)}h8`}
                stroke={color}
                strokeWidth="1.5"
                opacity="0.6"
              />
            )
          );
        })}
      {kind === undefined &&
        known.map(
          (point) =>
            (hasMarks || point.at === current || known.length === 1) && (
              <Mark key={point.at} series={index} x={point.x} y={point.y} size={point.at === current ? 5.5 : 3.5} />
            ),
        )}
    </g>
  );
}

/** Formats a missing value. */
export const orNone = (format: (value: number) => string) => (value: number | null) =>
  value === null ? NONE : format(value);
