import { z } from 'zod';

/** The file that says what is in an export; all others are named in it. */
export const INDEX_FILE = 'workspace.json';
/** Grows with changes that an older `pms import` can't read. */
export const FORMAT = 'pms-export/1';

const Name = z.string().min(1).max(200);

/** The folder of an export:
 *
 *     workspace.json                 labels, archived prompts, descriptions, schedules, webhooks, protected labels
 *     prompts/NAME@VERSION.yaml      a prompt file for each version
 *     datasets/NAME@VERSION.jsonl    the latest version of each dataset, as it can be uploaded
 *
 * "@" is in no name, so no name of a file is that of a folder.
 */
export const Index = z.strictObject({
  format: z.literal(FORMAT, `must be "${FORMAT}": use the version of pms that wrote this export`),
  exported_at: z.string(),
  prompts: z.array(
    z.strictObject({
      name: Name,
      /** Its files without `@VERSION.yaml`. */
      file: z.string(),
      description: z.string().nullable(),
      archived: z.boolean(),
      labels: z.record(z.string(), z.int().min(1)),
      /** When each version was made; there are as many. */
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

/** Gives names files that are apart on file systems that take "A" and "a" for the same, too. */
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
