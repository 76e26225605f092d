/** The stand-ins accept only the real credential. Otherwise no test would show that the gateway inserted it. */

import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import type { StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AnthropicStandIn } from '../stand-in-providers/anthropic.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { ResendStandIn } from '../stand-in-providers/resend.js';
import { S3StandIn } from '../stand-in-providers/s3.js';
import { SupabaseStandIn } from '../stand-in-providers/supabase.js';
import { VercelStandIn } from '../stand-in-providers/vercel.js';

const standIns: Readonly<Record<string, StandInProvider>> = {
  openai: new OpenAiStandIn(),
  anthropic: new AnthropicStandIn(),
  supabase: new SupabaseStandIn(),
  vercel: new VercelStandIn(),
  resend: new ResendStandIn(),
  s3: new S3StandIn(),
};

beforeAll(async () => {
  for (const standIn of Object.values(standIns)) await standIn.start();
});
afterAll(async () => {
  for (const standIn of Object.values(standIns)) await standIn.close();
});

const TOKEN = `acg_${'0'.repeat(64)}`;
const VERSION = { 'anthropic-version': '2023-06-01' };

test.each<[string, string, number, Record<string, string>]>([
  ['openai', '/v1/models', 401, {}],
  ['openai', '/v1/models', 401, { authorization: `Bearer ${TOKEN}` }],
  ['openai', '/v1/models', 401, { authorization: `Bearer ${PROVIDER_CREDENTIALS.openai}`, 'x-api-key': TOKEN }],
  ['anthropic', '/v1/models', 401, { ...VERSION, 'x-api-key': TOKEN }],
  [
    'anthropic',
    '/v1/models',
    401,
    { ...VERSION, 'x-api-key': PROVIDER_CREDENTIALS.anthropic, authorization: `Bearer ${TOKEN}` },
  ],
  ['anthropic', '/v1/models', 400, { 'x-api-key': PROVIDER_CREDENTIALS.anthropic }],
  ['supabase', '/rest/v1/todos', 401, { apikey: TOKEN }],
  ['supabase', '/rest/v1/todos', 401, { apikey: PROVIDER_CREDENTIALS.supabase, authorization: `Bearer ${TOKEN}` }],
  ['vercel', '/v2/user', 403, { authorization: `Bearer ${TOKEN}` }],
  ['resend', '/domains', 403, { authorization: `Bearer ${TOKEN}` }],
  ['resend', '/domains', 401, {}],
  ['s3', '/bucket/key', 403, {}],
  ['s3', '/bucket/key', 403, { authorization: `Bearer ${PROVIDER_CREDENTIALS.s3.secretAccessKey}` }],
])('stand-in: %s %s responds with %i to %j', async (slug, path, status, headers) => {
  const answer = await fetch(standIns[slug]!.origin + path, { headers });
  expect(answer.status).toBe(status);
});
