/** A series of a scrape. */
export interface Series {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

/** The series of a scrape, in Prometheus' text format. @throws Error on a line that is none of it */
export function parseExposition(text: string): Series[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name, labels = '', value = ''] = LINE.exec(line) ?? [];
    if (name === undefined) throw new Error(`This is no series: ${line}`);
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', is = '']) => [key, is] as const);
    return { name, labels: Object.fromEntries(pairs), value: Number(value.replace('Nan', 'NaN')) };
  });
}
