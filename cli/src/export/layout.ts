import { z } from 'zod';

/** The index of an export, which names all other files. */
export const INDEX_FILE = 'workspace.json';
/** Increases with changes that older versions of `pms import` can't read. */
export const FORMAT = 'pms-export/1';

const Name = z.string().min(1).max(200);

/**
 * The folder of an export:
 *
 *     workspace.json                 labels, archived prompts, descriptions, schedules, webhooks, protected labels
 *     prompts/NAME@VERSION.yaml      a prompt file for each version
 *     datasets/NAME@VERSION.jsonl    the latest version of each dataset, ready for upload
 *
 * Names never contain "@", so no file has the name of a folder.
 */
export const Index = z.strictObject({
  format: z.literal(FORMAT, `must be "${FORMAT}": use the version of pms that wrote this export`),
  exported_at: z.string(),
  prompts: z.array(
    z.strictObject({
      name: Name,
      /** The path of its files without `@VERSION.yaml`. */
      file: z.string(),
      description: z.string().nullable(),
      archived: z.boolean(),
      labels: z.record(z.string(), z.int().min(1)),
      /** When each version was created; one entry per version. */
      versions_created_at: z.array(z.string()).min(1),
    }),
  ),
  datasets: z.array(
    z.strictObject({
      name: Name,
      file: z.string(),
      description: z.string().nullable(),
      examples_total: z.int().min(0),
    }),
  ),
  schedules: z.array(
    z.strictObject({
      name: z.string(),
      cron: z.string(),
      time_zone: z.string(),
      paused: z.boolean(),
      evaluation: z.unknown(),
    }),
  ),
  webhooks: z.array(
    z.strictObject({
      url: z.string(),
      events: z.array(z.string()),
      description: z.string().nullable(),
      rate_limit_per_minute: z.int().nullable(),
      status: z.string(),
      header_names: z.array(z.string()).nullable(),
    }),
  ),
  protected_labels: z.array(z.string()),
});
export type Index = z.infer<typeof Index>;

/** Assigns file names that are distinct even on case-insensitive file systems. */
export class FileNames {
  readonly #folder: string;
  readonly #taken = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  of(name: string): string {
    const key = name.toLowerCase();
    const before = this.#taken.get(key) ?? 0;
    this.#taken.set(key, before + 1);
    return `${this.#folder}/${name}${before === 0 ? '' : `~${before + 1}`}`;
  }
}
