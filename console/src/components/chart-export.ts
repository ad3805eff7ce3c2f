/** Styles from the theme, written into the exported copy. */
const PAINTED = ['fill', 'stroke', 'opacity', 'fill-opacity', 'font-size', 'font-family', 'font-weight'] as const;
const PNG_SCALE = 2;

function save(blob: Blob, file: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A file name from a title. */
export const fileNameOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '') || 'chart';

/** The chart as displayed, with its colors and the page background. */
function asSvg(chart: SVGSVGElement): { text: string; width: number; height: number } {
  const copy = chart.cloneNode(true) as SVGSVGElement;
  const [from, to] = [chart.querySelectorAll('*'), copy.querySelectorAll('*')];
  from.forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const name of PAINTED) to[at]?.setAttribute(name, style.getPropertyValue(name));
    to[at]?.removeAttribute('style');
  });
  const { width, height } = chart.getBoundingClientRect();
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  ground.setAttribute('width', '100%');
  ground.setAttribute('height', '100%');
  ground.setAttribute('fill', getComputedStyle(document.documentElement).backgroundColor);
  copy.prepend(ground);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

export function saveSvg(chart: SVGSVGElement, title: string): void {
  save(new Blob([asSvg(chart).text], { type: 'image/svg+xml' }), `${fileNameOf(title)}.svg`);
}

export async function savePng(chart: SVGSVGElement, title: string): Promise<void> {
  const { text, width, height } = asSvg(chart);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = width * PNG_SCALE;
  canvas.height = height * PNG_SCALE;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => {
    canvas.toBlob(done, 'image/png');
  });
  if (blob === null) throw new Error('The browser cannot create a PNG of this chart: use the SVG.');
  save(blob, `${fileNameOf(title)}.png`);
}

/** A CSV cell: anything that a spreadsheet would take for a formula stays text. */
function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export type Cell = string | number | null;

export function saveCsv(rows: readonly (readonly Cell[])[], title: string): void {
  const text = rows.map((row) => row.map(cell).join(',')).join('\r\n');
  save(new Blob([`${text}\r\n`], { type: 'text/csv' }), `${fileNameOf(title)}.csv`);
}
