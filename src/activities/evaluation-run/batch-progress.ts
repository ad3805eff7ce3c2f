import { evaluatorModelsOf } from '../../evaluators/registry.ts';
import type { RunSpec } from '../../services/evaluations/creation/run-spec.ts';
import type { RetryingModels } from '../call-with-retries.ts';
import type { BatchBudget } from './batch-budget.ts';
import type { BatchHeartbeat } from './batch-watch.ts';
import type { ExampleStore } from './example-store.ts';
import type { ScoringEndpoints } from './scoring-endpoints.ts';

interface Sources {
  spec: RunSpec;
  budget: BatchBudget;
  store: ExampleStore;
  models: RetryingModels;
  endpoints: ScoringEndpoints;
}

/** Counts the completed examples of a batch. */
export class BatchProgress {
  readonly #of: number;
  #sources: Sources | undefined;
  /** See {@link BatchHeartbeat}. */
  readonly setAside = new Set<number>();
  warned: readonly number[] = [];
  #done = 0;
  #nextSeq: number;

  constructor({ from, to }: { from: number; to: number }) {
    this.#of = to - from;
    this.#nextSeq = from;
  }

  /** Called when the batch is loaded. */
  begin(sources: Sources): void {
    this.#sources = sources;
  }

  /**
   * @param open the next examples without a result; all before them have one
   * @param to exclusive end, used if there are none
   */
  skipTo(open: readonly { seq: number }[], to: number): void {
    const nextSeq = (open.at(-1)?.seq ?? to - 1) + 1;
    this.#done += nextSeq - this.#nextSeq - open.length;
    this.#nextSeq = nextSeq;
  }

  exampleDone(): void {
    this.#done += 1;
  }

  get heartbeat(): BatchHeartbeat {
    const { spec, budget, store, models, endpoints } = this.#sources ?? {};
    const waits = spec && models && endpoints && [...waitsOf(spec, models), ...endpoints.troubles];
    return {
      done: this.#done,
      of: this.#of,
      failed: store?.failed ?? 0,
      inFlight: budget?.inFlight ?? 0,
      spentUsd: Number((budget?.spentUsd ?? 0).toFixed(6)),
      ...(this.setAside.size > 0 && { setAside: [...this.setAside] }),
      ...(this.warned.length > 0 && { warned: this.warned }),
      ...(waits && waits.length > 0 && { waits }),
    };
  }
}

function waitsOf({ model, fallbackModels, evaluators }: RunSpec, models: RetryingModels): string[] {
  return refusals(models, [model, ...fallbackModels, ...evaluatorModelsOf(evaluators)]);
}

/** Describes which of the models currently refuse calls. */
export function refusals(models: RetryingModels, names: readonly string[]): string[] {
  return [...new Set(names)].flatMap((name) => {
    const until = models.refusedUntil(name);
    return until === undefined ? [] : [`${name} refused calls: calls again at ${until.toISOString()}`];
  });
}
