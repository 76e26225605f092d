/**
 * The vendors' own SDKs, unmodified and set up as the provider files' snippets say, through real processes of both
 * planes. The stand-ins answer only requests with the exact credential and without a gateway token.
 */
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  paginateListAsyncInvokes,
  StartAsyncInvokeCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { LinearClient } from '@linear/sdk';
import { Client as NotionClient } from '@notionhq/client';
import { Octokit } from '@octokit/rest';
import { WebClient } from '@slack/web-api';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { CohereClientV2 } from 'cohere-ai';
import { AzureOpenAI } from 'openai';
import Stripe from 'stripe';
import twilio from 'twilio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, type Tenant } from '../fixtures/stack.js';
import {
  azure,
  BEDROCK_MODEL,
  BEDROCK_PROFILE,
  bedrock,
  cohere,
  gemini,
  MODEL_VENDOR_CREDENTIALS,
  SAID,
} from '../stand-in-providers/model-vendors.js';
import {
  github,
  githubUploads,
  linear,
  notion,
  SAAS_VENDOR_CREDENTIALS,
  slack,
  stripe,
  TWILIO_ACCOUNT,
  twilioApi,
  twilioVerify,
} from '../stand-in-providers/saas-vendors.js';

const standIns = [
  gemini,
  bedrock,
  azure,
  cohere,
  github,
  githubUploads,
  slack,
  stripe,
  linear,
  notion,
  twilioApi,
  twilioVerify,
];
let stack: Stack;
let tenant: Tenant;
let key = '';
let proxy = '';

beforeAll(async () => {
  await Promise.all(standIns.map((standIn) => standIn.start()));
  stack = await Stack.start({
    providers: {
      gemini: gemini.origin,
      bedrock: bedrock.origin,
      'azure-openai': azure.origin,
      cohere: cohere.origin,
      github: { baseUrl: github.origin, origins: { uploads: githubUploads.origin } },
      slack: slack.origin,
      stripe: stripe.origin,
      linear: linear.origin,
      notion: notion.origin,
      twilio: { baseUrl: twilioApi.origin, origins: { verify: twilioVerify.origin } },
    },
  });
  tenant = await stack.signUpTenant();
  const { id: agentId } = await tenant.createAgent({ rpmLimit: 10_000 });
  for (const [providerSlug, credentials] of Object.entries({
    ...MODEL_VENDOR_CREDENTIALS,
    ...SAAS_VENDOR_CREDENTIALS,
  })) {
    const account = { agentId, providerSlug, credentials, allowOpaque: providerSlug === 'linear' };
    const { status, body } = await tenant.call('POST', '/v1/providers/accounts', account);
    expect([providerSlug, status, body]).toMatchObject([providerSlug, 201, {}]);
  }
  key = await tenant.createToken(agentId);
  proxy = `${(await stack.addDataPlane()).url}/v1/proxy`;
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all(standIns.map((standIn) => standIn.close()));
});

const MESSAGES = [{ role: 'user' as const, content: 'hi' }];

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

test('vendor SDKs: @google/genai', async () => {
  const ai = new GoogleGenAI({ apiKey: key, vertexai: false, httpOptions: { baseUrl: `${proxy}/gemini` } });
  const call = { model: 'gemini-3.5-flash', contents: 'hi' };
  const answer = await ai.models.generateContent(call);
  expect([answer.text, answer.usageMetadata?.totalTokenCount]).toEqual([SAID, 12]);
  const chunks = await collect(await ai.models.generateContentStream(call));
  expect(chunks.map((chunk) => chunk.text).join('')).toBe(SAID);
  const models = await collect(await ai.models.list());
  expect(models.map(({ name }) => name)).toEqual(['models/a', 'models/b']);
  // The upload continues at the URL of a response header.
  const file = await ai.files.upload({ file: new Blob(['12345']), config: { mimeType: 'text/plain' } });
  expect(file).toMatchObject({ name: 'files/one', sizeBytes: '5' });
  expect(gemini.lastRequest.target).toBe('/upload/v1beta/files/continue?upload_id=one&upload_protocol=resumable');
  await expect(ai.models.generateContent({ ...call, model: 'none' })).rejects.toMatchObject({ status: 404 });
});

test('vendor SDKs: @aws-sdk/client-bedrock-runtime', async () => {
  const client = new BedrockRuntimeClient({
    region: 'eu-west-1', // the region of the account decides
    endpoint: `${proxy}/bedrock`,
    credentials: { accessKeyId: key, secretAccessKey: 'unused' },
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });
  const messages = [{ role: 'user' as const, content: [{ text: 'hi' }] }];
  for (const modelId of [BEDROCK_MODEL, BEDROCK_PROFILE]) {
    const answer = await client.send(new ConverseCommand({ modelId, messages }));
    expect([answer.output?.message?.content?.[0]?.text, answer.usage?.outputTokens]).toEqual([SAID, 3]);
  }
  expect(bedrock.lastRequest.path).toContain('application-inference-profile%2Fa1b2c3');
  const { stream } = await client.send(new ConverseStreamCommand({ modelId: BEDROCK_MODEL, messages }));
  const events = await collect(stream!);
  expect(events.map((event) => event.contentBlockDelta?.delta?.text ?? '').join('')).toBe(SAID);
  expect(events.at(-1)?.metadata?.usage?.totalTokens).toBe(12);
  // Writes to any bucket, so it is a sensitive call.
  const outputDataConfig = { s3OutputDataConfig: { s3Uri: 's3://bucket/out' } };
  const start = new StartAsyncInvokeCommand({ modelId: BEDROCK_MODEL, modelInput: { a: 1 }, outputDataConfig });
  await expect(client.send(start)).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
  const pages = await collect(paginateListAsyncInvokes({ client }, {}));
  expect(pages.map((page) => page.asyncInvokeSummaries?.[0]?.invocationArn?.at(-1))).toEqual(['a', 'b']);
  await expect(client.send(new ConverseCommand({ modelId: 'none', messages }))).rejects.toMatchObject({
    name: 'ValidationException',
  });
});

test('vendor SDKs: openai as AzureOpenAI', async () => {
  const client = new AzureOpenAI({
    baseURL: `${proxy}/azure-openai/openai`,
    apiKey: key,
    apiVersion: '2024-10-21',
    maxRetries: 0,
  });
  const answer = await client.chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES });
  expect(answer.choices[0]?.message.content).toBe(SAID);
  expect(azure.lastRequest.target).toBe('/openai/deployments/gpt-5-mini/chat/completions?api-version=2024-10-21');
  const chunks = await collect(
    await client.chat.completions.create({ model: 'gpt-5-mini', messages: MESSAGES, stream: true }),
  );
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(SAID);
  const embeddings = await client.embeddings.create({ model: 'gpt-5-mini', input: 'hi', encoding_format: 'float' });
  expect(embeddings.data[0]?.embedding).toEqual([0.5]);
  expect((await collect(client.files.list())).map(({ id }) => id)).toEqual(['file-a', 'file-b']);
  await expect(client.chat.completions.create({ model: 'none', messages: MESSAGES })).rejects.toMatchObject({
    status: 404,
    code: 'DeploymentNotFound',
  });
});

test('vendor SDKs: cohere-ai', async () => {
  const client = new CohereClientV2({ environment: `${proxy}/cohere`, token: key, maxRetries: 0 });
  const call = { model: 'command-a-03-2025', messages: MESSAGES };
  const answer = await client.chat(call);
  expect(answer.message.content).toEqual([{ type: 'text', text: SAID }]);
  const events = await collect(await client.chatStream(call));
  const said = events.map((event) => (event.type === 'content-delta' ? event.delta?.message?.content?.text : ''));
  expect(said.join('')).toBe(SAID);
  const embedded = await client.embed({
    model: 'embed-v4.0',
    texts: ['hi'],
    inputType: 'search_query',
    embeddingTypes: ['float'],
  });
  expect(embedded.embeddings.float).toEqual([[0.5]]);
  const first = await client.models.list({ pageSize: 1 });
  const second = await client.models.list({ pageSize: 1, pageToken: first.nextPageToken! });
  expect([first.models[0]?.name, second.models[0]?.name]).toEqual(['a', 'b']);
  await expect(client.chat({ ...call, model: 'none' })).rejects.toMatchObject({ statusCode: 404 });
});

test('vendor SDKs: @octokit/rest; pages and uploads stay on the gateway', async () => {
  const octokit = new Octokit({ baseUrl: `${proxy}/github`, auth: key });
  const { issues, repos } = octokit.rest;
  const repo = { owner: 'octocat', repo: 'hello' };
  expect((await issues.get({ ...repo, issue_number: 1 })).data.title).toBe('one');
  expect((await issues.create({ ...repo, title: 'two' })).data).toMatchObject({ number: 2, title: 'two' });
  // GitHub sends the next page in a `Link` header.
  const listed = await octokit.paginate(issues.listForRepo, repo);
  expect(listed.map(({ number }) => number)).toEqual([1, 2]);
  const uploaded = await repos.uploadReleaseAsset({
    ...repo,
    baseUrl: `${proxy}/github:uploads`,
    release_id: 1,
    name: 'a.txt',
    data: '12345',
  });
  expect(uploaded.data).toMatchObject({ name: 'a.txt', size: 5 });
  await expect(issues.get({ ...repo, issue_number: 9 })).rejects.toMatchObject({ status: 404 });
});

test('vendor SDKs: @slack/web-api', async () => {
  const client = new WebClient(key, { slackApiUrl: `${proxy}/slack/api/` });
  expect(await client.auth.test()).toMatchObject({ ok: true, user_id: 'U1' });
  expect((await client.chat.postMessage({ channel: 'C1', text: 'Hello' })).ts).toBe('1.2');
  const pages = await collect(client.paginate('conversations.list', { limit: 1 }));
  expect(pages).toMatchObject([{ channels: [{ id: 'C1' }] }, { channels: [{ id: 'C2' }] }]);
  await expect(client.chat.postMessage({ channel: 'none', text: 'Hello' })).rejects.toMatchObject({
    data: { error: 'channel_not_found' },
  });
});

test('vendor SDKs: stripe', async () => {
  const throughGateway: typeof fetch = (input, init) =>
    fetch(String(input).replace('https://api.stripe.com', `${proxy}/stripe`), init);
  const client = new Stripe(key, { httpClient: Stripe.createFetchHttpClient(throughGateway), maxNetworkRetries: 0 });
  expect((await client.customers.retrieve('cus_one')).id).toBe('cus_one');
  expect(await client.customers.create({ email: 'a+b@example.com' })).toMatchObject({ email: 'a+b@example.com' });
  expect(stripe.lastRequest.headers['stripe-version']).toBeDefined();
  const customers = await client.customers.list({ limit: 1 }).autoPagingToArray({ limit: 10 });
  expect(customers.map(({ id }) => id)).toEqual(['cus_one', 'cus_two']);
  await expect(client.customers.retrieve('none')).rejects.toMatchObject({
    statusCode: 404,
    code: 'resource_missing',
    requestId: 'req_one',
  });
});

test('vendor SDKs: @linear/sdk', async () => {
  const client = new LinearClient({ apiUrl: `${proxy}/linear/graphql`, apiKey: key });
  expect((await client.issueLabel('one')).name).toBe('one');
  expect(await client.createIssue({ teamId: 'team', title: 'Title' })).toMatchObject({ success: true });
  const labels = await client.issueLabels({ first: 1 });
  expect((await labels.fetchNext()).nodes.map(({ id }) => id)).toEqual(['a', 'b']);
  await expect(client.team('none')).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/No such team|Entity/),
  });
});

test('vendor SDKs: @notionhq/client', async () => {
  const client = new NotionClient({ baseUrl: `${proxy}/notion`, auth: key, retry: false });
  const id = '11111111-1111-4111-8111-111111111111';
  expect((await client.pages.retrieve({ page_id: id })).id).toBe('one');
  expect((await client.pages.create({ parent: { page_id: id }, properties: {} })).id).toBe('new');
  const first = await client.search({ page_size: 1 });
  const second = await client.search({ page_size: 1, start_cursor: first.next_cursor! });
  expect([...first.results, ...second.results].map((result) => result.id)).toEqual(['a', 'b']);
  const unknown = '22222222-2222-4222-8222-222222222222';
  await expect(client.pages.retrieve({ page_id: unknown })).rejects.toMatchObject({ code: 'object_not_found' });
});

test('vendor SDKs: twilio, with a second product', async () => {
  const httpClient = new twilio.RequestClient();
  const send = httpClient.request.bind(httpClient);
  httpClient.request = (options) =>
    send({
      ...options,
      uri: options.uri.replace(/^https:\/\/([a-z-]+)\.[^/]+/, (_host, product: string) =>
        product === 'api' ? `${proxy}/twilio` : `${proxy}/twilio:${product}`,
      ),
    });
  const client = twilio(TWILIO_ACCOUNT, key, { httpClient });
  const sent = await client.messages.create({ from: '+15005550006', to: '+15005550009', body: 'Hello' });
  expect([sent.sid, sent.body]).toEqual(['SM1', 'Hello']);
  expect((await client.messages('SM1').fetch()).status).toBe('queued');
  expect((await client.messages.list({ pageSize: 1 })).map(({ sid }) => sid)).toEqual(['SM1', 'SM2']);
  const verification = await client.verify.v2
    .services('VA1')
    .verifications.create({ to: '+15005550009', channel: 'sms' });
  expect(verification.sid).toBe('VE1');
  await expect(client.messages('none').fetch()).rejects.toMatchObject({ status: 404, code: 20404 });
});

test.each(standIns.map((standIn, i) => [i, standIn] as const))(
  'vendor SDKs: stand-in %i rejects a missing credential and a gateway token',
  async (_i, standIn) => {
    expect((await fetch(standIn.origin)).status).toBe(401);
    expect((await fetch(standIn.origin, { headers: { 'x-other': key } })).status).toBe(400);
    expect((await fetch(standIn.origin, { method: 'POST', body: `a=${key}` })).status).toBe(400);
  },
);
