/** Code snippets that call a provider through the gateway. Only the address and the key differ from a direct call. */

interface CodeSnippet {
  readonly id: string;
  readonly label: string;
  readonly code: string;
}

interface SnippetSource {
  readonly providerSlug: string;
  /** Address of the data plane, without a trailing slash. */
  readonly gatewayUrl: string;
  /** The gateway token, or its placeholder. */
  readonly token: string;
  /** Undefined: no snippet for the CLI. */
  readonly run?: { readonly agent: string; readonly controlUrl: string } | undefined;
}

interface ProviderCode {
  /** Path that the provider's SDK expects after the gateway's provider path in its base URL. */
  readonly basePath: string;
  readonly snippets: (base: string, token: string) => readonly CodeSnippet[];
}

/** Placeholder of a token that is no longer shown. */
export const TOKEN_PLACEHOLDER = '$ACG_GATEWAY_TOKEN';
/** Placeholder used when the operator has not configured the public address of the data plane. */
export const GATEWAY_URL_PLACEHOLDER = 'https://YOUR-GATEWAY';

const OPENAI_MODEL = 'gpt-5-mini';
const ANTHROPIC_MODEL = 'claude-haiku-4-5';

export function codeSnippetsFor({ providerSlug, gatewayUrl, token, run }: SnippetSource): readonly CodeSnippet[] {
  const base = `${gatewayUrl}/v1/proxy/${providerSlug}`;
  const { basePath, snippets } = Object.hasOwn(PROVIDER_CODE, providerSlug)
    ? PROVIDER_CODE[providerSlug]!
    : UNKNOWN_PROVIDER_CODE;
  const command =
    run === undefined ? [] : [{ id: 'run', label: 'acg run', code: cliCommands(run.agent, run.controlUrl) }];
  return [
    ...snippets(base, token),
    ...command,
    { id: 'prompt', label: 'Prompt for a coding agent', code: codingAgentPrompt(base, basePath, providerSlug) },
  ];
}

const openaiSnippets = (base: string, token: string): readonly CodeSnippet[] => [
  {
    id: 'curl',
    label: 'curl',
    code: `curl ${base}/v1/chat/completions \\
  -H "authorization: Bearer ${token}" -H "content-type: application/json" \\
  -d '{"model":"${OPENAI_MODEL}","messages":[{"role":"user","content":"Say hello"}]}'`,
  },
  {
    id: 'python',
    label: 'Python',
    code: `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${token}")
answer = client.chat.completions.create(
    model="${OPENAI_MODEL}",
    messages=[{"role": "user", "content": "Say hello"}],
)
print(answer.choices[0].message.content)`,
  },
  {
    id: 'typescript',
    label: 'TypeScript',
    code: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${base}/v1', apiKey: '${token}' });
const answer = await client.chat.completions.create({
  model: '${OPENAI_MODEL}',
  messages: [{ role: 'user', content: 'Say hello' }],
});
console.log(answer.choices[0]?.message.content);`,
  },
  {
    id: 'ai-sdk',
    label: 'AI SDK',
    code: `import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';

const openai = createOpenAI({ baseURL: '${base}/v1', apiKey: '${token}' });
const { text } = await generateText({ model: openai('${OPENAI_MODEL}'), prompt: 'Say hello' });
console.log(text);`,
  },
];

const anthropicSnippets = (base: string, token: string): readonly CodeSnippet[] => [
  {
    id: 'curl',
    label: 'curl',
    code: `curl ${base}/v1/messages \\
  -H "authorization: Bearer ${token}" -H "content-type: application/json" -H "anthropic-version: 2023-06-01" \\
  -d '{"model":"${ANTHROPIC_MODEL}","max_tokens":100,"messages":[{"role":"user","content":"Say hello"}]}'`,
  },
  {
    id: 'python',
    label: 'Python',
    code: `from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key="${token}")
answer = client.messages.create(
    model="${ANTHROPIC_MODEL}",
    max_tokens=100,
    messages=[{"role": "user", "content": "Say hello"}],
)
print(answer.content[0].text)`,
  },
  {
    id: 'typescript',
    label: 'TypeScript',
    code: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${base}', apiKey: '${token}' });
const answer = await client.messages.create({
  model: '${ANTHROPIC_MODEL}',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Say hello' }],
});
console.log(answer.content);`,
  },
  {
    id: 'ai-sdk',
    label: 'AI SDK',
    code: `import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText } from 'ai';

const anthropic = createAnthropic({ baseURL: '${base}/v1', apiKey: '${token}' });
const { text } = await generateText({ model: anthropic('${ANTHROPIC_MODEL}'), prompt: 'Say hello' });
console.log(text);`,
  },
];

const curlSnippet = (base: string, token: string): CodeSnippet => ({
  id: 'curl',
  label: 'curl',
  code: `curl ${base}/PATH-OF-THE-PROVIDER \\\n  -H "authorization: Bearer ${token}"`,
});

/** For providers whose SDK only needs other constructor options. */
const sdkProviderCode = (code: (base: string, token: string) => string): ProviderCode => ({
  basePath: '',
  snippets: (base, token) => [
    curlSnippet(base, token),
    { id: 'typescript', label: 'TypeScript', code: code(base, token) },
  ],
});

const UNKNOWN_PROVIDER_CODE: ProviderCode = { basePath: '', snippets: (base, token) => [curlSnippet(base, token)] };

const PROVIDER_CODE: Readonly<Record<string, ProviderCode>> = {
  openai: { basePath: '/v1', snippets: openaiSnippets },
  anthropic: { basePath: '', snippets: anthropicSnippets },
  s3: sdkProviderCode(
    (base, token) => `import { S3Client } from '@aws-sdk/client-s3';

const s3 = new S3Client({
  endpoint: '${base}',
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: { accessKeyId: '${token}', secretAccessKey: 'unused' },
});`,
  ),
  supabase: sdkProviderCode(
    (base, token) => `import { createClient } from '@supabase/supabase-js';

const supabase = createClient('${base}', '${token}');`,
  ),
  vercel: sdkProviderCode(
    (base, token) => `import { Vercel } from '@vercel/sdk';

const vercel = new Vercel({ serverURL: '${base}', bearerToken: '${token}' });`,
  ),
  resend: sdkProviderCode(
    (base, token) => `import { Resend } from 'resend';

const resend = new Resend('${token}', { baseUrl: '${base}' });`,
  ),
};

const codingAgentPrompt = (
  base: string,
  basePath: string,
  providerSlug: string,
): string => `Make this project call ${providerSlug} through our credential gateway:
- Base URL of the SDK: ${base}${basePath}
- API key: the environment variable ACG_GATEWAY_TOKEN. Never write the token into a file that is committed.
- Change nothing else: same SDK, same models, same parameters. Remove the provider's own key and the code that reads it.
Then make one call and show me the response.`;

/**
 * `acg run` passes the gateway's addresses and a short-lived token in the environment; the program itself is unchanged.
 */
const cliCommands = (
  agent: string,
  controlUrl: string,
): string => `# The acg CLI ships with the gateway and is not in a registry.
# Build an installable package in its sources: npm pack -w controlplane/cli
acg login --url ${controlUrl}
acg run --agent ${agent} -- python agent.py`;
