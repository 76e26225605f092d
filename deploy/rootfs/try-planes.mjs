// Runs both planes with the settings of compose.yaml behind nginx, with Redis and Postgres: calls through the front
// proxy, hostile requests to the data plane directly, and load.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { Container } from './container.mjs';
import { say } from './debootstrap-base-root.mjs';
import { composeService } from './read-compose-service.mjs';
import { endParts, startNginx, startNode, startPostgres, startRedis } from './start-postgres-redis-nginx.mjs';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const deploy = join(repository, 'deploy');
const compose = join(deploy, 'compose.yaml');
const CONNECTIONS = 16;
const CALLS = 20_000;
const WARM_UP = 5_000;

const secret = () => randomBytes(32).toString('hex');
const values = {
  POSTGRES_PASSWORD: secret(),
  REDIS_PASSWORD: secret(),
  MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  JWT_SECRET: secret(),
  INTERNAL_TOKEN: secret(),
  PUBLIC_URL: 'https://localhost:8444',
  DATAPLANE_PUBLIC_URL: 'https://localhost:8443',
  SIGNUP: 'first',
  PROVIDERS_FILE: '/run/settings/stand-in-providers.json',
  EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
};

export async function tryPlanes(built, home) {
  const hosts = join(home, 'hosts'); // names of the compose file
  writeFileSync(hosts, '127.0.0.1 localhost postgres redis controlplane dataplane-1 dataplane-2\n');
  execFileSync('mount', ['--bind', hosts, '/etc/hosts']);
  execFileSync('sh', [join(deploy, 'make-certificates.sh'), join(home, 'tls')], { stdio: 'ignore' });
  const planes = [];
  const start = async (name, image, url, files = {}) => {
    const { environment: env } = composeService(compose, name, values);
    const tls = join(home, 'tls', name.replace(/-\d$/, ''));
    const plane = new Container({ image, home, env, files: { '/run/tls': tls, ...files } });
    planes.unshift(plane);
    const since = performance.now();
    await plane.ready(url);
    assert.deepEqual(plane.privileges, { uid: 1000, capabilities: 0, noNewPrivileges: true, coreBytes: 0 });
    return { plane, ms: Math.round(performance.now() - since) };
  };
  try {
    await startPostgres(built.gateway, home, values.POSTGRES_PASSWORD);
    await startRedis(home, composeService(compose, 'redis', values).command);
    const settings = { '/run/settings': deploy };
    const control = await start('controlplane', built.controlplane, 'http://127.0.0.1:8080/readyz', settings);
    const data = await start('dataplane-1', built.dataplane, 'http://127.0.0.1:9464/readyz');
    await startNginx(join(deploy, 'nginx/gateway.conf'), join(home, 'tls/front'), home, 8443);
    await startNode(join(repository, 'stand-in-provider/dist/main.js'), ['9001'], 9001);
    await startNode(join(repository, 'bench/dist/mock-provider.js'), ['9002'], 9002);
    const figures = { 'control plane: start with empty database, ms': control.ms, 'data plane: start, ms': data.ms };
    const tenant = await signUp();
    say('calls through nginx');
    await callThroughFront(tenant);
    say('hostile requests');
    figures['data plane: hostile requests answered as they must be'] = await probe(tenant);
    say('load');
    Object.assign(figures, await load(tenant, data.plane));
    figures['data plane: memory after it, MB'] = data.plane.residentMb;
    for (const plane of [...planes]) {
      const { code, ms } = await plane.stop();
      assert.equal(code, 0, plane.output);
      figures[`${plane === data.plane ? 'data' : 'control'} plane: SIGTERM to end, ms`] = ms;
    }
    return figures;
  } catch (error) {
    throw new Error(`${error.stack}\n${planes.map((plane) => plane.output).join('\n')}`);
  } finally {
    for (const plane of planes) await plane.stop();
    await endParts();
  }
}

const front = new Agent({ connect: { rejectUnauthorized: false } });
async function call(url, token, body, method = body === undefined ? 'GET' : 'POST') {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
  const options = { method, headers, dispatcher: front, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await request(url, options);
  return { status: answer.statusCode, text: await answer.body.text() };
}

/** Everything an agent needs, through nginx: providers `openai`, `probe`, `alive`, `load`. */
async function signUp() {
  const api = async (path, body, session) => {
    const { status, text } = await call(`https://localhost:8444/v1${path}`, session, body);
    assert.ok(status < 300, `${path}: ${status} ${text}`);
    return JSON.parse(text);
  };
  assert.equal((await call('https://localhost:8444/metrics')).status, 404);
  const person = { email: 'you@example.com', password: 'correct horse battery', name: 'You', orgName: 'Acme' };
  const { token: session } = await api('/auth/signup', person);
  const projectId = (await api('/projects', undefined, session)).projects[0].id;
  const limits = { rpmLimit: 1_000_000, rpdLimit: 1_000_000_000, budgetCentsMonthly: 1_000_000_000 };
  const { agent } = await api('/agents', { projectId, name: 'Trial', ...limits }, session);
  const { secretKey: token } = await api('/api-keys', { name: 'trial', agentId: agent.id }, session);
  const account = async (providerSlug, apiKey) =>
    api('/providers/accounts', { agentId: agent.id, providerSlug, credentials: { apiKey } }, session);
  const custom = async (slug, baseUrl, apiKey, rest = {}) => {
    await api('/custom-providers', { slug, displayName: slug, baseUrl, authType: 'bearer', ...rest }, session);
    await account(slug, apiKey);
  };
  await account('openai', 'sk-proj-real-openai-credential-0001');
  await custom('load', 'http://127.0.0.1:9002', 'sk-load-0001', { usageFormat: 'openai' });
  const requests = async () => (await api(`/usage/agents/${agent.id}/summary`, undefined, session)).totalRequests;
  return { token, custom, requests };
}

async function callThroughFront({ token, requests }) {
  const url = 'https://localhost:8443/v1/proxy/openai/v1/chat/completions';
  const body = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Say hello' }] };
  for (let i = 0; i < 10; i++) {
    const plain = await call(url, token, body);
    assert.equal(plain.status, 200, plain.text);
    assert.ok(JSON.parse(plain.text).usage.total_tokens > 0);
  }
  const streamed = await call(url, token, { ...body, stream: true });
  assert.match(streamed.text, /data: \[DONE\]/);
  while ((await requests()) !== 11) await new Promise((resolve) => setTimeout(resolve, 100));
}

async function probe({ token, custom }) {
  const probes = (name) => import(join(repository, `test/dist/http-probes/${name}.js`));
  const [{ runProbes }, { ProbeHarness, PROVIDER_KEY }, { StrictUpstream }] = await Promise.all(
    ['run-hostile-request-cases', 'probe-harness', 'strict-upstream'].map(probes),
  );
  const [upstream, alive] = [await new StrictUpstream().start(), await new StrictUpstream().start()];
  await custom('probe', `http://${upstream.host}/base`, PROVIDER_KEY);
  await custom('alive', `http://${alive.host}`, PROVIDER_KEY);
  const gateway = { port: 8081, bugs: 0, stop: async () => {} };
  const { total, failed } = await runProbes(new ProbeHarness(gateway, upstream, alive, token));
  for (const line of failed) say(line);
  await upstream.close();
  await alive.close();
  return `${total - failed.length} of ${total}`;
}

async function load({ token }, plane) {
  const dispatcher = new Agent({ connections: CONNECTIONS });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const body = JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Say hello' }] });
  const took = [];
  const once = async () => {
    const since = performance.now();
    const options = { method: 'POST', headers, body, dispatcher };
    const answer = await request('http://127.0.0.1:8081/v1/proxy/load/v1/chat/completions', options);
    assert.equal(answer.statusCode, 200);
    await answer.body.text();
    took.push(performance.now() - since);
  };
  const many = async (count) => {
    let left = count;
    const worker = async () => {
      while (left-- > 0) await once();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  };
  await many(WARM_UP);
  took.length = 0;
  const cpuUs = plane.cpuUs;
  const since = performance.now();
  await many(CALLS);
  const seconds = (performance.now() - since) / 1000;
  const perCall = (plane.cpuUs - cpuUs) / CALLS;
  await dispatcher.close();
  took.sort((a, b) => a - b);
  const quantile = (q) => took[Math.floor(took.length * q)].toFixed(2);
  return {
    [`data plane: calls a second, ${CONNECTIONS} connections, one client`]: Math.round(CALLS / seconds),
    'data plane: CPU a call, µs': Math.round(perCall),
    'client: p50 / p99 of a call, ms': `${quantile(0.5)} / ${quantile(0.99)}`,
  };
}
