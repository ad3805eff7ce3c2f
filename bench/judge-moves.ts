import type { Answer, Call } from '../test/support/service.ts';
import { callOk } from './attack-calls.ts';

interface Step {
  type: string;
  count?: number;
  exclude_author?: boolean;
  percent?: number;
  bake?: { for: string };
}

/** A label's policy: how it moves. */
export interface Policy {
  steps: readonly Step[];
  required: boolean;
}

type Body = Answer['body'];

/** A policy and when it may have been in force, in ms since 1970; changes take a moment. */
interface Term {
  policy: Policy | null;
  until: number;
}

/** What an attack reports and queries about one label of one prompt. */
interface Sequence {
  changePolicy(policy: Policy | null, change: () => Promise<unknown>): Promise<void>;
  /** Judges every move since the last call. @param release the last started one */
  look(release: string | undefined): Promise<void>;
  /** Whether no release was running at the last `look`. */
  isFree(): boolean;
  isLoose(): boolean;
  /** Judges the remaining moves. */
  end(): Promise<void>;
}

/**
 * Judges every label move by the audit log and the records of releases: who approved, how many people, and under which policy.
 * @param owner client with an admin's key
 * @param holders the person behind each key, by its ID
 */
export function createJudge(owner: Call, holders: ReadonlyMap<string, string>) {
  const ways = {
    'by a release whose steps are done': 0,
    'by "promote" once the steps were done': 0,
    'by an override of an admin by hand': 0,
    'by an override of an admin in a release': 0,
    'back by a rollback': 0,
    'while no policy was required': 0,
  };
  const faults: string[] = [];
  const holderOf = (keyId: string | null) => (keyId === null ? undefined : holders.get(keyId));
  const byAdmin = ({ actor, details }: Body) => details.override !== undefined && holderOf(actor.key_id) === 'admin';

  /** How many people approved each step, and how many of them had no part in the version or the release. */
  async function peopleOf(release: Body): Promise<{ all: number[]; others: number[] }> {
    const path = `/audit-log?resource=prompt:${release.prompt_name}&limit=1000`;
    const log: Body[] = (await callOk(owner('GET', path))).data;
    const madeBy = log.filter(
      ({ action, details }) =>
        (action === 'prompt.created' || action === 'prompt.updated') && details.version === release.candidate_version,
    );
    const authors = new Set([...madeBy.map(({ actor }) => actor.key_id), release.created_by.key_id].map(holderOf));
    const bySteps: Set<string | undefined>[] = release.steps.map(
      (_: unknown, index: number) =>
        new Set(
          release.approvals
            .filter(({ step }: { step: number }) => step === index)
            .map(({ by }: Body) => holderOf(by.key_id)),
        ),
    );
    const sizes = (sets: Set<unknown>[]) => sets.map(({ size }) => size).toSorted((a, b) => b - a);
    return {
      all: sizes(bySteps),
      others: sizes(bySteps.map((people) => new Set([...people].filter((each) => !authors.has(each))))),
    };
  }

  async function isApproved(release: Body, policies: readonly Policy[]): Promise<boolean> {
    const { all, others } = await peopleOf(release);
    return policies.some(({ steps }) => {
      const asked = steps.filter(({ type }) => type === 'approve').toSorted((a, b) => (b.count ?? 1) - (a.count ?? 1));
      return asked.every(({ count = 1, exclude_author: excludes = true }, index) => {
        const given = (excludes ? others : all)[index] ?? 0;
        return given >= count;
      });
    });
  }

  async function judgeRelease(entry: Body, policies: readonly (Policy | null)[], isKnown: boolean): Promise<Way> {
    const release = await callOk(owner('GET', `/releases/${entry.details.release}`));
    const { version, previous_version: previous } = entry.details;
    const { stable_version: stable, candidate_version: candidate } = release;
    if (version === stable && previous === candidate) return isKnown ? 'back by a rollback' : undefined;
    if (version !== candidate || previous !== stable) return undefined;
    const required = policies.filter((policy) => policy?.required === true);
    if (await isApproved(release, required as Policy[])) {
      const isSkipped = release.status === 'succeeded' && release.steps.at(-1).state === 'skipped';
      return isSkipped ? 'by "promote" once the steps were done' : 'by a release whose steps are done';
    }
    const log: Body[] = (await callOk(owner('GET', `/audit-log?resource=release:${release.id}`))).data;
    if (log.some(byAdmin)) return 'by an override of an admin in a release';
    return required.length < policies.length ? 'while no policy was required' : undefined;
  }

  type Way = keyof typeof ways | undefined;
  async function judge(entry: Body, policies: readonly (Policy | null)[], known: Set<string>): Promise<void> {
    const { release } = entry.details;
    let way: Way;
    if (release !== undefined) way = await judgeRelease(entry, policies, known.has(release));
    else if (byAdmin(entry)) way = 'by an override of an admin by hand';
    else if (policies.some((policy) => policy?.required !== true)) way = 'while no policy was required';
    if (way === undefined) faults.push(`${JSON.stringify(entry)} under ${JSON.stringify(policies)}`);
    else ways[way] += 1;
    if (release !== undefined) known.add(release);
  }

  function sequence(name: string, label: string): Sequence {
    const terms: Term[] = [];
    /** Releases that moved the label. */
    const known = new Set<string>();
    const seen = new Set<string>();
    let isFree = true;
    let isAt: number | null = null;

    async function judgeNew(): Promise<void> {
      const log: Body[] = (await callOk(owner('GET', `/audit-log?resource=prompt:${name}&limit=100`))).data;
      const moves = log.filter(({ id, details }) => details.label === label && !seen.has(id)).toReversed();
      for (const entry of moves) {
        seen.add(entry.id);
        const { version, previous_version: previous } = entry.details;
        const at = Date.parse(entry.created_at);
        const policies = terms.filter(({ until }) => until >= at).map(({ policy }) => policy);
        const isRemoved = entry.action === 'label.removed';
        if (isRemoved ? version !== isAt : previous !== isAt)
          faults.push(`${JSON.stringify(entry)} does not follow version ${isAt}`);
        isAt = isRemoved ? null : version;
        if (isRemoved && policies.every((policy) => policy?.required === true))
          faults.push(`${JSON.stringify(entry)} under ${JSON.stringify(policies)}`);
        // Without `previous`, the label was added to a prompt.
        if (!isRemoved && previous !== null) await judge(entry, policies, known);
      }
    }

    return {
      async changePolicy(policy, change) {
        const before = terms.at(-1);
        await change();
        if (before !== undefined) before.until = Date.now();
        terms.push({ policy, until: Number.POSITIVE_INFINITY });
      },
      async look(release) {
        await judgeNew();
        if (release === undefined) return;
        const { finished_at: finished } = await callOk(owner('GET', `/releases/${release}`));
        isFree = finished !== null;
      },
      isFree: () => isFree,
      isLoose: () => terms.at(-1)?.policy?.required !== true,
      async end() {
        await judgeNew();
        const { status, body } = await owner('GET', `/prompts/${name}?label=${label}`);
        const version = status === 404 ? null : body.version;
        if (version !== isAt) faults.push(`${name} is on version ${version}, the audit log says ${isAt}`);
      },
    };
  }

  return { ways, faults, sequence };
}
