import { isObject } from '../../domain/text/json.ts';
import type { GroupChange } from '../../services/provisioning/groups.ts';
import { invalidValue } from '../../services/provisioning/scim-error.ts';
import type { Step } from './operations.ts';

const MAX_CHARS = 255;

function idsOf(value: unknown): string[] {
  return [value ?? []].flat().map((member: unknown) => {
    const id = isObject(member) ? member['value'] : member;
    if (typeof id !== 'string') throw invalidValue('members must be a list of objects with a value, the id of a user.');
    return id;
  });
}

/** The ids that `members[value eq "…"]` names. */
function idsOfPath({ path: { filter = [] } }: Step): string[] {
  return filter.map(({ attribute, value }) => {
    if (attribute !== 'value' || typeof value !== 'string' || filter.length > 1)
      throw invalidValue('Members are chosen by members[value eq "id"].');
    return value;
  });
}

/**
 * Combines the steps into one change, so that a group is changed only once.
 * @throws ScimError `invalidValue`
 */
export function changeOfSteps(steps: readonly Step[]): GroupChange {
  const change: { displayName?: string; externalId?: string | null } = {};
  const [add, remove] = [new Set<string>(), new Set<string>()];
  let only = false;
  let changesMembers = false;
  const startAnew = () => {
    only = true;
    add.clear();
    remove.clear();
  };
  for (const step of steps) {
    const { verb, path, value } = step;
    const isRemoval = verb === 'remove';
    if (path.attribute === 'displayname') {
      const name = isRemoval || typeof value !== 'string' ? '' : value.trim();
      if (name === '' || name.length > MAX_CHARS)
        throw invalidValue(`displayName must be a string of 1 to ${MAX_CHARS} characters.`);
      change.displayName = name;
    } else if (path.attribute === 'externalid') {
      if (!isRemoval && value !== null && (typeof value !== 'string' || value.length > MAX_CHARS))
        throw invalidValue(`externalId must be a string of at most ${MAX_CHARS} characters.`);
      change.externalId = isRemoval || typeof value !== 'string' ? null : value;
    } else if (path.attribute === 'members') {
      changesMembers = true;
      const isWhole = path.filter === undefined;
      if (verb === 'replace' || (isRemoval && isWhole && value === undefined)) {
        if (!isWhole) throw invalidValue('A member can be added or removed, not replaced.');
        startAnew();
      }
      for (const id of isWhole ? idsOf(value) : idsOfPath(step)) {
        (isRemoval ? add : remove).delete(id);
        (isRemoval ? remove : add).add(id);
      }
    }
  }
  return { ...change, members: changesMembers ? { only, add, remove } : undefined };
}
