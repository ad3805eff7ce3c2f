import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from 'react';

/** The position of a value in a chart, in pixels. */
export interface Place {
  x: number;
  y: number;
}

/**
 * Lets users explore a chart with mouse and keyboard: the nearest point is shown in a tooltip and announced to screen readers. Arrows
 * move between points, Home and End go to the first and last, Escape closes the tooltip.
 */
export function PlotReader({
  label,
  places,
  width,
  byX,
  tell,
  say,
  children,
}: {
  /** Describes the chart for screen readers. */
  label: string;
  places: readonly Place[];
  width: number;
  /** Whether only the horizontal distance counts. */
  byX: boolean;
  tell: (index: number) => ReactNode;
  /** The same as text. */
  say: (index: number) => string;
  children: (current: number | undefined) => ReactNode;
}) {
  const [current, setCurrent] = useState<number>();
  const [said, setSaid] = useState('');
  const shown = current !== undefined && current < places.length ? current : undefined;
  const point = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, nearest] = [-1, Number.POSITIVE_INFINITY];
    places.forEach((place, index) => {
      const distance = byX ? Math.abs(place.x - x) : Math.hypot(place.x - x, place.y - y);
      if (distance < nearest) [best, nearest] = [index, distance];
    });
    setCurrent(best < 0 || (!byX && nearest > 40) ? undefined : best);
  };
  const press = (event: KeyboardEvent) => {
    const last = places.length - 1;
    const at = shown ?? -1;
    const to: Record<string, number | undefined> = {
      ArrowRight: Math.min(at + 1, last),
      ArrowLeft: shown === undefined ? last : Math.max(at - 1, 0),
      Home: 0,
      End: last,
    };
    if (event.key === 'Escape' && shown !== undefined) setCurrent(undefined);
    else if (to[event.key] !== undefined && last >= 0) {
      const next = to[event.key] ?? 0;
      setCurrent(next);
      setSaid(say(next));
    } else return;
    event.preventDefault();
  };
  const place = shown === undefined ? undefined : places[shown];
  return (
    <div
      className="plot"
      role="group"
      aria-roledescription="chart"
      aria-label={`${label} Arrow keys read its values.`}
      tabIndex={0}
      onPointerMove={point}
      onPointerLeave={() => setCurrent(undefined)}
      onKeyDown={press}
      onBlur={() => setCurrent(undefined)}
    >
      {children(shown)}
      <span className="visually-hidden" aria-live="polite">
        {said}
      </span>
      {place && shown !== undefined && (
        <div
          className="plot-tooltip"
          aria-hidden="true"
          style={place.x > width / 2 ? { insetInlineEnd: width - place.x + 12 } : { insetInlineStart: place.x + 12 }}
        >
          {tell(shown)}
        </div>
      )}
    </div>
  );
}
