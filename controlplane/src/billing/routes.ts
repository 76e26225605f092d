import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import {
  AccountReportReply,
  AdjustmentInput,
  AdjustmentReply,
  BillingAccountInput,
  BillingAccountPatch,
  BillingAccountReply,
  BillingReport,
  CheckInput,
  LineList,
  LineQuery,
  MonthQuery,
} from './schema.js';
import type { BillingService } from './service.js';

export function billingRoutes(app: App, billing: BillingService): void {
  app.get(
    '/v1/billing',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Billing', 'getBillingReport', 'Compare a month of the ledger with the reports of the providers'),
        querystring: MonthQuery,
        response: { 200: BillingReport },
      },
    },
    async ({ actor, query }) => billing.report(actor, query.month),
  );
  app.post(
    '/v1/billing/accounts',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Billing', 'createBillingAccount', 'Store an admin key with which the gateway reads reports'),
        body: BillingAccountInput,
        response: { 201: BillingAccountReply },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ account: await billing.create(actor, body) }),
  );
  app.patch(
    '/v1/billing/accounts/:id',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Billing', 'updateBillingAccount', 'Change the name, admin key or threshold of a billing account'),
        params: IdParams,
        body: BillingAccountPatch,
        response: { 200: BillingAccountReply },
      },
    },
    async ({ actor, params, body }) => ({ account: await billing.update(actor, params.id, body) }),
  );
  app.delete(
    '/v1/billing/accounts/:id',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Billing', 'deleteBillingAccount', 'Delete a billing account with its lines and adjustments'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await billing.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
  app.post(
    '/v1/billing/accounts/:id/check',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Billing', 'checkBillingAccount', 'Read the provider’s reports of a month now'),
        params: IdParams,
        body: CheckInput,
        response: { 200: AccountReportReply },
      },
    },
    async ({ actor, params, body }) => ({ account: await billing.check(actor, params.id, body.month) }),
  );
  app.get(
    '/v1/billing/accounts/:id/lines',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Billing', 'listBillingLines', 'List differences by day, hour, key or model'),
        params: IdParams,
        querystring: LineQuery,
        response: { 200: LineList },
      },
    },
    async ({ actor, params, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await billing.lines(actor, params.id, query, { limit, offset });
      return { lines: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/billing/adjustments',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Billing', 'createBillingAdjustment', 'Accept a difference of a month, with a reason'),
        body: AdjustmentInput,
        response: { 201: AdjustmentReply },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ adjustment: await billing.adjust(actor, body) }),
  );
}
