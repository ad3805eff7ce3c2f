import type pg from 'pg';
import { z } from 'zod';
import { parsePublicId, publicId } from '../../src/domain/ids.ts';
import type { ProviderProcess } from '../../test/support/processes-service.ts';
import { promptKey } from '../../test/support/providers/stand-in.ts';
import type { Receiver } from '../../test/support/receiver.ts';
import type { InFlight } from './work.ts';

/** A line of the ledger: expected and actual. */
export interface Line {
  what: string;
  count: number;
  lost: number;
  failed: number;
  doubled: number;
  note: string;
}

const Calls = z.object({ by_prompt: z.record(z.string(), z.number()) });
const Batches = z.object({ created: z.number(), batches: z.array(z.object({ tag: z.string().nullable() })) });
const StoredCalls = z.array(z.object({ error: z.object({ code: z.string() }).nullish() }));

/** Compares what callers, models and receivers observed with the rows. */
export class Ledger {
  readonly #database: pg.Client;
  readonly #model: ProviderProcess;
  readonly #work: InFlight;

  constructor(database: pg.Client, model: ProviderProcess, work: InFlight) {
    this.#database = database;
    this.#model = model;
    this.#work = work;
  }

  async #rows<T extends z.ZodRawShape>(shape: T, text: string, values: unknown[] = []) {
    const { rows } = await this.#database.query(text, values);
    return z.array(z.object(shape)).parse(rows);
  }

  /** Counts of unfinished work. */
  async unfinished(): Promise<Record<string, number>> {
    const states = {
      executions: "status in ('queued', 'running')",
      evaluations: "status in ('scheduled', 'running', 'paused')",
      provider_batches: 'finished_at is null',
      releases: 'finished_at is null',
      deliveries: "status in ('queued', 'waiting')",
      events: 'dispatched_at is null',
    };
    const counts: Record<string, number> = {};
    for (const [table, condition] of Object.entries(states)) {
      const [row] = await this.#rows({ count: z.coerce.number() }, `select count(*) from ${table} where ${condition}`);
      if (row !== undefined && row.count > 0) counts[table] = row.count;
    }
    return counts;
  }

  async lines(receivers: Record<string, Receiver>): Promise<Line[]> {
    const calls = Calls.parse(await (await fetch(new URL('/__calls', this.#model.baseUrl))).json()).by_prompt;
    const seen = (prompt: string) => calls[promptKey(prompt)] ?? 0;
    const lines = [
      await this.#executions(seen),
      ...(await this.#evaluations(seen)),
      await this.#batches(),
      await this.#schedule(),
      await this.#releases(),
    ];
    for (const [name, receiver] of Object.entries(receivers)) lines.push(await this.#deliveries(name, receiver));
    return lines;
  }

  async #executions(seen: (prompt: string) => number): Promise<Line> {
    const rows = await this.#rows(
      { id: z.string(), status: z.string(), output: z.string().nullable(), calls: StoredCalls },
      `select id, status, output, calls from executions where prompt_name = 'load'`,
    );
    const byId = new Map(rows.map((row) => [publicId('execution', row.id), row]));
    const line = { what: 'executions', count: this.#work.executions.size, lost: 0, failed: 0, doubled: 0 };
    let [paid, refused] = [0, 0];
    for (const [id, prompt] of this.#work.executions) {
      const row = byId.get(id);
      if (row === undefined) line.lost += 1;
      else if (row.status !== 'completed' || row.output !== `Answer to: ${prompt}`) line.failed += 1;
      const errors = row?.calls.filter(({ error }) => error != null).length ?? 0;
      refused += errors;
      paid += seen(prompt) - errors;
      line.doubled += Math.max(0, seen(prompt) - errors - 1);
    }
    const unknown = rows.length - this.#work.executions.size;
    return {
      ...line,
      note: `${paid} calls paid, ${refused} refused and repeated; ${unknown} rows that no caller knows`,
    };
  }

  async #evaluations(seen: (prompt: string) => number): Promise<Line[]> {
    const lines: Line[] = [];
    for (const mode of ['interactive', 'batch'] as const) {
      const line = { what: `examples, ${mode}`, count: 0, lost: 0, failed: 0, doubled: 0 };
      const mine = this.#work.evaluations.filter((evaluation) => evaluation.mode === mode);
      let paid = 0;
      for (const { id, prompts } of mine) {
        const results = await this.#rows(
          { status: z.string(), output: z.string().nullable(), seq: z.number() },
          'select status, output, seq from evaluation_results where evaluation_id = $1',
          [parsePublicId('evaluation', id)],
        );
        line.count += prompts.length;
        line.lost += prompts.length - results.length;
        line.failed += results.filter(
          ({ status, output, seq }) => status !== 'scored' || output !== `Answer to: ${prompts[seq]}`,
        ).length;
        const direct = prompts.map(seen);
        paid += direct.reduce((sum, count) => sum + count, 0);
        line.doubled += direct.reduce((sum, count) => sum + Math.max(0, count - (mode === 'batch' ? 0 : 1)), 0);
      }
      lines.push({ ...line, note: `${mine.length} evaluations, ${paid} calls one by one` });
    }
    return lines;
  }

  async #batches(): Promise<Line> {
    const at = Batches.parse(await (await fetch(new URL('/__batches', this.#model.baseUrl))).json());
    const rows = await this.#rows({ id: z.string(), status: z.string() }, 'select id, status from provider_batches');
    const tags = at.batches.map(({ tag }) => tag);
    return {
      what: 'provider batches',
      count: rows.length,
      lost: rows.filter(({ id }) => !tags.includes(publicId('providerBatch', id))).length,
      failed: rows.filter(({ status }) => status !== 'completed').length,
      doubled: at.created - new Set(tags).size,
      note: `${at.created} at the provider`,
    };
  }

  /** Each minute from the first to the last has one evaluation. */
  async #schedule(): Promise<Line> {
    const rows = await this.#rows(
      { workflow_id: z.string(), status: z.string().nullable() },
      `select o.workflow_id, e.status from schedule_occurrences o left join evaluations e on e.id = o.evaluation_id
       where o.schedule_id = $1`,
      [parsePublicId('schedule', this.#work.schedule)],
    );
    const minutes = rows.map(({ workflow_id: id }) => Date.parse(id.slice(-'2026-01-01T00:00:00Z'.length)) / 60_000);
    const [first, last] = [Math.min(...minutes), Math.max(...minutes)];
    const [started] = await this.#rows(
      { count: z.coerce.number() },
      'select count(*) from evaluations where schedule_id = $1',
      [parsePublicId('schedule', this.#work.schedule)],
    );
    return {
      what: 'starts of a schedule',
      count: rows.length,
      lost: last - first + 1 - new Set(minutes).size,
      failed: rows.filter(({ status }) => status !== 'completed').length,
      doubled: minutes.length - new Set(minutes).size + Math.max(0, (started?.count ?? 0) - rows.length),
      note: `${started?.count ?? 0} evaluations`,
    };
  }

  async #releases(): Promise<Line> {
    const rows = await this.#rows(
      { id: z.string(), status: z.string(), version: z.number().nullable() },
      `select r.id, r.status, l.version from releases r
       left join prompts p on p.workspace_id = r.workspace_id and p.name = r.prompt_name
       left join prompt_labels l on l.prompt_id = p.id and l.label = r.label`,
    );
    const known = new Set(rows.map(({ id }) => publicId('release', id)));
    return {
      what: 'releases',
      count: this.#work.releases.length,
      lost: this.#work.releases.filter(({ id }) => !known.has(id)).length,
      failed: rows.filter(({ status, version }) => status !== 'succeeded' || version !== 2).length,
      doubled: rows.length - known.size,
      note: 'at 50 % while processes were replaced',
    };
  }

  /** Each event of the webhook's types is delivered once, with exactly the recorded attempts. */
  async #deliveries(name: string, receiver: Receiver): Promise<Line> {
    const [events] = await this.#rows(
      { count: z.coerce.number() },
      `select count(*) from events where type in ('execution.completed', 'evaluation.completed')`,
    );
    const rows = await this.#rows(
      { id: z.string(), status: z.string(), attempts: z.coerce.number() },
      `select d.id, d.status, (select count(*) from delivery_attempts a where a.delivery_id = d.id) as attempts
       from deliveries d join webhooks w on w.id = d.webhook_id where w.description = $1`,
      [name],
    );
    const received = new Map<string, number>();
    let doubled = 0;
    const attempts = new Set<string>();
    for (const { headers } of receiver.received) {
      const id = String(headers['x-delivery-id']);
      const attempt = `${id}/${String(headers['x-delivery-attempt'])}`;
      if (attempts.has(attempt)) doubled += 1;
      attempts.add(attempt);
      received.set(id, (received.get(id) ?? 0) + 1);
    }
    const differing = rows.filter(
      ({ id, attempts: stored }) => stored !== (received.get(publicId('delivery', id)) ?? 0),
    );
    return {
      what: `deliveries, ${name} receiver`,
      count: events?.count ?? 0,
      lost:
        Math.max(0, (events?.count ?? 0) - rows.length) + rows.filter(({ status }) => status !== 'delivered').length,
      failed: differing.length,
      doubled: doubled + Math.max(0, rows.length - (events?.count ?? 0)),
      note: `${receiver.received.length} attempts received, ${rows.reduce((sum, row) => sum + row.attempts, 0)} recorded`,
    };
  }
}
