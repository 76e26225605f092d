/**
 * Every official SDK through the whole gateway: accounts are created over the API, contexts resolved over gRPC, usage
 * sent to the ledger.
 */

import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import type { StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import Anthropic from '@anthropic-ai/sdk';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { createClient } from '@supabase/supabase-js';
import { Vercel } from '@vercel/sdk';
import AnthropicV0 from 'anthropic-sdk-v0';
import OpenAI from 'openai';
import OpenAIv4 from 'openai-v4';
import { Resend } from 'resend';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { PlaneProcess } from '../fixtures/plane-process.js';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { AnthropicStandIn } from '../stand-in-providers/anthropic.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { ResendStandIn } from '../stand-in-providers/resend.js';
import { S3StandIn } from '../stand-in-providers/s3.js';
import { SupabaseStandIn } from '../stand-in-providers/supabase.js';
import { VercelStandIn } from '../stand-in-providers/vercel.js';

const s3 = new S3StandIn();
const supabase = new SupabaseStandIn();
const providers: Readonly<Record<string, StandInProvider>> = {
  openai: new OpenAiStandIn(),
  anthropic: new AnthropicStandIn(),
  vercel: new VercelStandIn(),
  resend: new ResendStandIn(),
  supabase,
  s3,
};
let stack: Stack;
let dataPlane: PlaneProcess;
let tenant: Tenant;
let agentId = '';
let key = '';
let proxy = '';

beforeAll(async () => {
  await Promise.all(Object.values(providers).map((provider) => provider.start()));
  // The tenant sets the URLs of supabase and s3, so that the egress guard applies as in production.
  const fixed = ['openai', 'anthropic', 'vercel', 'resend'];
  stack = await Stack.start({ providers: Object.fromEntries(fixed.map((slug) => [slug, providers[slug]!.origin])) });
  tenant = await stack.signUpTenant();
  agentId = (await tenant.createAgent({ rpmLimit: 10_000 })).id;
  for (const slug of ['openai', 'anthropic', 'vercel', 'resend'] as const) {
    await tenant.createAccount(agentId, slug, { apiKey: PROVIDER_CREDENTIALS[slug] });
  }
  await tenant.createAccount(agentId, 'supabase', { apiKey: PROVIDER_CREDENTIALS.supabase, url: supabase.origin });
  await tenant.createAccount(agentId, 's3', { ...PROVIDER_CREDENTIALS.s3, endpoint: s3.origin });
  key = await tenant.createToken(agentId);
  const added = await stack.addDataPlane();
  dataPlane = added.plane;
  proxy = `${added.url}/v1/proxy`;
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all(Object.values(providers).map((provider) => provider.close()));
});

const SAID = 'Hello from the provider – ✓.';
const MESSAGES = [{ role: 'user' as const, content: 'hi' }];

test('all SDKs: openai, both major versions, streams included', async () => {
  for (const Client of [OpenAI, OpenAIv4 as unknown as typeof OpenAI]) {
    const client = new Client({ baseURL: `${proxy}/openai/v1`, apiKey: key, maxRetries: 0 });
    const answer = await client.chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES });
    expect(answer.choices[0]?.message.content).toBe(SAID);
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await client.chat.completions.create({
      model: 'gpt-5-mini',
      messages: MESSAGES,
      stream: true,
    })) {
      chunks.push(chunk);
    }
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(SAID);
    // The gateway requests usage from the provider and removes it from the response.
    expect(providers.openai!.lastRequest.body.toString()).toContain('include_usage');
    expect(chunks.every((chunk) => chunk.choices.length === 1 && !('usage' in chunk))).toBe(true);
  }
});

test('all SDKs: anthropic, both major versions; batch URLs point to the proxy', async () => {
  for (const Client of [Anthropic, AnthropicV0 as unknown as typeof Anthropic]) {
    const client = new Client({ baseURL: `${proxy}/anthropic`, apiKey: key, maxRetries: 0 });
    const request = { model: 'claude-haiku-4-5', max_tokens: 64, messages: MESSAGES };
    expect(await client.messages.stream(request).finalText()).toBe(SAID);
    const ids: string[] = [];
    for await (const result of await client.messages.batches.results('msgbatch_one')) ids.push(result.custom_id);
    expect(ids).toEqual(['a', 'b']);
  }
});

test('all SDKs: s3 with a multipart upload through the egress guard', async () => {
  const client = new S3Client({
    endpoint: `${proxy}/s3`,
    forcePathStyle: true,
    region: 'us-east-1',
    credentials: { accessKeyId: key, secretAccessKey: 'unused' },
    maxAttempts: 1,
  });
  const Bucket = 'agent-bucket';
  const bytes = Buffer.alloc(6 * 1024 * 1024, 'abc');
  await new Upload({ client, params: { Bucket, Key: 'big file', Body: bytes } }).done();
  expect(s3.bytesOf('agent-bucket/big file')?.equals(bytes)).toBe(true);
  await client.send(new PutObjectCommand({ Bucket, Key: 'a b/ü+%', Body: 'small' }));
  const answer = await client.send(new GetObjectCommand({ Bucket, Key: 'a b/ü+%' }));
  expect(await answer.Body!.transformToString()).toBe('small');
});

test('all SDKs: supabase, vercel, resend', async () => {
  const database = createClient(`${proxy}/supabase`, key, { realtime: { transport: WebSocket as never } });
  expect((await database.from('todos').select('*').eq('id', 1)).data).toEqual([{ id: 1, task: 'task 1', done: false }]);
  const vercel = new Vercel({ serverURL: `${proxy}/vercel`, bearerToken: key });
  expect((await vercel.user.getAuthUser())?.user).toMatchObject({ username: 'agent' });
  const resend = new Resend(key, { baseUrl: `${proxy}/resend` });
  const mail = { from: 'a@example.com', to: 'b@example.com', subject: 's', text: 't' };
  expect((await resend.emails.send(mail)).error).toBeNull();
});

test('all SDKs: the calls are in the usage of the agent', async () => {
  const rows = async (): Promise<{ providerSlug: string; totalRequests: number; totalTokensIn: number }[]> =>
    (await tenant.call('GET', `/v1/usage/agents/${agentId}`)).body.usage;
  await waitUntil('every provider has usage', async () => (await rows()).length === Object.keys(providers).length);
  await waitUntil('the streamed and unstreamed calls of openai count alike', async () => {
    const row = (await rows()).find(({ providerSlug }) => providerSlug === 'openai');
    return row?.totalRequests === 4 && row.totalTokensIn === 4 * 19;
  });
});

test('all SDKs: the processes print no secret', async () => {
  const printed = stack.controlPlane.output + dataPlane.output;
  for (const secret of [
    key,
    PROVIDER_CREDENTIALS.openai,
    PROVIDER_CREDENTIALS.anthropic,
    PROVIDER_CREDENTIALS.supabase,
    PROVIDER_CREDENTIALS.s3.secretAccessKey,
    tenant.session,
  ]) {
    expect(printed).not.toContain(secret);
  }
});
