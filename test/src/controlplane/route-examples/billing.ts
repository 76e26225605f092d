import type { ExampleContext, Examples } from './route-example.js';

/** The stand-in of no provider: a check answers with its problem. */
async function newBillingAccount({ owner }: ExampleContext): Promise<string> {
  const body = { api: 'openai', name: 'Company', adminKey: 'sk-admin-example-0123456789' };
  const made = await owner.call('POST', '/v1/billing/accounts', body);
  if (made.status === 201) return made.body.account.id;
  const { body: report } = await owner.call('GET', '/v1/billing');
  return report.accounts[0].id;
}

/** Each call needs an organization without an account of that provider. */
async function withoutBillingAccounts({ plane, owner }: ExampleContext): Promise<void> {
  await plane.database.sql`delete from billing_accounts where org_id = ${owner.orgId}`;
}

const byAccount = async (context: ExampleContext) => ({ params: { id: await newBillingAccount(context) } });

export const BILLING_EXAMPLES: Examples = {
  'GET /v1/billing': {
    async prepare(context) {
      await newBillingAccount(context);
      return { query: { month: '2026-01' } };
    },
  },
  'POST /v1/billing/accounts': {
    success: 201,
    async prepare(context) {
      await withoutBillingAccounts(context);
      return { body: { api: 'anthropic', name: 'Company', adminKey: 'sk-ant-admin-example-0123456789' } };
    },
  },
  'PATCH /v1/billing/accounts/:id': {
    prepare: async (context) => ({ ...(await byAccount(context)), body: { name: 'Renamed', alertCents: 500 } }),
  },
  'DELETE /v1/billing/accounts/:id': { prepare: byAccount },
  'POST /v1/billing/accounts/:id/check': {
    // A month whose records are gone: no report is read.
    prepare: async (context) => ({ ...(await byAccount(context)), body: { month: '2020-01' } }),
  },
  'GET /v1/billing/accounts/:id/lines': { prepare: byAccount },
  'POST /v1/billing/adjustments': {
    success: 201,
    prepare: async (context) => ({
      body: { accountId: await newBillingAccount(context), month: '2026-01', amountCents: 25, reason: 'Accepted' },
    }),
  },
};
