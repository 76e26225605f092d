import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';
import { SearchQuery, SortQuery } from '../http/search-and-sort-query-schema.js';
import { Rotation } from './rotation-schema.js';
import { AccountStatus, CredentialsInput, Minted, ProviderSlug } from './schema.js';

const Project = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'uuid',
  description: 'Only agents of this project can use the credential; null for all agents of the organization.',
});

/** Never contains the secret values, which are write-only. */
export const SharedCredential = Type.Object({
  id: Uuid,
  name: Type.String(),
  providerSlug: Type.String(),
  projectId: Project,
  status: AccountStatus,
  minted: Minted,
  rotation: Rotation,
  accounts: Type.Integer({ description: 'Number of accounts that use the credential.' }),
  createdAt: Timestamp,
  rotatedAt: Type.Union([Timestamp, Type.Null()]),
});
export type SharedCredential = Static<typeof SharedCredential>;

export const SharedCredentialInput = Body({
  name: Name,
  providerSlug: ProviderSlug,
  projectId: Type.Optional(Uuid),
  credentials: CredentialsInput,
});
export type SharedCredentialInput = Static<typeof SharedCredentialInput>;
export const SharedCredentialPatch = Body({ name: Name });
export const SharedCredentialQuery = Type.Object({
  ...PageQuery,
  projectId: Type.Optional(Uuid),
  providerSlug: Type.Optional(ProviderSlug),
  status: Type.Optional(AccountStatus),
  ...SearchQuery('the name'),
  ...SortQuery(['createdAt', 'name', 'providerSlug', 'accounts', 'rotatedAt']),
});
export const SharedCredentialReply = Type.Object({ credential: SharedCredential });
export const SharedCredentialList = Type.Object({ credentials: Type.Array(SharedCredential), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  'SharedCredential.id': EXAMPLE_IDS.credential,
  'SharedCredential.name': 'OpenAI, whole company',
  'SharedCredentialInput.name': 'OpenAI, whole company',
  'SharedCredentialPatch.name': 'OpenAI, whole company',
  rotatedAt: null,
  'SharedCredentialInput.projectId': undefined,
};
