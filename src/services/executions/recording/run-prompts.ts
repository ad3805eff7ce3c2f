import type { Query } from '../../../db/database.ts';
import { unnestOf } from '../../../db/sql.ts';
import { inStates } from '../../../db/state-change.ts';
import type { ErrorDetail } from '../../../domain/errors.ts';
import { publicId } from '../../../domain/ids.ts';
import { countsRecorded, type ReleaseStep } from '../../../domain/releases/release.ts';
import { releaseStates, UNFINISHED_RELEASE } from '../../../domain/releases/release-states.ts';
import type { Arm } from '../../../domain/releases/rollout.ts';
import type { RecordedRun } from './recorded-run.ts';

/** The prompt, version and release that a run counts for. `stage` null: the release has ended, or does not count recorded runs at its stage. */
export interface RunPrompt {
  name: string | null;
  version: number | null;
  release: { id: string; arm: Arm; keyed: boolean; stage: number | null } | null;
}

interface ReleaseRow {
  id: string;
  prompt_name: string;
  label: string;
  stable_version: number;
  candidate_version: number;
  stage: number | null;
  steps: readonly ReleaseStep[];
}

/** The stage at which recorded runs count; null if they do not count now. */
const stageOf = ({ stage, steps }: ReleaseRow) => (stage !== null && countsRecorded(steps, stage) ? stage : null);

/** The resources of the workspace that the runs name. */
interface Named {
  latestVersions: ReadonlyMap<string, number>;
  releases: ReadonlyMap<string, ReleaseRow>;
  /** The active release of a label of a prompt, by {@link labelKey}. */
  running: ReadonlyMap<string, ReleaseRow>;
}

const labelKey = (name: string, label: string) => JSON.stringify([name, label]);
const versionOf = (release: ReleaseRow, arm: Arm) =>
  arm === 'candidate' ? release.candidate_version : release.stable_version;
const isGiven = <Value>(value: Value | undefined): value is Value => value !== undefined;

const RELEASE_COLUMNS = [
  'r.id',
  'r.prompt_name',
  'r.label',
  'r.stable_version',
  'r.candidate_version',
  'l.stage',
  'r.steps',
] as const;

async function findNamed(query: Query, runs: readonly RecordedRun[]): Promise<Named> {
  const names = [...new Set(runs.map(({ promptName }) => promptName).filter(isGiven))];
  const releaseIds = [...new Set(runs.map(({ release }) => release?.id).filter(isGiven))];
  const labelled = [
    ...new Map(
      runs.flatMap(({ promptName: name, label, release }) =>
        name === undefined || label === undefined || release !== undefined
          ? []
          : [[labelKey(name, label), { name, label }] as const],
      ),
    ).values(),
  ];
  const prompts =
    names.length === 0
      ? []
      : await query((db) => db.selectFrom('prompts').select(['name', 'latest_version']).where('name', 'in', names));
  const releases =
    releaseIds.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom('releases as r')
            .leftJoin('prompt_labels as l', 'l.release_id', 'r.id')
            .select(RELEASE_COLUMNS)
            .where('r.id', 'in', releaseIds),
        );
  const running =
    labelled.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom(
              unnestOf('given', {
                name: ['text', labelled.map(({ name }) => name)],
                label: ['text', labelled.map(({ label }) => label)],
              }),
            )
            .innerJoin('releases as r', (join) =>
              join
                .onRef('r.prompt_name', '=', 'given.name')
                .onRef('r.label', '=', 'given.label')
                .on(inStates(releaseStates, UNFINISHED_RELEASE, 'r')),
            )
            .innerJoin('prompt_labels as l', 'l.release_id', 'r.id')
            .select(RELEASE_COLUMNS),
        );
  return {
    latestVersions: new Map(prompts.map(({ name, latest_version }) => [name, latest_version])),
    releases: new Map(releases.map((row) => [row.id, row])),
    running: new Map(running.map((row) => [labelKey(row.prompt_name, row.label), row])),
  };
}

/** @returns what is wrong with the names in a run, by field; or what the run counts for */
function promptOf(run: RecordedRun, { latestVersions, releases, running }: Named): RunPrompt | ErrorDetail {
  const { promptName: name, label, release: given } = run;
  const wrong = (path: string, message: string): ErrorDetail => ({ path, message });
  if (name === undefined) {
    const needing = (['prompt_version', 'label', 'release'] as const).find((field) =>
      isGiven({ prompt_version: run.promptVersion, label, release: given }[field]),
    );
    return needing === undefined ? { name: null, version: null, release: null } : wrong(needing, 'needs a prompt_name');
  }
  const latest = latestVersions.get(name);
  if (latest === undefined) return wrong('prompt_name', 'does not name a prompt of this workspace');
  if (given !== undefined) {
    const row = releases.get(given.id);
    if (row === undefined) return wrong('release.id', `there is no release ${publicId('release', given.id)}`);
    if (row.prompt_name !== name) return wrong('release.id', `is a release of the prompt "${row.prompt_name}"`);
    if (label !== undefined && row.label !== label) return wrong('label', `the release is of the label "${row.label}"`);
    const version = versionOf(row, given.arm);
    if (run.promptVersion !== undefined && run.promptVersion !== version)
      return wrong('prompt_version', `the arm "${given.arm}" of the release has version ${version}`);
    return { name, version, release: { ...given, stage: stageOf(row) } };
  }
  const { promptVersion: version } = run;
  if (version !== undefined && version > latest) return wrong('prompt_version', `the latest version is ${latest}`);
  if (label === undefined) return { name, version: version ?? null, release: null };
  if (version === undefined) return wrong('prompt_version', 'is required with a label: the version that was run');
  const row = running.get(labelKey(name, label));
  const arm = row && (['candidate', 'stable'] as const).find((each) => versionOf(row, each) === version);
  const release =
    row === undefined || arm === undefined ? null : { id: row.id, arm, keyed: false, stage: stageOf(row) };
  return { name, version, release };
}

/**
 * Finds the prompts and releases of runs, in their order. A run by label counts for the release of the label that has its version.
 * @returns or what is wrong, with paths starting at the list of runs
 */
export async function promptsOfRuns(
  query: Query,
  runs: readonly RecordedRun[],
): Promise<{ prompts: RunPrompt[]; faults: ErrorDetail[] }> {
  const named = await findNamed(query, runs);
  const prompts: RunPrompt[] = [];
  const faults: ErrorDetail[] = [];
  for (const [index, run] of runs.entries()) {
    const found = promptOf(run, named);
    if ('path' in found) faults.push({ ...found, path: `${index}.${found.path}` });
    else prompts.push(found);
  }
  return { prompts, faults };
}
