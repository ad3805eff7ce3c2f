import process from 'node:process';
import { deriveKey } from '../test/support/derived-keys.ts';
import { type Call, createCall } from '../test/support/service.ts';
import { callOk, keyOf } from './attack-calls.ts';
import { createJudge, type Policy } from './judge-moves.ts';
import { createDraws } from './random.ts';
import { type Row, row } from './report.ts';
import type { Service } from './service.ts';

/** Each has its own prompt. Set `ATTACK_SEQUENCES` for fewer. */
const SEQUENCES = Number(process.env['ATTACK_SEQUENCES'] ?? 120);
const TURNS = 60;
/** Sequences under attack at a time. Each has its own label, to tell which policy applies. */
const AT_ONCE = 8;

const PROMOTE = { type: 'promote', bake: { for: '300ms' } } as const;
const approve = (count: number, more: object = {}) => ({ type: 'approve' as const, count, ...more });
/** Initial policies of sequences. */
const REQUIRED: Policy[] = [
  { required: true, steps: [approve(2), PROMOTE] },
  { required: true, steps: [approve(3), { type: 'promote' }] },
  { required: true, steps: [approve(2, { exclude_author: false }), PROMOTE] },
  { required: true, steps: [approve(1), { type: 'canary', percent: 50 }, approve(2), PROMOTE] },
];
const LOOSE: (Policy | null)[] = [{ required: false, steps: [approve(2), PROMOTE] }, null];

/** How often each action is drawn. Approvals are frequent, so that labels do move. */
const ACTIONS = {
  approve: 36,
  start: 6,
  resume: 4,
  pause: 3,
  promote: 3,
  'promote with an override': 2,
  'move by hand': 3,
  'move by hand with an override': 2,
  'remove the label': 1,
  rollback: 3,
  supersede: 2,
  'start with other steps': 1,
  'start with other steps and an override': 1,
  'new version': 2,
  cancel: 1,
  reject: 1,
  'change the policy': 1,
};
type Action = keyof typeof ACTIONS;
const DRAWN = Object.entries(ACTIONS).flatMap(([action, often]) => Array<Action>(often).fill(action as Action));

const REASON = 'an outage';
const OVERRIDE = { override: true, reason: REASON };

interface Caller {
  call: Call;
  mayWrite: boolean;
  mayPublish: boolean;
}

/** Creates keys of every role; some share a holder. @param holders receives the person behind each key */
async function makeCallers(service: Service, holders: Map<string, string>): Promise<Caller[]> {
  const owner = createCall(service.origin, service.key);
  const callers: Caller[] = [];
  const add = async (holder: string, key: string, scopes: string[]) => {
    const call = createCall(service.origin, key);
    const { key: own } = await callOk(call('GET', '/me'));
    holders.set(own.id, holder);
    const may = (scope: string) => scopes.includes(scope) || scopes.includes('admin');
    callers.push({ call, mayWrite: may('write'), mayPublish: may('publish') });
  };
  await add('admin', service.key, ['admin']);
  const publisher = ['read', 'write', 'publish'];
  const roles = [['read'], ['read', 'execute'], ['read', 'write'], ['publish'], ...Array(4).fill(publisher)];
  for (const [index, scopes] of roles.entries()) {
    const { key } = await keyOf(service, `control ${index}`, scopes);
    await add(`control ${index}`, key, scopes);
    if (index < roles.length - 2) continue;
    for (const _ of [1, 2]) {
      const { body } = await deriveKey({ call: owner }, key);
      await add(`control ${index}`, body.key, scopes);
    }
  }
  return callers;
}

/** Callers of all roles act on releases at random, several at a time, to move a label without the approvals of its policy. */
export async function attackByControls(service: Service): Promise<Row[]> {
  const owner = createCall(service.origin, service.key);
  const holders = new Map<string, string>();
  const callers = await makeCallers(service, holders);
  const counts = { sent: 0, taken: 0, errors: 0, releases: 0 };
  const judge = createJudge(owner, holders);

  async function send(call: Call, method: string, path: string, body?: object) {
    const answer = await call(method, path, body === undefined ? {} : { body });
    counts.sent += 1;
    if (answer.status < 300) counts.taken += 1;
    if (answer.status === 500) counts.errors += 1;
    return answer;
  }

  async function attack(nth: number, label: string): Promise<void> {
    const { uniform } = createDraws(nth);
    const draw = <Item>(items: readonly Item[]) => items[Math.floor(uniform() * items.length)] as Item;
    const name = `controls/${nth}`;
    const at = `/prompts/${name}/labels/${label}`;
    let versions = 0;
    let release: string | undefined;
    const made = judge.sequence(name, label);
    const setPolicy = (policy: Policy | null) =>
      made.changePolicy(policy, () => callOk(owner('PUT', `/labels/${label}`, { body: { release: policy } })));
    const addVersion = async (call: Call) => {
      const body = { name, template: `Version ${versions}`, model: 'sandbox/echo' };
      const { status, body: created } = await send(call, 'POST', '/prompts', body);
      if (status === 201) versions = Math.max(versions, created.version);
    };
    const start = async ({ call }: Caller, more: object = {}) => {
      const version = 1 + Math.floor(uniform() * versions);
      const { status, body } = await send(call, 'POST', '/releases', { prompt_name: name, label, version, ...more });
      if (status !== 201) return;
      counts.releases += 1;
      release = body.id;
    };
    const control = ({ call }: Caller, action: string, body = {}) =>
      release === undefined ? undefined : send(call, 'POST', `/releases/${release}/${action}`, body);
    const move = ({ call }: Caller, more = {}) =>
      send(call, 'PUT', at, { version: 1 + Math.floor(uniform() * versions), ...more });

    /** All other actions are controls of the release, by name. */
    const others: Partial<Record<Action, (as: Caller) => unknown>> = {
      start,
      'promote with an override': (as) => control(as, 'promote', OVERRIDE),
      'move by hand': (as) => move(as),
      'move by hand with an override': (as) => move(as, OVERRIDE),
      'remove the label': ({ call }) => send(call, 'DELETE', at),
      supersede: (as) => start(as, { supersede: true }),
      'start with other steps': (as) => start(as, { steps: [approve(1, { exclude_author: false }), PROMOTE] }),
      'start with other steps and an override': (as) => start(as, { steps: [approve(1), PROMOTE], ...OVERRIDE }),
      'new version': ({ call }) => addVersion(call),
      'change the policy': () => setPolicy(draw(uniform() < 0.2 ? LOOSE : REQUIRED)),
    };

    await setPolicy(draw(REQUIRED));
    for (const _ of [1, 2]) await addVersion(draw(callers.filter(({ mayWrite }) => mayWrite)).call);
    await callOk(owner('PUT', at, { body: { version: 1, ...OVERRIDE } }));
    const publishers = callers.filter(({ mayPublish }) => mayPublish);
    for (let turn = 0; turn < TURNS; turn += 1) {
      // Not every time: a manual move takes effect only between releases.
      if (made.isFree() && uniform() < 0.5) await start(draw(publishers));
      const actions = Array.from({ length: 1 + Math.floor(uniform() * 3) }, () => draw(DRAWN));
      await Promise.all(
        actions.map((action) => {
          // In half of the draws, the caller is allowed to.
          const as = draw(uniform() < 0.5 ? publishers : callers);
          return others[action] === undefined ? control(as, action) : others[action](as);
        }),
      );
      // A policy without rules lasts only briefly: moves under it prove nothing.
      if (made.isLoose() && uniform() < 0.5) await setPolicy(draw(REQUIRED));
      await made.look(release);
    }
    if (release !== undefined) await owner('POST', `/releases/${release}/cancel`, { body: {} });
    await made.end();
  }

  let next = 0;
  const work = async (index: number) => {
    const label = `guarded-${index}`;
    await callOk(owner('PUT', `/labels/${label}`, { body: { protected: index % 2 === 0 } }));
    while (next < SEQUENCES) await attack(next++, label);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => work(index)));
  const { ways, faults } = judge;
  const way = (name: keyof typeof ways, target?: { atLeast: number }) =>
    row(`7: moved ${name}`, '', [ways[name]], target);
  for (const fault of faults) console.error(fault);
  return [
    row('7: sequences, each with a prompt of its own', '', [SEQUENCES]),
    row('7: controls sent, by all roles', '', [counts.sent]),
    row('7: controls that did something', '', [counts.taken]),
    row('7: controls that ended in an error of the service', '', [counts.errors], { atMost: 0 }),
    row('7: releases', '', [counts.releases]),
    way('by a release whose steps are done', { atLeast: SEQUENCES }),
    way('by "promote" once the steps were done'),
    way('by an override of an admin by hand', { atLeast: 1 }),
    way('by an override of an admin in a release', { atLeast: 1 }),
    way('back by a rollback', { atLeast: 1 }),
    way('while no policy was required'),
    row('7: moved with fewer approvals than the policy wants', '', [faults.length], { atMost: 0 }),
  ];
}
