/** Every endpoint exists and requires its documented role (docs/contract.md#management-api). */
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();

/** What only admins may do. */
const ADMIN_ENDPOINTS = [
  'POST /v1/agents',
  'PATCH /v1/agents/:id/status',
  'DELETE /v1/agents/:id',
  'POST /v1/api-keys',
  'DELETE /v1/api-keys/:id',
  'POST /v1/providers/accounts',
  'POST /v1/providers/accounts/:id/rotate',
  'DELETE /v1/providers/accounts/:id',
  'POST /v1/custom-providers',
  'PUT /v1/custom-providers/:id',
  'DELETE /v1/custom-providers/:id',
  'POST /v1/webhooks',
  'PATCH /v1/webhooks/:id',
  'DELETE /v1/webhooks/:id',
];
/** The other endpoints, each with the lowest role that may call it. */
const LEAST_ROLE_BY_ENDPOINT: Readonly<Record<string, string>> = {
  'POST /v1/auth/signup': 'public',
  'POST /v1/auth/login': 'public',
  'POST /v1/auth/refresh': 'public',
  'POST /v1/auth/switch-org': 'session',
  'POST /v1/auth/forgot-password': 'public',
  'POST /v1/auth/reset-password': 'public',
  'POST /v1/auth/verify-email': 'public',
  'GET /v1/agents': 'viewer',
  'GET /v1/agents/:id': 'viewer',
  'PATCH /v1/agents/:id': 'member',
  'GET /v1/api-keys': 'viewer',
  'GET /v1/providers': 'viewer',
  'GET /v1/providers/accounts': 'viewer',
  'GET /v1/custom-providers': 'viewer',
  'GET /v1/usage/agents/:agentId': 'viewer',
  'GET /v1/usage/agents/:agentId/summary': 'viewer',
  'GET /v1/usage/agents/:agentId/timeseries': 'viewer',
  'GET /v1/usage/agents/:agentId/providers': 'viewer',
  'GET /v1/usage/agents/:agentId/logs': 'viewer',
  'GET /v1/usage/agents/:agentId/export': 'viewer',
  'GET /v1/usage/agents/compare': 'viewer',
  'GET /v1/webhooks': 'viewer',
  'GET /v1/webhooks/:endpointId/deliveries': 'viewer',
  'POST /v1/webhooks/deliveries/:deliveryId/retry': 'member',
  'GET /v1/status': 'public',
};

test.each(ADMIN_ENDPOINTS)('%s requires the admin role; a caller without it receives 403', (name) => {
  expect(requiredRoleOf(name)).toBe('admin');
});

test.each(Object.entries(LEAST_ROLE_BY_ENDPOINT))('%s exists and needs %s', (name, access) => {
  expect(requiredRoleOf(name)).toBe(access);
});

/** Parameter names may differ; their positions may not. */
const pathShape = (name: string): string => name.replace(/:[A-Za-z]+/g, ':');
const requiredRoleOf = (name: string): string | undefined =>
  plane().service.app.routeTable.find((route) => pathShape(`${route.method} ${route.url}`) === pathShape(name))?.access;
