/** The sensitive calls of the built-in providers, as data planes match them. */

import { SensitiveCallDetector } from '@acg/base/policy/detect-sensitive-calls';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { expect, test } from 'vitest';

const catalogue = new Catalogue();

function isSensitiveCall(slug: string, line: string, headers: readonly string[] = []): boolean {
  const [method, target] = line.split(' ') as [string, string];
  const [path, query] = target.split('?') as [string, string | undefined];
  const calls = catalogue.get(slug)!.rules.sensitive!.map((call) => ({
    call: call.call,
    query: call.query ?? [],
    headers: call.headers ?? [],
    harmlessValues: call.harmlessValues ?? [],
  }));
  return new SensitiveCallDetector(calls).matches(method, '', path, query ?? null, headers);
}

test.each([
  ['openai', 'GET /v1/organization/admin_api_keys'],
  ['openai', 'POST /v1/organization/projects/p/service_accounts'],
  ['openai', 'POST /v1/realtime/client_secrets'],
  ['openai', 'POST /v1/realtime/sessions'],
  ['openai', 'POST /v1/realtime/transcription_sessions'],
  ['openai', 'POST /v1/realtime/calls'],
  ['openai', 'POST /v1/realtime/calls/rtc_1/accept'],
  ['openai', 'POST /v1/chatkit/sessions'],
  ['openai', 'POST /V1//Realtime/Client_Secrets/'],
  ['openai', 'POST /v1/projects/p/roles'],
  ['openai', 'POST /v1/projects/p/users/u/roles'],
  ['openai', 'POST /v1/fine_tuning/checkpoints/m/permissions'],
  ['openai', 'DELETE /v1/fine_tuning/checkpoints/m/permissions/p'],
  ['anthropic', 'POST /v1/organizations/invites'],
  ['resend', 'POST /api-keys'],
  ['resend', 'DELETE /api-keys/7'],
  ['vercel', 'POST /v3/user/tokens'],
  ['vercel', 'GET /v5/user/tokens/current'],
  ['vercel', 'POST /v2/oauth/access_token'],
  ['vercel', 'GET /v1/integrations/installation/x/access_token'],
  ['vercel', 'POST /v1/teams/t/members'],
  ['vercel', 'PATCH /v1/projects/p/protection-bypass'],
  ['vercel', 'POST /v1/edge-config/e/token'],
  ['vercel', 'GET /v1/edge-config/e/token/t'],
  ['vercel', 'GET /v1/edge-config/e/tokens'],
  ['vercel', 'POST /v1/projects/p/members'],
  ['vercel', 'POST /v1/access-groups'],
  ['vercel', 'POST /v1/access-groups/g/projects'],
  ['vercel', 'POST /v1/projects/p/transfer-request'],
  ['vercel', 'PUT /v1/projects/transfer-request/code'],
  ['vercel', 'GET /v9/projects/p/env?decrypt=true'],
  ['vercel', 'GET /v1/projects/p/env/e'],
  ['vercel', 'GET /v1/env/e'],
  ['supabase', 'POST /auth/v1/admin/users'],
  ['supabase', 'POST /auth/v1/invite'],
  ['supabase', 'POST /pg/query'],
  ['supabase', 'GET /realtime/v1/api/tenants/t'],
  ['supabase', 'POST /auth/v1/%61dmin/generate_link'],
  ['s3', 'GET /bucket?session'],
  ['s3', 'GET /minio/admin/v3/export-iam'],
  ['s3', 'PUT /minio/admin/v3/set-user-or-group-policy'],
  ['s3', 'POST /minio/kms/v1/key/create'],
  ['s3', 'POST /?Action=CreateAccessKey'],
  ['s3', 'GET /?Act%69on=AssumeRole'],
  ['s3', 'POST /'],
  ['s3', 'GET /admin/user?uid=u'],
  ['s3', 'PUT /admin/metadata/user?key=u'],
  ['s3', 'PUT /?ostor-users&emailAddress=a'],
  ['s3', 'GET /v20180820/accessgrantsinstance/dataaccess'],
  ['s3', 'PUT /bucket?inventory&id=1'],
  ['s3', 'PUT /bucket?analytics&id=1'],
  ['s3', 'PUT /bucket?abac'],
  ['s3', 'PUT /bucket?policy'],
  ['s3', 'PUT /bucket/key?acl'],
  ['s3', 'DELETE /bucket?publicAccessBlock'],
  ['s3', 'PUT /bucket?ownershipControls'],
  ['s3', 'PUT /bucket?replication'],
  ['s3', 'PUT /bucket?website'],
  ['s3', 'PUT /bucket?notification'],
  ['s3', 'PUT /bucket?logging'],
  ['s3', 'PUT /bucket?object-lock'],
  ['s3', 'PUT /bucket/key?X-Amz-Acl=public-read'],
  ['gitlab', 'PUT /api/v4/projects/7'],
  ['gitlab', 'PUT /api/v4/projects/a%2Fb'],
  ['gitlab', 'PUT /api/v4/projects/a%2Fb%2Fc'],
  ['gitlab', 'PUT /api/v4/projects%2Fa%252Fb%252Fc'],
  ['gitlab', 'PUT /api/v4/groups/a%2fb%2fc'],
  ['gitlab', 'POST /api/v4/projects/a%2Fb%2Fc/members'],
  ['gitlab', 'POST /api/v4/groups/a%2Fb/members/'],
  ['gitlab', 'POST /api/v4/projects/a%2Fb/hooks'],
  ['gitlab', 'POST /api/v4/hooks'],
  ['gitlab', 'PUT /api/v4/projects/a%2Fb/hooks/1'],
  ['gitlab', 'PUT /api/v4/projects/a%2Fb/integrations/slack'],
  ['gitlab', 'POST /api/v4/projects/a%2Fb/protected_branches.json'],
  ['gitlab', 'PUT /api/v4/projects/a%2Fb/repository/branches/feature%2Fx/unprotect'],
  ['gitlab', 'GET /api/v4/projects/a%2Fb/variables'],
  ['gitlab', 'POST /api/v4/groups/a%2Fb/saml/7'],
])('sensitive calls: %s rejects %s', (slug, line) => {
  expect(isSensitiveCall(slug, line)).toBe(true);
});

test.each([
  ['openai', 'POST /v1/chat/completions'],
  ['openai', 'GET /v1/models'],
  ['anthropic', 'POST /v1/messages'],
  ['resend', 'POST /emails'],
  ['vercel', 'GET /v2/user'],
  ['vercel', 'GET /v1/teams/t'],
  ['vercel', 'GET /v9/projects/p/env'],
  ['vercel', 'POST /v10/projects/p/env'],
  ['vercel', 'GET /v1/edge-config/e/item/i'],
  ['supabase', 'POST /realtime/v1/api/broadcast'],
  ['supabase', 'POST /auth/v1/signup'],
  ['openai', 'POST /v1/fine_tuning/jobs'],
  ['supabase', 'POST /auth/v1/token?grant_type=password'],
  ['supabase', 'GET /rest/v1/table?select=*'],
  ['s3', 'GET /bucket?policy'],
  ['s3', 'GET /'],
  ['s3', 'POST /bucket?delete'],
  ['s3', 'GET /admin/report.csv'],
  ['s3', 'GET /bucket?inventory'],
  ['s3', 'PUT /bucket/key?partNumber=1&uploadId=x'],
  ['s3', 'GET /bucket?list-type=2'],
  ['gitlab', 'GET /api/v4/projects/a%2Fb%2Fc'],
  ['gitlab', 'PUT /api/v4/projects/a%2Fb/issues/1'],
  ['gitlab', 'POST /api/v4/projects/a%2Fb/repository/files/src%2Fhooks%2Fmembers%2Fx.ts'],
])('sensitive calls: %s allows %s', (slug, line) => {
  expect(isSensitiveCall(slug, line)).toBe(false);
});

test('sensitive calls: rejects public objects and objects for another account, allows the two plain settings', () => {
  expect(isSensitiveCall('s3', 'PUT /b/k', ['x-amz-acl', 'public-read'])).toBe(true);
  expect(isSensitiveCall('s3', 'PUT /b/k', ['x-amz-grant-full-control', 'id=1'])).toBe(true);
  expect(isSensitiveCall('s3', 'PUT /b/k', ['x-amz-acl', 'private'])).toBe(false);
  expect(isSensitiveCall('s3', 'PUT /b/k', ['x-amz-acl', 'bucket-owner-full-control'])).toBe(false);
});

test.each(catalogue.providers)('sensitive calls: $slug lists them or says why there are none', ({ file }) => {
  const { sensitive = [], reviewed } = file!;
  expect(sensitive.length === 0, 'sensitive is empty exactly where reviewed.withoutSensitive says why').toBe(
    reviewed.withoutSensitive !== undefined,
  );
  for (const { call, why } of sensitive) expect(why.length, `why of ${call}`).toBeGreaterThan(10);
});
