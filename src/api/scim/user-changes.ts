import type { ProvisionedUser } from '../../db/entities/member.ts';
import { isObject } from '../../domain/text/json.ts';
import { invalidValue } from '../../services/provisioning/scim-error.ts';
import type { UserAttributes } from '../../services/provisioning/users.ts';
import type { Step } from './operations.ts';
import type { Condition } from './paths.ts';

const MAX_CHARS = 255;
const MAX_EMAILS = 20;

type Email = NonNullable<ProvisionedUser['emails']>[number];

/** @throws ScimError `invalidValue` */
function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string' || value.length > MAX_CHARS)
    throw invalidValue(`${what} must be a string of at most ${MAX_CHARS} characters.`);
  return value;
}

/** Null and an empty string unset an optional attribute. */
const optionalText = (value: unknown, what: string): string | undefined =>
  value === undefined || value === null ? undefined : textOf(value, what) || undefined;

/** @throws ScimError `invalidValue` unless it is a boolean or, as Microsoft Entra ID sends it, a string with one */
function booleanOf(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalidValue(`${what} must be true or false.`);
}

const property = (value: Record<string, unknown>, name: string): unknown =>
  Object.entries(value).find(([key]) => key.toLowerCase() === name)?.[1];

function emailOf(value: unknown): Email {
  if (typeof value === 'string') return { value: textOf(value, 'emails.value') };
  if (!isObject(value)) throw invalidValue('emails must be a list of objects with a value.');
  const [type, primary] = [property(value, 'type'), property(value, 'primary')];
  const typeText = optionalText(type, 'emails.type');
  return {
    value: textOf(property(value, 'value'), 'emails.value'),
    ...(typeText !== undefined && { type: typeText }),
    ...(primary !== undefined && primary !== null && { primary: booleanOf(primary, 'emails.primary') }),
  };
}

const matches = (email: Email, conditions: readonly Condition[]) =>
  conditions.every(({ attribute, value }) => {
    const own = attribute === 'value' || attribute === 'type' || attribute === 'primary' ? email[attribute] : undefined;
    return typeof own === 'string' && typeof value === 'string'
      ? own.toLowerCase() === value.toLowerCase()
      : own === value;
  });

/** A new e-mail address for a path such as `emails[type eq "work"].value` that matches none. */
function emailFor(conditions: readonly Condition[]): Email {
  const type = conditions.find(({ attribute }) => attribute === 'type')?.value;
  return { value: '', ...(typeof type === 'string' && { type }) };
}

function changedEmails(emails: readonly Email[], { verb, path: { filter, sub }, value }: Step): Email[] {
  if (filter === undefined) {
    if (sub !== undefined) throw invalidValue('A part of emails needs to say which: emails[type eq "work"].value.');
    if (verb === 'remove' && value === undefined) return [];
    const given = [value ?? []].flat().map(emailOf);
    const others = emails.filter((email) => !given.some((each) => each.value === email.value));
    if (verb === 'remove') return others;
    return verb === 'add' ? [...others, ...given] : given;
  }
  const chosen = emails.filter((email) => matches(email, filter));
  const kept = emails.filter((email) => !matches(email, filter));
  if (verb === 'remove') return kept;
  const change = sub === undefined ? value : { [sub]: value };
  if (!isObject(change)) throw invalidValue('The value must be an object.');
  const changed = (chosen.length > 0 ? chosen : [emailFor(filter)]).map((email) => emailOf({ ...email, ...change }));
  return [...kept, ...changed];
}

const NAME_PARTS = { formatted: 'formatted', givenname: 'givenName', familyname: 'familyName' } as const;
const isNamePart = (name: string): name is keyof typeof NAME_PARTS => Object.hasOwn(NAME_PARTS, name);

function changedName(name: NonNullable<ProvisionedUser['name']>, { verb, path: { sub }, value }: Step) {
  const parts = new Map(Object.entries(verb === 'replace' && sub === undefined ? {} : name));
  if (sub === undefined && verb === 'remove') parts.clear();
  const given = sub === undefined ? (value ?? {}) : { [sub]: verb === 'remove' ? undefined : value };
  if (!isObject(given)) throw invalidValue('name must be an object.');
  for (const [key, part] of Object.entries(given)) {
    const lower = key.toLowerCase();
    if (!isNamePart(lower)) continue;
    const text = optionalText(part, `name.${NAME_PARTS[lower]}`);
    if (text === undefined) parts.delete(NAME_PARTS[lower]);
    else parts.set(NAME_PARTS[lower], text);
  }
  return Object.fromEntries(parts);
}

const without = (more: ProvisionedUser, name: keyof ProvisionedUser): ProvisionedUser =>
  Object.fromEntries(Object.entries(more).filter(([key]) => key !== name));

/** Attributes that are not stored (telephone numbers, extensions, …) are ignored. */
function applied(before: UserAttributes, step: Step): UserAttributes {
  const { verb, path, value } = step;
  const { more } = before;
  const isRemoval = verb === 'remove';
  switch (path.attribute) {
    case 'username': {
      const userName = isRemoval ? '' : textOf(value, 'userName').trim();
      if (userName === '') throw invalidValue('userName must not be empty.');
      return { ...before, userName };
    }
    case 'active':
      if (isRemoval) throw invalidValue('active must be true or false.');
      return { ...before, active: booleanOf(value, 'active') };
    case 'externalid': {
      const externalId = isRemoval ? undefined : optionalText(value, 'externalId');
      const rest = without(more, 'externalId');
      return { ...before, more: externalId === undefined ? rest : { ...rest, externalId } };
    }
    case 'displayname': {
      const displayName = isRemoval ? undefined : optionalText(value, 'displayName');
      const rest = without(more, 'displayName');
      return { ...before, more: displayName === undefined ? rest : { ...rest, displayName } };
    }
    case 'name':
      return { ...before, more: { ...more, name: changedName(more.name ?? {}, step) } };
    case 'emails': {
      const emails = changedEmails(more.emails ?? [], step);
      if (emails.length > MAX_EMAILS) throw invalidValue(`A user has at most ${MAX_EMAILS} emails.`);
      return { ...before, more: { ...more, emails } };
    }
    default:
      return before;
  }
}

/**
 * Applies the steps to a user in order.
 * @throws ScimError `invalidValue`
 */
export function changedUser(before: UserAttributes, steps: readonly Step[]): UserAttributes {
  const after = steps.reduce(applied, before);
  if (after.userName === '') throw invalidValue('userName is required.');
  return after;
}
