import type { RejectionReason } from '@acg/base/rejection-reasons';
import { type Static, Type } from 'typebox';
import { AgentPolicyField } from '../agents/call-and-model-policy-schema.js';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Timestamp, Uuid } from '../http/schema.js';
import { SortQuery } from '../http/search-and-sort-query-schema.js';
import { MINTED_STATES, type MintedState, type MintedView } from '../minting/present-minted.js';
import { Rotation, TwoVersionOptions } from './rotation-schema.js';

export type AccountStatus = 'active' | 'needs_credentials';
export const AccountStatus = Type.Unsafe<AccountStatus>({ type: 'string', enum: ['active', 'needs_credentials'] });
export const ProviderSlug = Type.String({ minLength: 1, maxLength: 40 });

const optionalText = (description?: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...(description === undefined ? {} : { description }) });
const nullableTime = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });

/** How the gateway obtains the credential of an account or a shared credential. */
export const Minted = Type.Unsafe<MintedView | null>({
  ...Type.Object({
    method: Type.String(),
    kind: Type.String(),
    state: Type.Unsafe<MintedState>({
      type: 'string',
      enum: [...MINTED_STATES],
      description:
        'waiting: nothing was needed yet. failing: the last attempt failed; a former token may still serve. ' +
        'not_connected, reconnect_needed: a person must connect the account.',
    }),
    scope: optionalText('Granted scopes, where the provider states them.'),
    mintedAt: nullableTime('The last success.'),
    expiresAt: nullableTime('Until the gateway uses the present token; null: no expiry, or no token.'),
    connectedAt: nullableTime(
      'When a person last connected it. Null: never, or its kind of credential is not connected.',
    ),
    failure: Type.Unsafe<MintedView['failure']>({
      ...Type.Object({
        reason: Type.String(),
        detail: optionalText('Error code of the token endpoint.'),
        cause: Type.String(),
        remedy: Type.String(),
        at: Timestamp,
        nextAttemptAt: nullableTime('Null: when a person has acted.'),
      }),
      type: ['object', 'null'],
    }),
  }),
  type: ['object', 'null'],
  description: 'Null: the credential is stored.',
});

export const Account = Type.Object({
  id: Uuid,
  agentId: Uuid,
  providerSlug: Type.String(),
  status: AccountStatus,
  credentialId: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'uuid',
    description: 'Id of the shared credential that the account uses; null when it has its own credentials.',
  }),
  minted: Minted,
  rotation: Rotation,
  isByok: Type.Literal('true', { description: 'Always the string "true".' }),
  mode: Type.Literal('byok'),
  allowSensitivePaths: Type.Boolean({ description: 'Whether calls that return credentials are allowed.' }),
  allowOpaque: Type.Boolean({ description: 'Whether calls are allowed whose path does not say what they do.' }),
  lastUsedAt: nullableTime('Start of the last call with the account, to the minute. Null: none.'),
  createdAt: Timestamp,
});
export type Account = Static<typeof Account>;

/** The fields depend on the provider and are validated by its own rules (providers/catalogue/parse-credentials.ts). */
export const CredentialsInput = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'The provider’s own fields; write-only, stored encrypted.',
});

const AllowSensitivePaths = Type.Boolean({
  description: 'Allow calls that return credentials or change access permissions; false by default.',
});
const AllowOpaque = Type.Boolean({
  description: 'Allow calls whose path does not say what they do, such as GraphQL; false by default.',
});

export const AccountInput = Body({
  agentId: Uuid,
  providerSlug: ProviderSlug,
  credentials: Type.Optional(CredentialsInput),
  credentialId: Type.Optional(
    Type.String({ format: 'uuid', description: 'A shared credential of that provider, instead of credentials.' }),
  ),
  allowSensitivePaths: Type.Optional(AllowSensitivePaths),
  allowOpaque: Type.Optional(AllowOpaque),
});
export type AccountInput = Static<typeof AccountInput>;

export const AccountPatch = Type.Object(
  { allowSensitivePaths: Type.Optional(AllowSensitivePaths), allowOpaque: Type.Optional(AllowOpaque) },
  { additionalProperties: false, minProperties: 1 },
);
export type AccountPatch = Static<typeof AccountPatch>;

export const CallCheckInput = Body({
  providerSlug: ProviderSlug,
  call: Type.String({
    maxLength: 2_000,
    pattern: '^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /[\\x21-\\x7e]*$',
    'x-refused': 'must be a method and a path at the provider, such as POST /v1/chat/completions',
    description: 'Method and path at the provider, with its query if there is one.',
  }),
  model: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'The model that the body would name.' }),
  ),
  policy: Type.Optional(AgentPolicyField),
});
export type CallCheckInput = Static<typeof CallCheckInput>;
const CALL_CHECK_REASONS = [
  'paused',
  'revoked',
  'unknown_provider',
  'not_assigned',
  'needs_credentials',
  'sensitive_path',
  'opaque',
  'denied_call',
  'denied_model',
] as const satisfies readonly RejectionReason[];
export const CallCheckReply = Type.Object({
  allowed: Type.Boolean({
    description: 'Whether the call would pass. Limits, budgets and circuit breakers are not checked.',
  }),
  reason: Type.Unsafe<(typeof CALL_CHECK_REASONS)[number] | null>({
    anyOf: [{ type: 'string', enum: CALL_CHECK_REASONS }, { type: 'null' }],
    description: 'Why the gateway would reject it; null when it would pass.',
  }),
});
export type CallCheckReply = Static<typeof CallCheckReply>;

export const TestInput = Body({
  providerSlug: ProviderSlug,
  credentials: CredentialsInput,
  agentId: Type.Optional(
    Type.String({ format: 'uuid', description: 'For methods without a secret: the agent that the token names.' }),
  ),
});
export type TestInput = Static<typeof TestInput>;
export const TestReply = Type.Object({
  ok: Type.Boolean({ description: 'Whether the provider accepts the credential.' }),
  call: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'What was called, without the credential; null when nothing was.',
  }),
  status: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'HTTP status of the provider; null when it did not respond.',
  }),
  latencyMs: Type.Integer(),
  hint: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  steps: Type.Array(
    Type.Object({
      name: Type.String(),
      ok: Type.Boolean(),
      message: Type.String({ description: 'What the step answered, without any secret.' }),
    }),
    { description: 'Of a minted credential: the exchange, then the call. Empty for stored ones.' },
  ),
});
export type TestReply = Static<typeof TestReply>;

const nullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const nullableFlag = (description: string) => Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description });
export const ToolsQuery = Type.Object({
  refresh: Type.Optional(
    Type.Boolean({ description: 'Ask the server again. Otherwise the list may be 10 minutes old.', default: false }),
  ),
});
const AccountTool = Type.Object({
  name: Type.String(),
  title: nullableText,
  description: nullableText,
  readOnly: nullableFlag('The server’s own claim, which no one has checked.'),
  destructive: nullableFlag('The server’s own claim, which no one has checked.'),
  allowed: Type.Boolean({ description: 'Whether the policy of the agent allows the tool.' }),
  rpm: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Requests in any 60 seconds by `toolLimits` of the policy; null: no limit of its own.',
  }),
});
export const AccountTools = Type.Object({
  accountId: Uuid,
  agentId: Uuid,
  providerSlug: ProviderSlug,
  problem: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Why the server’s tools could not be listed; null: they were.',
  }),
  fetchedAt: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When the server listed them; null: never.',
  }),
  truncated: Type.Boolean({ description: 'The server has more than the 500 tools that are listed.' }),
  tools: Type.Array(AccountTool),
});
export type AccountTools = Static<typeof AccountTools>;

export const RotateInput = Body({ credentials: CredentialsInput, ...TwoVersionOptions });
export type RotateInput = Static<typeof RotateInput>;
export const AccountQuery = Type.Object({
  ...PageQuery,
  agentId: Type.Optional(Uuid),
  projectId: Type.Optional(Uuid),
  providerSlug: Type.Optional(ProviderSlug),
  status: Type.Optional(AccountStatus),
  credentialId: Type.Optional(
    Type.String({ format: 'uuid', description: 'Only accounts that use this shared credential.' }),
  ),
  ...SortQuery(['createdAt', 'agentName', 'providerSlug', 'lastUsedAt']),
});
const ListedAccount = Type.Object({ ...Account.properties, agentName: Type.String() });
export type ListedAccount = Static<typeof ListedAccount>;
export const AccountReply = Type.Object({ account: Account });
export const ListedAccountReply = Type.Object({ account: ListedAccount });
export const AccountList = Type.Object({ accounts: Type.Array(ListedAccount), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  'CallCheckInput.call': 'POST /v1/chat/completions',
  'CallCheckReply.allowed': true,
  'CallCheckReply.reason': null,
  'Account.id': EXAMPLE_IDS.account,
  'accounts.id': EXAMPLE_IDS.account,
  'Account.credentialId': null,
  'account.credentialId': null,
  'ListedAccountReply.account.credentialId': null,
  'accounts.credentialId': null,
  minted: null,
  allowSensitivePaths: false,
  allowOpaque: false,
  call: 'GET https://api.openai.com/v1/models',
  status: 200,
  latencyMs: 143,
  steps: [],
  'Account.lastUsedAt': EXAMPLE_TIMES.used,
  'account.lastUsedAt': EXAMPLE_TIMES.used,
  'ListedAccountReply.account.lastUsedAt': EXAMPLE_TIMES.used,
  'accounts.lastUsedAt': EXAMPLE_TIMES.used,
  'AccountInput.credentialId': undefined,
  'AccountTools.problem': null,
  'AccountTools.fetchedAt': EXAMPLE_TIMES.used,
  'AccountTools.truncated': false,
  'AccountTools.providerSlug': 'github-mcp',
  'tools.name': 'delete_issue',
  'tools.title': 'Delete issue',
  'tools.description': 'Deletes an issue of a repository.',
  'tools.readOnly': false,
  'tools.destructive': true,
  'tools.allowed': true,
  'tools.rpm': 5,
};
