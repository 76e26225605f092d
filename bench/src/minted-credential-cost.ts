/**
 * CPU of a call with a minted credential against one with a static key, on one data plane, in short windows in turn: other
 * load on the machine affects all. A second account with a static key shows how much two equal accounts differ. The
 * providers are a tenant's own, at the same address, with credentials of the same length. The control plane is paused
 * during the windows, so that no call can wait for it.
 *
 *   node bench/dist/minted-credential-cost.js [ROUNDS]
 */
import { cpus, loadavg } from 'node:os';
import { TokenEndpoint } from '@acg/test/stand-in-providers/token-endpoint';
import { type GatewayStack, startGateway } from './gateway-stack.js';
import { sendEach } from './load/closed-loop.js';
import { postRequest } from './load/keep-alive-connection.js';
import { PROVIDER_PATH, REQUEST_BODY } from './scenario-request.js';
import { startProvider } from './start-mock-provider.js';
import { runTimeUs } from './start-two-builds.js';
import { median, percentile } from './statistics.js';
import { atTeardown, tearDown, tearDownOnSignals } from './teardown.js';

const WARM_CALLS = 5_000;
const WINDOW_CALLS = 250;
const CONNECTIONS = 16;
const CLIENT_ID = 'bench-client';
const CLIENT_SECRET = 'bench-secret-0123456789';

interface Account {
  readonly slug: string;
  readonly token: string;
}

/** An agent with an account at a provider of the tenant. */
async function createAccount(
  { tenant }: GatewayStack,
  origin: string,
  slug: string,
  method: object | null,
  credentials: Readonly<Record<string, string>>,
): Promise<Account> {
  const key = { name: 'apiKey', label: 'Key', secret: true, required: true };
  const definition = {
    credentials: { kind: 'api_key', fields: [key], ...(method === null ? {} : { methods: [method] }) },
    origins: { default: origin },
    inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
    usage: { format: 'openai' },
  };
  const made = await tenant.call('POST', '/v1/custom-providers', { slug, displayName: slug, definition });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const agent = await tenant.createAgent({ rpmLimit: 1_000_000, rpdLimit: 1_000_000_000 });
  await tenant.createAccount(agent.id, slug, credentials);
  return { slug, token: await tenant.createToken(agent.id) };
}

const mintedMethod = (url: string) => ({
  name: 'oauth',
  label: 'OAuth',
  kind: 'oauth2_client_credentials',
  fields: [
    { name: 'clientId', label: 'Client id', secret: false, required: true },
    { name: 'clientSecret', label: 'Client secret', secret: true, required: true },
  ],
  token: { url, clientId: '{clientId}', clientSecret: '{clientSecret}' },
  inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
});

/** µs per call. */
async function window(gateway: GatewayStack, { slug, token }: Account, calls: number): Promise<number> {
  const url = `${gateway.url}/v1/proxy/${slug}${PROVIDER_PATH}`;
  const request = postRequest(url, { authorization: `Bearer ${token}` }, REQUEST_BODY);
  const before = runTimeUs(gateway.dataPlane.pid);
  let left = calls;
  const load = await sendEach(gateway.url, CONNECTIONS, () => (left-- > 0 ? request : null));
  if (load.errors > 0) throw new Error(`${load.errors} calls failed`);
  return (runTimeUs(gateway.dataPlane.pid) - before) / calls;
}

async function run(rounds: number): Promise<void> {
  const endpoint = await new TokenEndpoint().start();
  atTeardown(async () => endpoint.stop());
  endpoint.secrets.set(CLIENT_ID, CLIENT_SECRET);
  const provider = await startProvider();
  const gateway = await startGateway(provider);
  const client = { method: 'oauth', clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
  const create = (slug: string, method: object | null, credentials: Readonly<Record<string, string>>) =>
    createAccount(gateway, provider.origin, slug, method, credentials);
  const accounts = [
    await create('minted', mintedMethod(endpoint.url), client),
    await create('static', null, { apiKey: endpoint.issue() }),
    await create('static-too', null, { apiKey: endpoint.issue() }),
  ];
  for (const account of accounts) await window(gateway, account, WARM_CALLS);
  const loadBefore = loadavg()[0]!;
  const samples: number[][] = accounts.map(() => []);
  gateway.stack.controlPlane.pause();
  try {
    for (let round = 0; round < rounds; round++)
      for (let n = 0; n < accounts.length; n++) {
        const which = (round + n) % accounts.length;
        samples[which]!.push(await window(gateway, accounts[which]!, WINDOW_CALLS));
      }
  } finally {
    gateway.stack.controlPlane.resume();
  }
  const [, reference] = samples;
  const rows = samples.map((own, which) => {
    const differences = own.map((value, round) => value - reference![round]!);
    const [low, middle, high] = [25, 50, 75].map((p) => percentile(differences, p).toFixed(2));
    return { account: accounts[which]!.slug, 'µs a call': median(own).toFixed(2), difference: middle, low, high };
  });
  console.table(rows);
  const load = `load average ${loadBefore.toFixed(1)} → ${loadavg()[0]!.toFixed(1)}`;
  console.log(
    `${rounds} rounds, ${endpoint.requests.length} exchange, ${cpus().length} × ${cpus()[0]!.model}, Node ${process.versions.node}, ${load}`,
  );
}

tearDownOnSignals();
try {
  await run(Number(process.argv[2] ?? '80'));
} finally {
  await tearDown();
}
