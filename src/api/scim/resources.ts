import { publicId } from '../../domain/ids.ts';
import type { GroupRow } from '../../services/provisioning/groups.ts';
import type { ScimError } from '../../services/provisioning/scim-error.ts';
import { attributesOf, type ProvisionedRow } from '../../services/provisioning/users.ts';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const MESSAGES = 'urn:ietf:params:scim:api:messages:2.0';

/** @param base the address of `/scim/v2` */
export function presentUser(row: ProvisionedRow, base: string) {
  const { userName, active, more } = attributesOf(row);
  const id = publicId('user', row.id);
  return {
    schemas: [USER_SCHEMA],
    id,
    ...more,
    userName,
    active,
    displayName: more.displayName ?? row.name,
    groups: row.groups.map(({ id: groupId, display }) => ({
      value: publicId('userGroup', groupId),
      display,
      $ref: `${base}/Groups/${publicId('userGroup', groupId)}`,
    })),
    meta: metaOf('User', row, `${base}/Users/${id}`),
  };
}

/** @param base the address of `/scim/v2` */
export function presentGroup(row: GroupRow, base: string) {
  const id = publicId('userGroup', row.id);
  return {
    schemas: [GROUP_SCHEMA],
    id,
    ...(row.external_id !== null && { externalId: row.external_id }),
    displayName: row.display_name,
    ...(row.members && {
      members: row.members.map((member) => ({ value: publicId('user', member.id), display: member.display })),
    }),
    meta: metaOf('Group', row, `${base}/Groups/${id}`),
  };
}

const metaOf = (
  resourceType: string,
  { created_at, updated_at }: { created_at: Date; updated_at: Date },
  location: string,
) => ({
  resourceType,
  created: created_at.toISOString(),
  lastModified: updated_at.toISOString(),
  location,
});

export const listOf = (total: number, startIndex: number, resources: readonly object[]) => ({
  schemas: [`${MESSAGES}:ListResponse`],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
});

export const presentError = ({ status, scimType, message }: ScimError) => ({
  schemas: [`${MESSAGES}:Error`],
  status: String(status),
  ...(scimType !== undefined && { scimType }),
  detail: message,
});

/** Reduces a resource to the requested attributes (RFC 7644, section 3.9). */
export function projected(
  resource: Record<string, unknown>,
  { attributes, excluded }: { attributes: readonly string[]; excluded: readonly string[] },
): Record<string, unknown> {
  const isAsked = (name: string) => {
    const lower = name.toLowerCase();
    if (lower === 'id' || lower === 'schemas') return true;
    return attributes.length > 0 ? attributes.includes(lower) : !excluded.includes(lower);
  };
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isAsked(name)));
}
