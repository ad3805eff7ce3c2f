/** What happened to a thing. */
export type Outcome = 'taken' | 'changed' | 'left out';

/** A line of the report. */
export interface ReportLine {
  kind: string;
  name: string;
  outcome: Outcome;
  /** Its changes, why it was left out, or probable mistakes in it. */
  notes: string[];
}

/** Maximum number of locations named for a repeated note. */
const MAX_PLACES = 3;

/** One thing of an import, while its outcome is being determined. */
export class Thing {
  readonly kind: string;
  readonly name: string;
  #leftOut = false;
  #changed = false;
  readonly #notes = new Map<string, { count: number; places: string[] }>();

  constructor(kind: string, name: string) {
    this.kind = kind;
    this.name = name;
  }

  get isLeftOut(): boolean {
    return this.#leftOut;
  }

  /**
   * Notes a change.
   * @param at the location, if there may be many: they are counted, and the first few are named
   */
  change(what: string, at?: string): void {
    this.#changed = true;
    this.warn(what, at);
  }

  /** Notes something unchanged that is probably not wanted. */
  warn(what: string, at?: string): void {
    const note = this.#notes.get(what) ?? { count: 0, places: [] };
    note.count += 1;
    if (at !== undefined && note.places.length < MAX_PLACES) note.places.push(at);
    this.#notes.set(what, note);
  }

  /** Notes its name here, if that differs from its own. */
  rename(name: string): void {
    if (name !== this.name) this.change(`it is called "${name}"`);
  }

  /** Notes why it is left out completely. */
  leaveOut(why: string, at?: string): void {
    if (!this.#leftOut) this.#notes.clear();
    this.#leftOut = true;
    this.change(why, at);
  }

  get line(): ReportLine {
    const notes = [...this.#notes].map(([what, { count, places }]) => {
      const more = count > places.length ? ', …' : '';
      const at = places.length === 0 ? '' : ` (${places.join(', ')}${more})`;
      return count === 1 ? `${what}${at}` : `${what}, ${count} times${at}`;
    });
    const outcome = this.#leftOut ? 'left out' : this.#changed ? 'changed' : 'taken';
    return { kind: this.kind, name: this.name, outcome, notes };
  }
}

/** Records what happens to each thing of an import. */
export class Report {
  readonly #things: Thing[] = [];

  add(kind: string, name: string): Thing {
    const thing = new Thing(kind, name);
    this.#things.push(thing);
    return thing;
  }

  /** Records something that is left out completely. */
  leaveOut(kind: string, name: string, why: string): void {
    this.add(kind, name).leaveOut(why);
  }

  get lines(): ReportLine[] {
    return this.#things.map((thing) => thing.line);
  }
}

const OUTCOMES: Record<Outcome, string> = {
  taken: 'taken unchanged',
  changed: 'taken with a change',
  'left out': 'left out',
};

/** A line of the report as text: `prompt support/greeting: taken with a change: …`. */
export function formatReportLine({ kind, name, outcome, notes }: ReportLine): string {
  // Quoted text comes from other people's files, and must not control a terminal.
  const safe = (text: string) => text.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
  const why = notes.length === 0 ? '' : `: ${notes.join('; ')}`;
  return safe(`${kind} ${name}: ${OUTCOMES[outcome]}${why}`);
}
