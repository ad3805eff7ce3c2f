import { setCurrentDetails } from '@temporalio/workflow';
import type { RunProgress } from '../activities/evaluation-run/evaluation.ts';
import { clockText } from '../domain/text/clock-text.ts';

/** Where a run is, as operators read it in the current details of its workflow. */
export class RunDetails {
  #progress = 'starting';
  /** Why batches wait, by the number of their first example. */
  readonly #waits = new Map<number, string>();
  #text = this.#progress;

  get text(): string {
    return this.#text;
  }

  /** @param wait what the run waits for */
  show({ details }: RunProgress, wait?: string): void {
    this.showText(wait === undefined ? details : `${details}\n\n${wait}`);
  }

  /** @param progress as of now; what batches wait for stays below it */
  showText(progress: string): void {
    this.#progress = `${progress}\n\nas of ${clockText(Date.now())}`;
    this.#write();
  }

  /** @param why undefined: the batch waits no longer */
  showWait(batchFrom: number, why: string | undefined): void {
    if (why === undefined) this.#waits.delete(batchFrom);
    else this.#waits.set(batchFrom, why);
    this.#write();
  }

  #write(): void {
    this.#text = [this.#progress, ...this.#waits.values()].join('\n\n');
    setCurrentDetails(this.#text);
  }
}
