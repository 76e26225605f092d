/** Resources and discovery documents of SCIM as JSON (RFC 7643). Pure. */
import type { UserAttributes } from './user-attributes.js';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const PAGE_MAX = 200;

interface Times {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const meta = (baseUrl: string, resourceType: 'User' | 'Group', { id, createdAt, updatedAt }: Times) => ({
  resourceType,
  created: createdAt.toISOString(),
  lastModified: updatedAt.toISOString(),
  location: `${baseUrl}/${resourceType}s/${id}`,
});

/** Leaves out null: Entra ID wants no null values. */
const withoutNulls = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

export function presentUser(baseUrl: string, user: UserAttributes & Times): object {
  const { id, userName, externalId, email, displayName, givenName, familyName, formattedName, active } = user;
  const name = withoutNulls({ formatted: formattedName, familyName, givenName });
  return withoutNulls({
    schemas: [USER_SCHEMA],
    id,
    externalId,
    userName,
    displayName,
    name: Object.keys(name).length === 0 ? null : name,
    emails: email === null ? null : [{ value: email, type: 'work', primary: true }],
    active,
    meta: meta(baseUrl, 'User', user),
  });
}

interface GroupFields extends Times {
  readonly displayName: string;
  readonly externalId: string | null;
}

/** `members` null: left out. */
export const presentGroup = (
  baseUrl: string,
  group: GroupFields,
  members: readonly { readonly value: string; readonly display: string }[] | null,
): object =>
  withoutNulls({
    schemas: [GROUP_SCHEMA],
    id: group.id,
    externalId: group.externalId,
    displayName: group.displayName,
    members,
    meta: meta(baseUrl, 'Group', group),
  });

/** `startIndex` counts from 1. */
export const presentList = (resources: readonly object[], total: number, startIndex: number): object => ({
  schemas: [LIST_SCHEMA],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
});

interface AttributeOptions {
  readonly type?: string;
  readonly required?: boolean;
  readonly multiValued?: boolean;
  readonly uniqueness?: string;
  readonly returned?: string;
  readonly subAttributes?: readonly object[];
}

const attribute = (name: string, description: string, options: AttributeOptions = {}): object => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...options,
});

const SCHEMAS = [
  {
    id: USER_SCHEMA,
    name: 'User',
    description: 'A person of the directory',
    attributes: [
      attribute('userName', 'The name of the user, unique in the organization', {
        required: true,
        uniqueness: 'server',
      }),
      attribute('externalId', 'The id in the directory'),
      attribute('displayName', 'The name to show'),
      attribute('name', 'The parts of the name', {
        type: 'complex',
        subAttributes: [
          attribute('formatted', 'The whole name'),
          attribute('familyName', 'The family name'),
          attribute('givenName', 'The given name'),
        ],
      }),
      attribute('emails', 'The address of the person; only the primary one is kept', {
        type: 'complex',
        multiValued: true,
        subAttributes: [
          attribute('value', 'The address'),
          attribute('type', 'work'),
          attribute('primary', 'true', { type: 'boolean' }),
        ],
      }),
      attribute('active', 'False: the person is no member of the organization', { type: 'boolean' }),
    ],
  },
  {
    id: GROUP_SCHEMA,
    name: 'Group',
    description: 'A group of the directory',
    attributes: [
      attribute('displayName', 'The name of the group, unique in the organization', {
        required: true,
        uniqueness: 'server',
      }),
      attribute('externalId', 'The id in the directory'),
      attribute('members', 'The users of the group; lists leave them out', {
        type: 'complex',
        multiValued: true,
        returned: 'request',
        subAttributes: [attribute('value', 'The id of a user'), attribute('display', 'The user name')],
      }),
    ],
  },
] as const;

export const presentSchemas = (baseUrl: string): readonly { readonly id: string }[] =>
  SCHEMAS.map((schema) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...schema,
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
  }));

const RESOURCE_TYPES = [
  { id: 'User', name: 'User', endpoint: '/Users', description: 'People', schema: USER_SCHEMA },
  { id: 'Group', name: 'Group', endpoint: '/Groups', description: 'Groups', schema: GROUP_SCHEMA },
] as const;

export const presentResourceTypes = (baseUrl: string): readonly { readonly id: string }[] =>
  RESOURCE_TYPES.map((type) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    ...type,
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${type.id}` },
  }));

export const presentServiceProviderConfig = (baseUrl: string): object => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: PAGE_MAX },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'SCIM token',
      description: 'Authorization: Bearer with a SCIM token of the organization',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
});
