import type { ReactNode } from 'react';

/** Series with distinct colors, dashes and marks; further series repeat them. */
const LINES = 6;
const DASHES = ['', '7 3', '2 3', '9 3 2 3', '12 4', '4 2'];

export const colorOf = (index: number) => `var(--line-${(index % LINES) + 1})`;
export const dashOf = (index: number) => DASHES[index % LINES] || undefined;

/** The mark of a series, which distinguishes it without colors. */
export function Mark({ series, x, y, size = 4 }: { series: number; x: number; y: number; size?: number }) {
  const fill = colorOf(series);
  const paint = { fill, stroke: 'var(--surface)', strokeWidth: 1 };
  switch (series % LINES) {
    case 0:
      return <circle cx={x} cy={y} r={size} {...paint} />;
    case 1:
      return <rect x={x - size} y={y - size} width={size * 2} height={size * 2} {...paint} />;
    case 2:
      return <path d={`M${x} ${y - size * 1.2}l${size * 1.2} ${size * 2.2}h${-size * 2.4}z`} {...paint} />;
    case 3:
      return (
        <path
          d={`M${x} ${y - size * 1.4}l${size * 1.4} ${size * 1.4}l${-size * 1.4} ${size * 1.4}l${-size * 1.4} ${-size * 1.4}z`}
          {...paint}
        />
      );
    case 4:
      return <circle cx={x} cy={y} r={size - 0.5} fill="var(--surface)" stroke={fill} strokeWidth={2} />;
    default:
      return (
        <path
          d={`M${x - size} ${y - size}l${size * 2} ${size * 2}M${x + size} ${y - size}l${-size * 2} ${size * 2}`}
          fill="none"
          stroke={fill}
          strokeWidth={2}
        />
      );
  }
}

/** A sample of a chart's line, next to its name. */
export function Sample({ series, kind }: { series: number; kind?: 'limit' | 'steps' | 'bar' | 'point' | undefined }) {
  return (
    <svg width="28" height="12" aria-hidden="true" className="chart-sample">
      {kind === 'bar' ? (
        <>
          <rect x="6" y="0" width="16" height="12" fill={colorOf(series)} />
          <rect x="6" y="0" width="16" height="12" fill={patternOf(series)} />
        </>
      ) : kind === 'limit' ? (
        <line x1="0" x2="28" y1="6" y2="6" stroke="var(--bad)" strokeWidth="2" strokeDasharray="6 4" />
      ) : (
        <>
          {kind !== 'point' && (
            <line
              x1="0"
              x2="28"
              y1="6"
              y2="6"
              stroke={colorOf(series)}
              strokeWidth="2"
              strokeDasharray={dashOf(series)}
            />
          )}
          {kind !== 'steps' && <Mark series={series} x={14} y={6} />}
        </>
      )}
    </svg>
  );
}

export const patternOf = (series: number) => `url(#hatch-${series % LINES})`;

/** Hatch patterns of bars, so that parts of a stack differ in black and white. The first has none. */
export function Hatches() {
  const lines: ReactNode[] = [
    null,
    <path key="1" d="M0 6L6 0" />,
    <path key="2" d="M0 0L6 6" />,
    <path key="3" d="M0 3H6" />,
    <path key="4" d="M3 0V6" />,
    <path key="5" d="M0 6L6 0M0 0L6 6" />,
  ];
  return (
    <defs>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
        <pattern key={index} id={`hatch-${index}`} width="6" height="6" patternUnits="userSpaceOnUse">
          <g stroke="var(--surface)" strokeWidth="1.2" fill="none">
            {line}
          </g>
        </pattern>
      ))}
    </defs>
  );
}

/** A round step with at most `count` steps from 0 to `high`. */
export function stepOf(high: number, count: number): number {
  const rough = high / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((each) => each * power >= rough * (1 - 1e-9)) ?? 10;
  return step * power;
}

/** Round numbers from 0, the last of which is at least `high`. */
export function ticksTo(high: number, count = 4): number[] {
  if (!(high > 0) || !Number.isFinite(high)) return [0, 1];
  const step = stepOf(high, count);
  const ticks = Math.ceil(high / step - 1e-9);
  return Array.from({ length: ticks + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** Round numbers around a span. */
export function ticksBetween(low: number, high: number, count = 4): number[] {
  if (low === high) return ticksTo(high || 1, count);
  const step = stepOf(high - low, count);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}
