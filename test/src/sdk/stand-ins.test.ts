/** The stand-ins take the real credential only: otherwise no test here would show that it was swapped in. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AnthropicStandIn } from '../providers/anthropic.js';
import { REAL } from '../providers/credentials.js';
import { OpenAiStandIn } from '../providers/openai.js';
import { ResendStandIn } from '../providers/resend.js';
import { S3StandIn } from '../providers/s3.js';
import type { StandIn } from '../providers/stand-in.js';
import { SupabaseStandIn } from '../providers/supabase.js';
import { VercelStandIn } from '../providers/vercel.js';

const standIns: Readonly<Record<string, StandIn>> = {
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
  ['openai', '/v1/models', 401, { authorization: `Bearer ${REAL.openai}`, 'x-api-key': TOKEN }],
  ['anthropic', '/v1/models', 401, { ...VERSION, 'x-api-key': TOKEN }],
  ['anthropic', '/v1/models', 401, { ...VERSION, 'x-api-key': REAL.anthropic, authorization: `Bearer ${TOKEN}` }],
  ['anthropic', '/v1/models', 400, { 'x-api-key': REAL.anthropic }],
  ['supabase', '/rest/v1/todos', 401, { apikey: TOKEN }],
  ['supabase', '/rest/v1/todos', 401, { apikey: REAL.supabase, authorization: `Bearer ${TOKEN}` }],
  ['vercel', '/v2/user', 403, { authorization: `Bearer ${TOKEN}` }],
  ['resend', '/domains', 403, { authorization: `Bearer ${TOKEN}` }],
  ['resend', '/domains', 401, {}],
  ['s3', '/bucket/key', 403, {}],
  ['s3', '/bucket/key', 403, { authorization: `Bearer ${REAL.s3.secretAccessKey}` }],
])('stand-in: %s %s answers %i to %j', async (slug, path, status, headers) => {
  const answer = await fetch(standIns[slug]!.origin + path, { headers });
  expect(answer.status).toBe(status);
});
