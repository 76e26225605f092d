/**
 * What holds for every provider file, built in or added: the credential arrives exactly as the file declares and the
 * gateway token nowhere, secrets are masked, sensitive and opaque calls are rejected in every spelling, and models,
 * failures, the probe and usage are as declared. A new file is tested without a change here.
 */
import { createHash, createHmac } from 'node:crypto';
import { getCallRules } from '@acg/base/policy/call-rules';
import type { Provider } from '@acg/controlplane/providers/catalogue/provider';
import type { InjectionRule, ProviderFile } from '@acg/controlplane/providers/catalogue/provider-definition';
import { probeCredential } from '@acg/controlplane/providers/credential-probe';
import { GATEWAY_TOKEN } from '@acg/dataplane/call/testing/proxy-fixture';
import type { Upstream } from '@acg/dataplane/context/agent-context';
import { CircuitOutcome } from '@acg/proto/messages';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_ALLOWED, bearer, ProvidersUnderTest, type RecordedCall } from './provider-under-test.js';

type Credentials = Readonly<Record<string, string>>;
type CallRule = NonNullable<ProviderFile['sensitive']>[number];

const suite = await ProvidersUnderTest.start();
afterAll(() => suite.stop());

/** Independent of the gateway's own templates. */
const fill = (template: string, credentials: Credentials): string =>
  template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => credentials[name] ?? `{missing ${name}}`);
const templatesOf = ({ value, path, basic, sigv4 }: InjectionRule): string[] =>
  [value, path, basic?.username, basic?.password, sigv4?.accessKeyId, sigv4?.secretAccessKey].filter(
    (template) => template !== undefined,
  );
const isComplete = (rule: InjectionRule, credentials: Credentials): boolean =>
  templatesOf(rule).every((template) => !fill(template, credentials).includes('{missing'));

const rulesAt = ({ file }: Provider, origin: string, credentials: Credentials): InjectionRule[] =>
  file!.inject.filter((rule) => (rule.origin ?? origin) === origin && isComplete(rule, credentials));

/** Credentials of the file's tests, and these with only the required fields. */
function credentialSets({ file }: Provider): Credentials[] {
  const all = file!.tests.credentials;
  const required = file!.credentials.fields.filter((field) => field.required).map(({ name }) => [name, all[name]!]);
  return [all, Object.fromEntries(required)];
}

/** Values of secret fields that a request carries; a signature does not contain its key. */
function sentSecrets({ file }: Provider, rules: readonly InjectionRule[], credentials: Credentials): string[] {
  const sent = rules.flatMap((rule) => (rule.sigv4 ? [rule.sigv4.sessionToken ?? ''] : templatesOf(rule))).join();
  return file!.credentials.fields
    .filter(({ name, secret }) => secret && sent.includes(`{${name}}`) && credentials[name] !== undefined)
    .map(({ name }) => credentials[name]!);
}

const proxyNameOf = ({ slug }: Provider, origin: string): string => (origin === 'default' ? slug : `${slug}:${origin}`);

interface TokenPlace {
  readonly name: string;
  readonly headers?: Record<string, string>;
  readonly query?: string;
  readonly pathPrefix?: string;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Where clients put the token: the places that always count, and those where this provider's own SDK puts its key. */
function tokenPlaces(rules: readonly InjectionRule[]): TokenPlace[] {
  const own = rules.flatMap((rule): TokenPlace[] => {
    const prefix = (rule.value ?? rule.path ?? '').split('{')[0]!;
    if (rule.path !== undefined) return [{ name: 'the path', pathPrefix: `${prefix}${GATEWAY_TOKEN}` }];
    if (rule.query !== undefined) return [{ name: `?${rule.query}`, query: `${rule.query}=${GATEWAY_TOKEN}` }];
    if (rule.header === undefined || !/\{\w+\}$/.test(rule.value!)) return [];
    return [{ name: `its own ${rule.header}`, headers: { [rule.header]: `${prefix}${GATEWAY_TOKEN}` } }];
  });
  return [
    { name: 'Bearer', headers: bearer },
    { name: 'x-api-key', headers: { 'x-api-key': GATEWAY_TOKEN } },
    { name: 'the password', headers: { authorization: `Basic ${base64(`user:${GATEWAY_TOKEN}`)}` } },
    { name: 'the user name', headers: { authorization: `Basic ${base64(`${GATEWAY_TOKEN}:`)}` } },
    { name: 'a bare value', headers: { authorization: GATEWAY_TOKEN } },
    { name: 'another scheme', headers: { authorization: `Token token="${GATEWAY_TOKEN}"` } },
    { name: 'another header', headers: { 'x-vendor-token': GATEWAY_TOKEN } },
    { name: '?apikey', query: `apikey=${GATEWAY_TOKEN}` },
    { name: 'another parameter', query: `a=1&some%2Dkey=${GATEWAY_TOKEN.replace('0', '%30')}&b=2` },
    ...own,
    {
      name: 'several places',
      headers: { ...bearer, 'x-note': `token ${GATEWAY_TOKEN} twice`, 'x-copy': GATEWAY_TOKEN },
      query: `copy=${GATEWAY_TOKEN}&note=a${GATEWAY_TOKEN}b`,
    },
  ];
}

/** Everything that the provider received, also decoded. */
function readable({ url, rawHeaders, body }: RecordedCall): string {
  const sent = [url, ...rawHeaders, body.toString('latin1')].join('\n');
  const decoded = [...sent.matchAll(/[A-Za-z0-9+/]{40,}={0,2}/g)].map(([text]) =>
    Buffer.from(text, 'base64').toString(),
  );
  return [sent, decodeURIComponent(url), ...decoded].join('\n').toLowerCase();
}

/** The path that no rule of a provider names. */
const PATH = '/acg-suite/items';

function expectInjected(
  call: RecordedCall,
  rules: readonly InjectionRule[],
  credentials: Credentials,
  from: TokenPlace,
) {
  const url = new URL(call.url, 'http://provider');
  rules.forEach((rule, i) => {
    if (rule.header !== undefined) {
      const tokenHeader = Object.keys(from.headers ?? {})[0] ?? '';
      const isMain = i === rules.findIndex((one) => one.path === undefined);
      const other = isMain ? rule.alternatives?.find(({ header }) => header === tokenHeader) : undefined;
      expect(call.headers[other?.header ?? rule.header]).toBe(fill((other ?? rule).value!, credentials));
      if (other !== undefined) expect(call.headers[rule.header]).toBeUndefined();
      if (rule.alsoBearerUnlessUserJwt)
        expect(call.headers.authorization).toBe(`Bearer ${fill(rule.value!, credentials)}`);
    }
    if (rule.query !== undefined) expect(url.searchParams.getAll(rule.query)).toEqual([fill(rule.value!, credentials)]);
    if (rule.path !== undefined)
      expect(decodeURIComponent(url.pathname)).toBe(`${fill(rule.path, credentials)}${PATH}`);
    if (rule.basic !== undefined) {
      const pair = `${fill(rule.basic.username, credentials)}:${fill(rule.basic.password, credentials)}`;
      expect(call.headers.authorization).toBe(`Basic ${base64(pair)}`);
    }
    if (rule.sigv4 !== undefined) expectSigned(call, rule.sigv4, credentials);
  });
  if (!rules.some(({ path }) => path !== undefined)) expect(url.pathname).toBe(PATH);
}

/** Signature Version 4, written from its specification. */
function expectSigned(call: RecordedCall, rule: NonNullable<InjectionRule['sigv4']>, credentials: Credentials): void {
  const [, id, date, region, service, names, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      call.headers.authorization!,
    )!;
  expect([id, region, service]).toEqual([
    fill(rule.accessKeyId, credentials),
    fill(rule.region, credentials),
    rule.service,
  ]);
  const [path, query = ''] = call.url.split('?') as [string, string?];
  const sha = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const canonical = [
    call.method,
    service === 's3' ? path : path.split('/').map(encodeURIComponent).join('/'),
    query.split('&').sort().join('&'),
    ...names!.split(';').map((name) => `${name}:${String(call.headers[name])}`),
    '',
    names,
    call.headers['x-amz-content-sha256'],
  ].join('\n');
  const stated = call.headers['x-amz-content-sha256'];
  if (stated !== 'UNSIGNED-PAYLOAD') expect(stated).toBe(sha(call.body));
  else expect(service, 'only S3 accepts an unsigned payload').toBe('s3');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', call.headers['x-amz-date'], scope, sha(canonical)].join('\n');
  const secret = fill(rule.secretAccessKey, credentials);
  const key = [date!, region!, service!, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  expect(signature).toBe(hmac(key, text).toString('hex'));
}

/** Some path, method and parameters that the rule matches. `tail`: what `**` stands for. */
function sampleOf(rule: CallRule, tail: string) {
  const [method, pattern] = rule.call.split(' ') as [string, string];
  const path = pattern.replaceAll('/**', tail).replaceAll('**', tail.slice(1)).replaceAll('*', 'x1');
  const query = rule.query === undefined ? null : `a=1&${rule.query[0]!.replaceAll('*', 'x1')}=v`;
  const headers = rule.headers === undefined ? [] : [rule.headers[0]!.replaceAll('*', 'read'), 'public'];
  return { method: method === '*' ? 'POST' : method, path: path === '' ? '/' : path, query, headers };
}

const percentEncode = (text: string): string =>
  text.replaceAll(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);

/** Spellings that a provider may take for the same path. */
const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
  'as it is': (path) => path,
  'in upper case': (path) => path.toUpperCase(),
  'with doubled slashes': (path) => path.replaceAll('/', '//'),
  'with a slash at the end': (path) => `${path}/`,
  'with escaped letters': (path) => percentEncode(path),
  'with letters escaped twice': (path) => percentEncode(path).replaceAll('%', '%25'),
  'with escaped slashes': (path) => `/${path.slice(1).replaceAll('/', '%2f')}`,
  'with parameters of segments': (path) => path.replaceAll(/([^/])(?=\/|$)/g, '$1;v=1'),
  'with dot segments': (path) => `/zz/../.${path}`,
};

function expectRejectedInEverySpelling(
  rule: CallRule,
  isRejected: (method: string, path: string, query: string | null, headers: readonly string[]) => boolean,
): void {
  for (const tail of ['', '/x1/y2']) {
    const { method, path, query, headers } = sampleOf(rule, tail);
    for (const [name, spell] of Object.entries(SPELLINGS)) {
      const spelled = spell(path);
      expect(isRejected(method, spelled, query, headers), `${rule.call} ${name}: ${method} ${spelled}`).toBe(true);
      if (query === null) continue;
      expect(isRejected(method, spelled, percentEncode(query), headers), `${rule.call} with an escaped query`).toBe(
        true,
      );
    }
  }
  const { method, path, query } = sampleOf(rule, '');
  expect(isRejected(method, path, query, ['x-http-method-override', 'GET']), 'method override').toBe(true);
  expect(isRejected('GET', '/harmless', '_method=DELETE', []), '_method').toBe(true);
}

describe.each(suite.catalogue.providers.map((provider) => [provider.slug, provider] as const))(
  '%s',
  (slug, provider) => {
    const file = provider.file!;
    const { credentials } = file.tests;
    let upstreams: readonly (readonly [origin: string, upstream: Upstream])[];
    beforeAll(() => {
      const context = suite.assign(provider, credentials);
      upstreams = provider.originNames.map((origin) => [
        origin,
        origin === 'default' ? context.upstreams.get(slug)! : context.namedOrigins.get(proxyNameOf(provider, origin))!,
      ]);
      suite.respond = () => ({ status: 200 });
    });

    test('the credential arrives exactly as declared, and the gateway token nowhere', async () => {
      for (const given of credentialSets(provider)) {
        suite.assign(provider, given, ALL_ALLOWED);
        for (const origin of provider.originNames) {
          const rules = rulesAt(provider, origin, given);
          for (const place of tokenPlaces(rules)) {
            const target = `${proxyNameOf(provider, origin)}${place.pathPrefix ?? ''}${PATH}`;
            const query = place.query === undefined ? '' : `?${place.query}`;
            const body = 'hello';
            const answer = await suite.call(`${target}${query}`, { method: 'PUT', headers: place.headers ?? {}, body });
            const why = `${place.name} at ${origin}: ${await answer.text()}`;
            expect([answer.status, suite.calls.length], why).toEqual([200, 1]);
            const [call] = suite.calls as [RecordedCall];
            expectInjected(call, rules, given, place);
            expect(readable(call), `the token in ${place.name} at ${origin}`).not.toContain('acg_0123');
            expect(call.body.toString()).toBe(body);
          }
        }
      }
    });

    test('a path with the token elsewhere, and a token that the gateway does not know, never reach the provider', async () => {
      suite.assign(provider, credentials, ALL_ALLOWED);
      for (const path of [`/x/${GATEWAY_TOKEN}`, `/x/${percentEncode(GATEWAY_TOKEN)}/y`, `/x/a${GATEWAY_TOKEN}b`]) {
        expect((await suite.call(`${slug}${path}`, { headers: bearer })).status).toBe(400);
      }
      const unknown = { authorization: `Bearer acg_${'f'.repeat(64)}` };
      expect((await suite.call(`${slug}${PATH}`, { headers: unknown })).status).toBe(401);
      expect((await suite.call(`${slug}/other${GATEWAY_TOKEN}/x`)).status).toBe(401);
      expect((await suite.call(`${slug}:nowhere${PATH}`, { headers: bearer })).status).toBe(404);
      expect(suite.calls).toEqual([]);
    });

    test('what the account decides is removed from the client’s request', async () => {
      suite.assign(provider, credentials, ALL_ALLOWED);
      const dropped = (file.drop ?? []).filter(
        (rule) => rule.with === undefined || credentials[rule.with] !== undefined,
      );
      const injected = rulesAt(provider, 'default', credentials);
      const names = (kind: 'header' | 'query') =>
        [...dropped, ...injected]
          .map((rule) => rule[kind])
          .filter((name) => name !== undefined && name !== 'authorization');
      const headers = Object.fromEntries(names('header').map((name) => [name!, 'of the client']));
      const query = names('query').map((name) => `${encodeURIComponent(name!)}=of-the-client`);
      const answer = await suite.call(`${slug}${PATH}?${query.join('&')}`, { headers: { ...headers, ...bearer } });
      expect(answer.status).toBe(200);
      expect(readable(suite.calls[0]!)).not.toMatch(/of[ -]the[ -]client/);
    });

    test('secrets are masked in headers, body and Location of the response', async () => {
      suite.assign(provider, credentials, ALL_ALLOWED);
      for (const origin of provider.originNames) {
        suite.respond = (call) => ({
          status: 200,
          headers: {
            'x-echo': `${call.headers.authorization ?? ''} ${JSON.stringify(call.headers)} ${call.url}`,
            location: `${suite.recorderOrigin}${call.url}`,
          },
          body: JSON.stringify({ headers: call.headers, url: call.url, decoded: decodeURIComponent(call.url) }),
        });
        const answer = await suite.call(`${proxyNameOf(provider, origin)}${PATH}`, { headers: bearer });
        const received = JSON.stringify([...answer.headers]) + (await answer.text());
        const rules = rulesAt(provider, origin, credentials);
        for (const secret of sentSecrets(provider, rules, credentials)) {
          for (const form of [secret, encodeURIComponent(secret), base64(`:${secret}`).slice(4)]) {
            expect(received, `a secret at ${origin}`).not.toContain(form);
          }
        }
        expect(answer.headers.get('location')).not.toContain(suite.recorderOrigin);
      }
      suite.respond = () => ({ status: 200 });
    });

    test('sensitive calls are rejected in every spelling, unless the account allows them', async () => {
      for (const [origin, upstream] of upstreams) {
        const rules = getCallRules(upstream);
        for (const rule of (file.sensitive ?? []).filter((one) => (one.origin ?? origin) === origin)) {
          expectRejectedInEverySpelling(rule, (...call) => rules!.isSensitive(...call));
        }
      }
      const [rule] = file.sensitive ?? [];
      if (rule === undefined) return;
      const { method, path, query, headers } = sampleOf(rule, '/x1');
      const target = `${proxyNameOf(provider, rule.origin ?? 'default')}${path}${query === null ? '' : `?${query}`}`;
      const init = { method, headers: { ...bearer, ...(headers.length === 0 ? {} : { [headers[0]!]: headers[1]! }) } };
      suite.assign(provider, credentials);
      const rejected = await suite.call(target, init);
      expect([rejected.status, ((await rejected.json()) as { denied?: string }).denied]).toEqual([
        403,
        'sensitive_path',
      ]);
      expect(suite.calls).toEqual([]);
      suite.assign(provider, credentials, ALL_ALLOWED);
      expect((await suite.call(target, init)).status).toBe(200);
    });

    test('opaque calls are rejected in every spelling, unless the account allows them', async () => {
      for (const [origin, upstream] of upstreams) {
        const rules = getCallRules(upstream);
        for (const rule of (file.opaque ?? []).filter((one) => (one.origin ?? origin) === origin)) {
          expectRejectedInEverySpelling(rule, (...call) => rules!.isOpaque(...call));
        }
      }
      const [rule] = file.opaque ?? [];
      if (rule === undefined) return;
      const { method, path } = sampleOf(rule, '/x1');
      const target = `${proxyNameOf(provider, rule.origin ?? 'default')}${path}`;
      suite.assign(provider, credentials, { allowSensitivePaths: true, allowOpaque: false });
      const rejected = await suite.call(target, { method, headers: bearer });
      expect([rejected.status, ((await rejected.json()) as { denied?: string }).denied]).toEqual([403, 'opaque']);
      suite.assign(provider, credentials, ALL_ALLOWED);
      expect((await suite.call(target, { method, headers: bearer })).status).toBe(200);
    });

    test.skipIf(file.tests.modelCall === undefined)('a policy reads the model of a call', async () => {
      const { method, path, headers = {}, body } = file.tests.modelCall!;
      const init = {
        method,
        headers: { 'content-type': 'application/json', ...headers, ...bearer },
        body: JSON.stringify(body),
      };
      suite.assign(provider, credentials, ALL_ALLOWED, {
        models: { allow: { patterns: ['acg-no-such-model'] }, deny: [] },
      });
      const rejected = await suite.call(`${slug}${path}`, init);
      const { denied, value } = (await rejected.json()) as { denied?: string; value?: string };
      expect([rejected.status, denied]).toEqual([403, 'model']);
      expect(value).not.toBe('');
      suite.assign(provider, credentials, ALL_ALLOWED, { models: { allow: { patterns: [value!] }, deny: [] } });
      expect((await suite.call(`${slug}${path}`, init)).status).toBe(200);
      suite.assign(provider, credentials, ALL_ALLOWED, { models: { deny: [value!.toUpperCase()] } });
      expect((await suite.call(`${slug}${path}`, init)).status).toBe(403);
    });

    test('its own failures are the declared ones', async () => {
      suite.assign(provider, credentials, ALL_ALLOWED);
      const { statuses, exemptMarker } = file.failure;
      const outcomeOf = async (status: number, body: string): Promise<boolean> => {
        suite.gateway.records.length = 0;
        suite.respond = () => ({ status, body });
        await (await suite.call(`${slug}${PATH}`, { headers: bearer })).arrayBuffer();
        await expect.poll(() => suite.gateway.records.length).toBe(1);
        return suite.gateway.records[0]!.circuitOutcome === CircuitOutcome.FAILURE;
      };
      for (const status of [...new Set([400, 401, 403, 404, 429, 500, 501, 502, 503, 504, 529, ...statuses])]) {
        expect(await outcomeOf(status, 'x'), `status ${status}`).toBe(statuses.includes(status));
        if (exemptMarker !== undefined)
          expect(await outcomeOf(status, `<Code>${exemptMarker}</Code>`), `status ${status} with its marker`).toBe(
            false,
          );
      }
      suite.respond = () => ({ status: 200 });
    });

    test('the probe sends the credential and reads the answer as declared', async () => {
      const { probe } = file;
      const dispatcher = new Agent();
      const run = async (status: number, body: string) => {
        suite.calls.length = 0;
        suite.respond = () => ({ status, body });
        return probeCredential(provider, credentials, () => dispatcher);
      };
      if ('none' in probe) {
        expect((await run(200, '')).call).toBeNull();
      } else {
        expect(await run(200, '{}')).toMatchObject({ status: 200, refused: false });
        const [call] = suite.calls as [RecordedCall];
        const rules = rulesAt(provider, probe.origin ?? 'default', credentials);
        expect(call.method).toBe('GET');
        expect(call.headers).toMatchObject(probe.headers ?? {});
        expect(decodeURIComponent(call.url)).toContain(decodeURIComponent(probe.path));
        for (const secret of sentSecrets(provider, rules.slice(0, 1), credentials)) {
          const decoded = [call.url, decodeURIComponent(call.url), ...call.rawHeaders, basicPair(call)].join('\n');
          expect(decoded).toContain(secret);
        }
        for (const { status = 401, body = '' } of probe.refused) {
          // The pattern itself is a text that it matches, for patterns without operators; others are tried by status only.
          const sample = /^[\w"': ,-]*$/.test(body) ? body : null;
          if (sample !== null) expect(await run(status, sample), body).toMatchObject({ status, refused: true });
        }
        expect(await run(500, 'x')).toMatchObject({ refused: false });
        expect(JSON.stringify(await run(200, ''))).not.toContain(
          Object.values(credentials).find((value) => value.length > 12),
        );
      }
      suite.respond = () => ({ status: 200 });
      await dispatcher.close();
    });

    test.skipIf(file.tests.usage === undefined)('its usage is read', async () => {
      const { method, path, headers = {}, body } = file.tests.modelCall!;
      const usage = file.tests.usage!;
      suite.assign(provider, credentials, ALL_ALLOWED);
      suite.gateway.records.length = 0;
      suite.respond = () => ({
        status: usage.status ?? 200,
        headers: { 'content-type': 'application/json', ...usage.headers },
        body: typeof usage.body === 'string' ? usage.body : JSON.stringify(usage.body),
      });
      const init = {
        method,
        headers: { 'content-type': 'application/json', ...headers, ...bearer },
        body: JSON.stringify(body),
      };
      await (await suite.call(`${slug}${path}`, init)).arrayBuffer();
      await expect.poll(() => suite.gateway.records.length).toBe(1);
      const { tokensInUncached, tokensCacheRead, tokensCacheWrite, tokensOut, usageSource, costNanos } =
        suite.gateway.records[0]!;
      const tokensIn = Number(tokensInUncached) + Number(tokensCacheRead) + Number(tokensCacheWrite);
      expect([tokensIn, Number(tokensOut), usageSource]).toEqual([usage.tokensIn, usage.tokensOut, 'reported']);
      expect(Number(costNanos)).toBeGreaterThan(0);
      suite.respond = () => ({ status: 200 });
    });
  },
);

const basicPair = ({ headers }: RecordedCall): string =>
  Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
