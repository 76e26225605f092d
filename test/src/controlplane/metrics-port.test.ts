/** Where an ingress serves every path of the API's port, metrics have one of their own. */
import { expect, test } from 'vitest';
import { startControlPlane } from '../fixtures/control-plane.js';

test('metrics port: /metrics is served on the separate port only', async () => {
  const plane = await startControlPlane({ CONTROLPLANE_METRICS_PORT: '0' });
  try {
    const at = `http://127.0.0.1:${plane.metricsPort}`;
    const page = await fetch(`${at}/metrics`);
    expect(page.headers.get('content-type')).toContain('text/plain');
    expect(await page.text()).toContain('gateway_build_info{plane="control"');
    expect((await fetch(`${at}/v1/status`)).status).toBe(404);
    expect((await plane.call('GET', '/metrics')).status).toBe(404);
    expect((await plane.call('GET', '/readyz')).status).toBe(200);
  } finally {
    await plane.stop();
  }
});

test('metrics port: unset, the API serves /metrics and no other port opens', async () => {
  const plane = await startControlPlane();
  try {
    expect(plane.metricsPort).toBe(null);
    expect((await plane.call('GET', '/metrics')).status).toBe(200);
  } finally {
    await plane.stop();
  }
});
