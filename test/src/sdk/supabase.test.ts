import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { waitUntil } from '../fixtures/wait-until.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { SERVICE_JWT, SupabaseStandIn, USER_JWT } from '../stand-in-providers/supabase.js';
import { InProcessGateway, type ProviderRoute } from './in-process-gateway.js';

let provider: SupabaseStandIn;
let gateway: InProcessGateway;

beforeAll(async () => {
  provider = await new SupabaseStandIn().start();
  gateway = await InProcessGateway.start([
    {
      slug: 'supabase',
      origin: provider.origin,
      credentials: { apiKey: PROVIDER_CREDENTIALS.supabase, url: provider.origin },
    },
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});
beforeEach(() => {
  provider.reset();
  provider.requests.length = 0;
});

function client(way: string): SupabaseClient {
  return clientOf(
    way === 'direct' ? { baseUrl: provider.origin, key: PROVIDER_CREDENTIALS.supabase } : gateway.route('supabase'),
  );
}

function clientOf({ baseUrl, key }: ProviderRoute): SupabaseClient {
  return createClient(baseUrl, key, {
    auth: { persistSession: false, autoRefreshToken: false },
    // Node 20 has no WebSocket. Without this timeout a join fails after 10 s, and the test would only see that failure.
    realtime: { transport: WebSocket as never, timeout: 60_000 },
  });
}

describe.each(['direct', 'gateway'])('supabase SDK, %s', (way) => {
  test('select, single, count by HEAD', async () => {
    const todos = client(way).from('todos');
    expect((await todos.select('*').eq('id', 1)).data).toEqual([{ id: 1, task: 'task 1', done: false }]);
    expect((await todos.select('*').eq('id', 1).single()).data).toMatchObject({ id: 1 });
    const counted = await todos.select('*', { count: 'exact', head: true });
    expect(counted).toMatchObject({ count: 3, status: 200 });
    expect(provider.lastRequest).toMatchObject({ method: 'HEAD', target: '/rest/v1/todos?select=*' });
  });

  test('insert, upsert, update, delete', async () => {
    const todos = client(way).from('todos');
    expect((await todos.insert({ task: 'ü ✓' }).select()).data).toEqual([{ id: 4, task: 'ü ✓', done: false }]);
    expect(await todos.upsert({ id: 4, task: 'x' })).toMatchObject({ status: 201, error: null });
    expect(await todos.update({ done: true }).eq('id', 2)).toMatchObject({ status: 204, error: null });
    expect(await todos.delete().eq('id', 3)).toMatchObject({ status: 204, error: null });
    expect((await todos.select('*')).data).toEqual([
      { id: 1, task: 'task 1', done: false },
      { id: 2, task: 'task 2', done: true },
      { id: 4, task: 'x', done: false },
    ]);
  });

  test('rpc and functions', async () => {
    expect((await client(way).rpc('add', { a: 1, b: 2 })).data).toBe(3);
    const { data } = await client(way).functions.invoke('hello', { body: { a: 1 } });
    expect(data).toEqual({ echo: { a: 1 } });
  });

  test('storage: upload, download, list', async () => {
    const files = client(way).storage.from('files');
    const bytes = Buffer.from([0, 1, 2, 253, 254, 255]);
    const uploaded = await files.upload('a b/ü.bin', bytes, { contentType: 'application/octet-stream' });
    expect(uploaded.error).toBeNull();
    const downloaded = await files.download('a b/ü.bin');
    expect(Buffer.from(await downloaded.data!.arrayBuffer()).equals(bytes)).toBe(true);
    expect((await files.list()).data?.map(({ name }) => name)).toEqual(['files/a b/ü.bin']);
    expect((await files.download('none')).error).not.toBeNull();
  });

  test("a signed-in user's own session passes, the project key stays the real one", async () => {
    const supabase = client(way);
    const { data } = await supabase.auth.signInWithPassword({ email: 'user@example.com', password: 'pw' });
    expect(data.session?.access_token).toBe(USER_JWT);
    await supabase.from('todos').select('*');
    expect(provider.lastRequest.headers).toMatchObject({
      apikey: PROVIDER_CREDENTIALS.supabase,
      authorization: `Bearer ${USER_JWT}`,
    });
    expect((await supabase.auth.getUser()).data.user?.email).toBe('user@example.com');
    expect(provider.lastRequest.rawHeaders.join('\n')).not.toContain('acg_');
  });
});

describe.each(['direct', 'gateway'])('supabase realtime, %s', (way) => {
  test('joins a channel, sends and receives, leaves', async () => {
    const supabase = client(way);
    const channel = supabase.channel('room', { config: { broadcast: { self: true } } });
    const received = new Promise<unknown>((done) => {
      channel.on('broadcast', { event: 'note' }, ({ payload }) => done(payload));
    });
    const joined = new Promise<string>((done) => channel.subscribe((status) => done(status)));
    expect(await joined).toBe('SUBSCRIBED');
    await channel.send({ type: 'broadcast', event: 'note', payload: { text: 'ü ✓' } });
    expect(await received).toEqual({ text: 'ü ✓' });
    expect(new URLSearchParams(provider.realtime.joined.at(-1)!.split('?')[1]).get('apikey')).toBe(
      PROVIDER_CREDENTIALS.supabase,
    );
    expect(provider.realtime.received.join()).not.toContain('acg_');
    await supabase.removeAllChannels();
    await supabase.realtime.disconnect();
  });
});

describe.each(['direct', 'gateway'])('supabase realtime with a key that is a JWT, %s', (way) => {
  let project: SupabaseStandIn;
  let own: InProcessGateway;
  beforeAll(async () => {
    project = await new SupabaseStandIn(SERVICE_JWT).start();
    const credentials = { apiKey: SERVICE_JWT, url: project.origin };
    own = await InProcessGateway.start([{ slug: 'supabase', origin: project.origin, credentials }]);
  });
  afterAll(async () => {
    await own.stop();
    await project.close();
  });

  test('the access token in a join and in its renewals is the real key, or the user’s own session', async () => {
    const route = way === 'direct' ? { baseUrl: project.origin, key: SERVICE_JWT } : own.route('supabase');
    const supabase = clientOf(route);
    expect((await supabase.from('todos').select('*').eq('id', 1)).error).toBeNull();
    await supabase.realtime.setAuth(); // uses the client's own key
    const channel = supabase.channel('room', { config: { private: true } });
    const joined = new Promise<string>((done) => channel.subscribe((status) => done(status)));
    expect(await joined).toBe('SUBSCRIBED');
    await supabase.realtime.setAuth(USER_JWT);
    await supabase.realtime.setAuth();
    const sent = (): [event: string, accessToken: unknown][] =>
      project.realtime.received
        .map((frame) => JSON.parse(frame) as [unknown, unknown, string, string, { access_token?: unknown }])
        .filter(([, , , event]) => event === 'phx_join' || event === 'access_token')
        .map(([, , , event, payload]) => [event, payload.access_token]);
    await waitUntil('the renewals have arrived', () => sent().length === 3);
    expect(sent()).toEqual([
      ['phx_join', SERVICE_JWT],
      ['access_token', USER_JWT],
      ['access_token', SERVICE_JWT],
    ]);
    await supabase.removeAllChannels();
    await supabase.realtime.disconnect();
  });
});

test('supabase: the SDK shows the gateway’s rejection', async () => {
  const { baseUrl } = gateway.route('supabase');
  const supabase = createClient(baseUrl, `acg_${'0'.repeat(64)}`, { realtime: { transport: WebSocket as never } });
  const { error, status } = await supabase.from('todos').select('*');
  expect(status).toBe(401);
  expect(error?.message).not.toBe('');
});
