import { expect, test } from 'vitest';
import { buildChildEnvironment } from './child-environment.js';
import { knownVariablesOf, type UsedProvider } from './provider-variables.js';

const used = (...slugs: string[]): UsedProvider[] => slugs.map((slug) => ({ slug, variables: knownVariablesOf(slug) }));

const plan = {
  gatewayUrl: 'https://gw.example',
  token: 'acg_token',
  agent: 'bot',
  providers: [] as UsedProvider[],
  extra: [],
  keep: [],
};

test('the parent’s own object stays as it is, and what is neither a secret nor acg’s passes', () => {
  const parent = Object.freeze({
    PATH: '/bin',
    HTTPS_PROXY: 'http://p',
    NO_PROXY: 'x',
    OPENAI_API_KEY: 'sk',
    ACG_TOKEN: 't',
  });
  const { env, removed } = buildChildEnvironment(parent, plan);
  expect(env).toEqual({
    PATH: '/bin',
    HTTPS_PROXY: 'http://p',
    NO_PROXY: 'x',
    ACG_GATEWAY_URL: 'https://gw.example',
    ACG_GATEWAY_TOKEN: 'acg_token',
    ACG_AGENT: 'bot',
  });
  expect(removed).toEqual(['ACG_TOKEN', 'OPENAI_API_KEY']);
});

test('s3: keys, address and region; what names another identity goes', () => {
  const parent = { AWS_PROFILE: 'prod', AWS_SESSION_TOKEN: 's', AWS_REGION: 'eu-central-1', AWS_ROLE_ARN: 'arn' };
  const { env, remarks } = buildChildEnvironment(parent, { ...plan, providers: used('s3') });
  expect(env).toMatchObject({
    AWS_ENDPOINT_URL_S3: 'https://gw.example/v1/proxy/s3',
    AWS_ACCESS_KEY_ID: 'acg_token',
    AWS_SECRET_ACCESS_KEY: 'unused',
    AWS_REGION: 'eu-central-1',
  });
  expect(Object.keys(env)).not.toContain('AWS_PROFILE');
  expect(Object.keys(env)).not.toContain('AWS_SESSION_TOKEN');
  expect(Object.keys(env)).not.toContain('AWS_ROLE_ARN');
  expect(remarks.join()).toContain('forcePathStyle');
});

test('a custom provider: its URL is set, its key is removed, and its slug names no other variable', () => {
  const parent = { MY_LLM_API_KEY: 'k', LD_PRELOAD: 'mine' };
  const { env, removed } = buildChildEnvironment(parent, {
    ...plan,
    providers: used('my-llm', 'constructor', 'ld-preload'),
  });
  expect(env.ACG_MY_LLM_BASE_URL).toBe('https://gw.example/v1/proxy/my-llm');
  expect(env.ACG_CONSTRUCTOR_BASE_URL).toBe('https://gw.example/v1/proxy/constructor');
  expect(env.LD_PRELOAD).toBe('mine');
  expect(removed).toEqual(['MY_LLM_API_KEY']);
});

test('a provider of the gateway’s operator sets only variables that acg knows, or that are called like its slug', () => {
  const value = { value: '{url} {token}', keep: [] };
  const env = { OPENAI_BASE_URL: value, ACME_API_KEY: value, NODE_OPTIONS: value, LD_PRELOAD: value, PATH: value };
  const variables = { env, secretEnv: ['ACME_SECRET'], removeEnv: ['ACME_PROXY'], remark: 'use the SDK' };
  const child = buildChildEnvironment(
    { PATH: '/bin', ACME_SECRET: 's', ACME_PROXY: 'p' },
    { ...plan, providers: [{ slug: 'acme', variables }] },
  );
  expect(child.env).toEqual({
    PATH: '/bin',
    ACG_GATEWAY_URL: 'https://gw.example',
    ACG_GATEWAY_TOKEN: 'acg_token',
    ACG_AGENT: 'bot',
    ACG_ACME_BASE_URL: 'https://gw.example/v1/proxy/acme',
    OPENAI_BASE_URL: 'https://gw.example/v1/proxy/acme acg_token',
    ACME_API_KEY: 'https://gw.example/v1/proxy/acme acg_token',
  });
  expect(child.removed).toEqual(['ACME_PROXY', 'ACME_SECRET']);
  expect(child.remarks).toEqual(['acme: use the SDK']);
});

test('a kept variable stays although a provider sets it; a variable of the caller overrides it', () => {
  const options = {
    ...plan,
    providers: used('openai'),
    keep: ['OPENAI_API_KEY'],
    extra: [['OPENAI_BASE_URL', 'u']] as const,
  };
  const { env, removed } = buildChildEnvironment({ OPENAI_API_KEY: 'sk' }, options);
  expect(env).toMatchObject({ OPENAI_API_KEY: 'sk', OPENAI_BASE_URL: 'u' });
  expect(removed).toEqual([]);
});

test('on Windows names differ in case only', () => {
  const { env } = buildChildEnvironment({ openai_api_key: 'sk', acg_token: 't' }, plan);
  expect(Object.values(env)).not.toContain('sk');
  expect(Object.values(env)).not.toContain('t');
});
