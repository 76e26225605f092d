import { Vercel } from '@vercel/sdk';
import { Resend } from 'resend';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { ResendStandIn } from '../stand-in-providers/resend.js';
import { VercelStandIn } from '../stand-in-providers/vercel.js';
import { InProcessGateway, type ProviderRoute } from './in-process-gateway.js';

let vercel: VercelStandIn;
let resend: ResendStandIn;
let gateway: InProcessGateway;

beforeAll(async () => {
  vercel = await new VercelStandIn().start();
  resend = await new ResendStandIn().start();
  gateway = await InProcessGateway.start([
    { slug: 'vercel', origin: vercel.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.vercel } },
    { slug: 'resend', origin: resend.origin, credentials: { apiKey: PROVIDER_CREDENTIALS.resend } },
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await vercel.close();
  await resend.close();
});
beforeEach(() => {
  vercel.requests.length = 0;
  resend.requests.length = 0;
});

function route(way: string, slug: 'vercel' | 'resend'): ProviderRoute {
  if (way === 'gateway') return gateway.route(slug);
  return { baseUrl: slug === 'vercel' ? vercel.origin : resend.origin, key: PROVIDER_CREDENTIALS[slug] };
}

describe.each(['direct', 'gateway'])('vercel SDK, %s', (way) => {
  const client = (): Vercel => {
    const { baseUrl, key } = route(way, 'vercel');
    return new Vercel({ serverURL: baseUrl, bearerToken: key });
  };

  test('user, projects, deployments', async () => {
    expect((await client().user.getAuthUser())?.user).toMatchObject({ username: 'agent' });
    expect(await client().projects.getProjects({ teamId: 'team_x' })).toMatchObject({ projects: [] });
    expect(vercel.lastRequest.target).toBe('/v10/projects?teamId=team_x');
    const { deployments } = await client().deployments.getDeployments({ projectId: 'prj_one' });
    expect(deployments?.[0]).toMatchObject({ uid: 'dpl_one', readyState: 'READY' });
  });

  test('file upload keeps digest and bytes', async () => {
    const digest = '03a798d01a518055102dd78f8b411cbd00d7a97b';
    await client().deployments.uploadFile({ xVercelDigest: digest, requestBody: Buffer.from('hello file') });
    expect(vercel.lastRequest.body.toString()).toBe('hello file');
  });
});

describe.each(['direct', 'gateway'])('resend SDK, %s', (way) => {
  const MAIL = { from: 'a@example.com', to: 'b@example.com', subject: 'Grüße', html: '<p>x</p>' };
  const client = (): Resend => {
    const { baseUrl, key } = route(way, 'resend');
    return new Resend(key, { baseUrl });
  };

  test('send, batch, domains', async () => {
    const sent = await client().emails.send(MAIL, { idempotencyKey: 'order-1' });
    expect(sent.error).toBeNull();
    expect(sent.data?.id).toBe('49a3999c-0ce1-4ea6-ab68-afcd6dc2e794');
    expect(resend.lastRequest.headers['idempotency-key']).toBe('order-1');
    expect((await client().batch.send([MAIL, MAIL])).data?.data).toHaveLength(2);
    expect((await client().domains.list()).error).toBeNull();
  });

  test("the provider's errors arrive as data", async () => {
    const { error } = await client().emails.get('00000000-0000-4000-8000-000000000000');
    expect(error).toMatchObject({ name: 'not_found', statusCode: 404 });
  });
});

test('vercel: rate limit headers are the provider’s own, and an event stream arrives line by line', async () => {
  const { baseUrl, key } = gateway.route('vercel');
  const answer = await fetch(`${baseUrl}/v3/deployments/dpl_one/events?follow=1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(await answer.text()).toBe(
    '{"type":"created","created":1767225600000}\n{"type":"ready","created":1767225600000}\n',
  );
  const user = await fetch(`${baseUrl}/v2/user`, { headers: { authorization: `Bearer ${key}` } });
  await user.arrayBuffer();
  expect(user.headers.get('x-ratelimit-limit')).toBe('600');
  expect(user.headers.get('x-ratelimit-reset')).toBe('1767225660');
});
