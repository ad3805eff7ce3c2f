import { labelOf, startRelease, untilStatus } from '../test/api/releases/releases-support.ts';
import { type Call, createCall } from '../test/support/service.ts';
import { callOk, keyOf } from './attack-calls.ts';
import { createDraws } from './random.ts';
import { type Row, row } from './report.ts';
import type { Service } from './service.ts';

const RELEASES = 100;
const CONTROLS = 30;
/** Releases under attack at a time. */
const AT_ONCE = 10;
const NEEDED = 2;

const ACTIONS = ['approve', 'pause', 'resume', 'promote', 'rollback', 'cancel', 'reject', 'supersede', 'move'] as const;
const APPROVALS = [{ type: 'approve', count: NEEDED }, { type: 'promote' }];

/** Callers of all roles press any controls of releases in any order, to get a label moved without the approvals that its policy wants. */
export async function attackByControls(service: Service): Promise<Row[]> {
  const owner = createCall(service.origin, service.key);
  await callOk(owner('PUT', '/labels/production', { body: { release: { steps: APPROVALS, required: true } } }));
  const writers = ['read', 'write', 'publish'];
  const callers: Call[] = [owner];
  for (const scopes of [['read', 'write'], writers, writers, writers])
    callers.push((await keyOf(service, `control ${callers.length}`, scopes)).call);
  const publisher = callers[2] ?? owner;
  let moved = 0;
  let unapproved = 0;

  async function attack(nth: number): Promise<void> {
    const { uniform } = createDraws(nth);
    const draw = <Item>(items: readonly Item[]) => items[Math.floor(uniform() * items.length)] as Item;
    const name = `controls/${nth}`;
    for (const template of ['old', 'new'])
      await callOk(owner('POST', '/prompts', { body: { name, template, model: 'sandbox/echo' } }));
    const first = { version: 1, override: true, reason: 'the first' };
    await callOk(owner('PUT', `/prompts/${name}/labels/production`, { body: first }));
    let { id } = await startRelease(publisher, name, undefined);
    await untilStatus(owner, id, 'awaiting_approval');
    for (let step = 0; step < CONTROLS; step += 1) {
      const [action, as, before] = [draw(ACTIONS), draw(callers), id];
      const version = await labelOf(owner, name);
      if (action === 'supersede') {
        const body = { prompt_name: name, label: 'production', version: 2, supersede: true };
        const answer = await as('POST', '/releases', { body });
        if (answer.status === 201) id = answer.body.id;
      } else if (action === 'move') await as('PUT', `/prompts/${name}/labels/production`, { body: { version: 2 } });
      else await as('POST', `/releases/${id}/${action}`, { body: {} });
      if (version !== 1 || (await labelOf(owner, name)) !== 2) continue;
      moved += 1;
      const { approvals } = await callOk(owner('GET', `/releases/${before}`));
      if (approvals.length < NEEDED) unapproved += 1;
    }
  }

  let next = 0;
  const work = async () => {
    while (next < RELEASES) await attack(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return [
    row(`7: moves of the label by ${RELEASES * CONTROLS} controls of any role`, '', [moved], { atLeast: 1 }),
    row('7: of them with fewer approvals than the policy wants', '', [unapproved], { atMost: 0 }),
  ];
}
