import { MAX_BODY_BYTES } from '../../http/json-body.ts';
import { GROUP_SCHEMA, USER_SCHEMA } from './resources.ts';

/** Maximum page size. */
export const MAX_RESULTS = 200;

const CORE = 'urn:ietf:params:scim:schemas:core:2.0';

interface Attribute {
  name: string;
  type?: 'string' | 'boolean' | 'complex' | 'reference';
  multiValued?: boolean;
  required?: boolean;
  caseExact?: boolean;
  mutability?: 'readWrite' | 'readOnly' | 'immutable';
  uniqueness?: 'none' | 'server';
  subAttributes?: Attribute[];
  description: string;
}

const attribute = ({ subAttributes, ...given }: Attribute): object => ({
  type: 'string',
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...given,
  ...(subAttributes && { subAttributes: subAttributes.map(attribute) }),
});

const schema = (id: string, name: string, description: string, attributes: Attribute[]) => ({
  schemas: [`${CORE}:Schema`],
  id,
  name,
  description,
  attributes: attributes.map(attribute),
});

const VALUE = { name: 'value', description: 'The value.' } as const;

/** The attributes that are stored for users and groups. */
const SCHEMAS = [
  schema(USER_SCHEMA, 'User', 'A person who may sign in', [
    {
      name: 'userName',
      required: true,
      uniqueness: 'server',
      description: 'The identifier of the person at the identity provider.',
    },
    { name: 'displayName', description: 'The text for people.' },
    {
      name: 'name',
      type: 'complex',
      description: 'The parts of the name.',
      subAttributes: [
        { name: 'formatted', description: 'The whole name.' },
        { name: 'familyName', description: 'The family name.' },
        { name: 'givenName', description: 'The given name.' },
      ],
    },
    { name: 'active', type: 'boolean', description: 'Whether the person may sign in.' },
    {
      name: 'emails',
      type: 'complex',
      multiValued: true,
      description: 'Addresses; the primary one is shown.',
      subAttributes: [
        VALUE,
        { name: 'type', description: 'Such as work.' },
        { name: 'primary', type: 'boolean', description: 'Whether it is the one that is shown.' },
      ],
    },
    {
      name: 'groups',
      type: 'complex',
      multiValued: true,
      mutability: 'readOnly',
      description: 'The groups of the person.',
      subAttributes: [
        { ...VALUE, mutability: 'readOnly' },
        { name: 'display', mutability: 'readOnly', description: 'The name of the group.' },
      ],
    },
  ]),
  schema(GROUP_SCHEMA, 'Group', 'A group, whose name is mapped to roles', [
    {
      name: 'displayName',
      required: true,
      uniqueness: 'server',
      description: 'The name that OIDC_ROLE_MAPPING maps to roles.',
    },
    {
      name: 'members',
      type: 'complex',
      multiValued: true,
      description: 'Users.',
      subAttributes: [
        { name: 'value', mutability: 'immutable', description: 'The id of a user.' },
        { name: 'display', mutability: 'readOnly', description: 'The name of the user.' },
      ],
    },
  ]),
];

const resourceType = (name: string, endpoint: string, of: string) => ({
  schemas: [`${CORE}:ResourceType`],
  id: name,
  name,
  endpoint,
  schema: of,
});

const RESOURCE_TYPES = [resourceType('User', '/Users', USER_SCHEMA), resourceType('Group', '/Groups', GROUP_SCHEMA)];

const CONFIG = {
  schemas: [`${CORE}:ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: MAX_BODY_BYTES },
  filter: { supported: true, maxResults: MAX_RESULTS },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The setting SCIM_TOKEN, as "Authorization: Bearer".',
      primary: true,
    },
  ],
};

const withLocation = <Part extends object>(part: Part, type: string, location: string) => ({
  ...part,
  meta: { resourceType: type, location },
});

/**
 * The content of `/ServiceProviderConfig`, `/ResourceTypes` and `/Schemas`: a list, one element, or the configuration.
 * @param base the address of `/scim/v2`
 * @returns undefined if it does not exist
 */
export function discover(
  endpoint: string,
  id: string | undefined,
  base: string,
): object | readonly object[] | undefined {
  if (endpoint === 'ServiceProviderConfig')
    return id === undefined ? withLocation(CONFIG, endpoint, `${base}/${endpoint}`) : undefined;
  if (endpoint !== 'ResourceTypes' && endpoint !== 'Schemas') return undefined;
  const all =
    endpoint === 'Schemas'
      ? SCHEMAS.map((each) => withLocation(each, 'Schema', `${base}/Schemas/${each.id}`))
      : RESOURCE_TYPES.map((each) => withLocation(each, 'ResourceType', `${base}/ResourceTypes/${each.id}`));
  return id === undefined ? all : all.find((each) => each.id === id);
}
