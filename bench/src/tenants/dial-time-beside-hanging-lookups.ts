/** Names whose server never responds: time to connect to a neighbour's name, alone and beside forty of them. */
import { createServer } from 'node:net';
import { Dialer } from '@acg/base/dialer/dialer';
import { OperatorNameResolver } from '@acg/base/dns/operator-name-resolver';
import { TenantNameResolver } from '@acg/base/dns/tenant-name-resolver';
import { NameServer } from '@acg/base/dns/testing/name-server-fixture';
import { percentile } from '../statistics.js';

const DIALS = 300;

export async function measureHangingLookups(): Promise<{ quietP95Ms: number; besideP95Ms: number; failed: number }> {
  const names = await NameServer.start({});
  const receiver = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as { port: number };
  const dialer = new Dialer({
    allowCidrs: ['127.0.0.0/8'],
    connectTimeoutMs: 5_000,
    tenantNames: new TenantNameResolver({ servers: [names.address] }),
    operatorNames: new OperatorNameResolver(),
  });
  let failed = 0;
  let next = 0;
  const dial = (hostname: string, tenant: string): Promise<number> =>
    new Promise((resolve) => {
      const startTick = performance.now();
      dialer.dial({ protocol: 'http:', hostname, port, tenant }, null, (error, socket) => {
        socket?.destroy();
        resolve(error === null ? performance.now() - startTick : Number.NaN);
      });
    });
  const pass = async (): Promise<number> => {
    const took: number[] = [];
    for (let i = 0; i < DIALS; i++) {
      const name = `host-${next++}.good.example.com`; // each name needs a new lookup
      (names.zone as Record<string, readonly string[]>)[name] = ['127.0.0.1'];
      const ms = await dial(name, 'neighbour');
      if (Number.isNaN(ms)) failed++;
      else took.push(ms);
    }
    return percentile(took, 95);
  };
  const quietP95Ms = await pass();
  const dead = Array.from({ length: 40 }, (_, i) => dial(`dead-${i}.example.net`, 'attacker'));
  const besideP95Ms = await pass();
  await Promise.all(dead);
  names.stop();
  receiver.close();
  return { quietP95Ms, besideP95Ms, failed };
}
