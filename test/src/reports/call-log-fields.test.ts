/** Each log field appears in every place that shows a record: no place has a separate list. */
import { readFileSync } from 'node:fs';
import { LOG_FIELD_ROWS } from '@acg/base/call-log-fields';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, insertAgent, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const FIELDS = LOG_FIELD_ROWS.map(({ name }) => name);
/** What a call shows beyond its log record. */
const CALL_ONLY_FIELDS = ['projectId', 'keyPrefix', 'upstreamStatus', 'websocket'];

test('logs, calls, exports and the API document have every field of the list, in the export in its order', async () => {
  const owner = await plane().createMember('owner');
  const { id: agentId } = await insertAgent(plane().database.sql, owner.orgId);
  const records = [usageRecord({ agentId, orgId: owner.orgId })];
  await createIngest(plane().database.sql).report({ dataPlaneId: 'd', records });

  const logs = await owner.call('GET', `/v1/usage/agents/${agentId}/logs`);
  expect(Object.keys(logs.body.logs[0])).toEqual(FIELDS);
  const calls = await owner.call('GET', `/v1/usage/logs?agentId=${agentId}`);
  expect(Object.keys(calls.body.logs[0]).sort()).toEqual([...FIELDS, ...CALL_ONLY_FIELDS].sort());
  const json = await owner.call('GET', `/v1/usage/export?agentId=${agentId}&format=json`);
  expect(Object.keys(json.body[0])).toEqual(FIELDS);
  const csv = await owner.call('GET', `/v1/usage/export?agentId=${agentId}&format=csv`);
  expect(String(csv.body).split('\r\n')[0]).toBe(FIELDS.join(','));

  const file = new URL('../../../controlplane/openapi.json', import.meta.url);
  const { schemas } = JSON.parse(readFileSync(file, 'utf8')).components;
  expect(Object.keys(schemas.LogRecord.properties)).toEqual(FIELDS);
  expect(schemas.LogRecord.required).toEqual(FIELDS);
  expect(Object.keys(schemas.Call.properties)).toEqual(expect.arrayContaining(FIELDS));
});
