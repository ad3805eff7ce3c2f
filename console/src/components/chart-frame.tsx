import { type ReactNode, useRef } from 'react';
import { Button } from './button.tsx';
import { type Cell, saveCsv, savePng, saveSvg } from './chart-export.ts';
import { showError } from './toast.tsx';

/** The numbers of a chart, for its table and its file. */
export interface ChartNumbers {
  head: readonly string[];
  rows: readonly { key: string; cells: readonly ReactNode[]; values: readonly Cell[] }[];
}

/** The frame of every chart: a title, its numbers in an accessible table, and downloads of both. */
export function ChartFrame({
  title,
  note,
  legend,
  numbers,
  level = 'h2',
  children,
}: {
  title: string;
  note?: ReactNode;
  legend?: ReactNode;
  numbers: ChartNumbers;
  level?: 'h2' | 'h3';
  /** Contains the one `svg.chart-plot` that is exported. */
  children: ReactNode;
}) {
  const figure = useRef<HTMLElement>(null);
  const withPlot = (use: (plot: SVGSVGElement) => unknown) => {
    const plot = figure.current?.querySelector<SVGSVGElement>('svg.chart-plot');
    if (plot) Promise.resolve(use(plot)).catch(showError);
  };
  const Heading = level;
  return (
    <figure className="chart" ref={figure}>
      <figcaption className="chart-head">
        <Heading>{title}</Heading>
        {note}
      </figcaption>
      {children}
      {legend}
      <details className="chart-details">
        <summary>Numbers</summary>
        <div className="chart-numbers" tabIndex={0} role="region" aria-label={`${title}: numbers`}>
          <table>
            <thead>
              <tr>
                {numbers.head.map((each) => (
                  <th key={each} scope="col">
                    {each}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {numbers.rows.map(({ key, cells: [first, ...others] }) => (
                <tr key={key}>
                  <th scope="row">{first}</th>
                  {others.map((each, at) => (
                    <td key={numbers.head[at + 1]}>{each}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <div className="row chart-files">
          <Button look="small" onClick={() => withPlot((plot) => savePng(plot, title))}>
            PNG<span className="visually-hidden"> of {title}</span>
          </Button>
          <Button look="small" onClick={() => withPlot((plot) => saveSvg(plot, title))}>
            SVG<span className="visually-hidden"> of {title}</span>
          </Button>
          <Button
            look="small"
            onClick={() => saveCsv([numbers.head, ...numbers.rows.map(({ values }) => values)], title)}
          >
            CSV<span className="visually-hidden"> of {title}</span>
          </Button>
        </div>
      </details>
    </figure>
  );
}
