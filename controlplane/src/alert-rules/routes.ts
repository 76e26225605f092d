import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import * as schema from './schema.js';
import type { AlertRuleService } from './service.js';

const GROUP = 'Alerts';

export function alertRuleRoutes(app: App, service: AlertRuleService): void {
  app.get(
    '/v1/alert-rules',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation(GROUP, 'listAlertRules', 'List alert rules with their last evaluation, newest first'),
        querystring: schema.AlertRuleQuery,
        response: { 200: schema.AlertRuleList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await service.list(actor, query, { limit, offset });
      return { rules: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/alert-rules',
    {
      config: { access: 'member' },
      schema: {
        ...operation(GROUP, 'createAlertRule', 'Create an alert rule'),
        errorStatuses: [404, 409],
        body: schema.AlertRuleInput,
        response: { 201: schema.AlertRuleReply },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ rule: await service.create(actor, body) }),
  );
  app.get(
    '/v1/alert-rules/:id',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation(GROUP, 'getAlertRule', 'Get an alert rule'),
        params: IdParams,
        response: { 200: schema.AlertRuleReply },
      },
    },
    async ({ actor, params }) => ({ rule: await service.get(actor, params.id) }),
  );
  app.patch(
    '/v1/alert-rules/:id',
    {
      config: { access: 'member' },
      schema: {
        ...operation(GROUP, 'updateAlertRule', 'Change, disable or silence an alert rule'),
        params: IdParams,
        body: schema.AlertRulePatch,
        response: { 200: schema.AlertRuleReply },
      },
    },
    async ({ actor, params, body }) => ({ rule: await service.update(actor, params.id, body) }),
  );
  app.delete(
    '/v1/alert-rules/:id',
    {
      config: { access: 'member' },
      schema: {
        ...operation(GROUP, 'deleteAlertRule', 'Delete an alert rule and its alerts'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await service.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
  app.get(
    '/v1/alerts',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation(GROUP, 'listAlerts', 'List alerts of alert rules, newest first'),
        errorStatuses: [404],
        querystring: schema.AlertQuery,
        response: { 200: schema.AlertList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await service.listAlerts(actor, query, { limit, offset });
      return { alerts: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/alerts/:id/acknowledge',
    {
      config: { access: 'member' },
      schema: {
        ...operation(GROUP, 'acknowledgeAlert', 'Acknowledge an open alert'),
        errorStatuses: [409],
        params: IdParams,
        response: { 200: schema.AlertReply },
      },
    },
    async ({ actor, params }) => ({ alert: await service.acknowledge(actor, params.id) }),
  );
  app.post(
    '/v1/alerts/:id/silence',
    {
      config: { access: 'member' },
      schema: {
        ...operation(GROUP, 'silenceAlert', 'Silence the rule of an alert until a time'),
        params: IdParams,
        body: schema.SilenceInput,
        response: { 200: schema.AlertReply },
      },
    },
    async ({ actor, params, body }) => ({ alert: await service.silence(actor, params.id, body.until) }),
  );
}
