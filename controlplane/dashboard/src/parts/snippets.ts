/** How an agent calls a provider through the gateway, in several languages. Only address and key differ from a direct call. */

interface Snippet {
  readonly id: string;
  readonly label: string;
  readonly code: string;
}

interface SnippetSource {
  readonly providerSlug: string;
  /** Where agents call, without a trailing slash. */
  readonly gatewayUrl: string;
  /** The gateway token, or what stands for it. */
  readonly token: string;
  /** Undefined: then there is no snippet for the command line. */
  readonly run?: { readonly agent: string; readonly controlUrl: string } | undefined;
}

interface ProviderCode {
  /** What the base URL of its SDK has behind the provider's path on the gateway. */
  readonly basePath: string;
  readonly snippets: (base: string, token: string) => readonly Snippet[];
}

/** Stands for a token that is not shown any more. */
export const TOKEN_PLACE = '$ACG_GATEWAY_TOKEN';
/** Where the operator did not say where agents call. */
export const GATEWAY_PLACE = 'https://YOUR-GATEWAY';

const OPENAI_MODEL = 'gpt-5-mini';
const ANTHROPIC_MODEL = 'claude-haiku-4-5';

export function snippetsFor({ providerSlug, gatewayUrl, token, run }: SnippetSource): readonly Snippet[] {
  const base = `${gatewayUrl}/v1/proxy/${providerSlug}`;
  const { basePath, snippets } = Object.hasOwn(OF_PROVIDERS, providerSlug) ? OF_PROVIDERS[providerSlug]! : UNKNOWN;
  const command =
    run === undefined ? [] : [{ id: 'run', label: 'acg run', code: commandLine(run.agent, run.controlUrl) }];
  return [
    ...snippets(base, token),
    ...command,
    { id: 'prompt', label: 'Prompt for a coding agent', code: prompt(base, basePath, providerSlug) },
  ];
}

const openai = (base: string, token: string): readonly Snippet[] => [
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

const anthropic = (base: string, token: string): readonly Snippet[] => [
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

const curl = (base: string, token: string): Snippet => ({
  id: 'curl',
  label: 'curl',
  code: `curl ${base}/PATH-OF-THE-PROVIDER \\\n  -H "authorization: Bearer ${token}"`,
});

/** Where an SDK needs no more than to be made otherwise. */
const withSdk = (code: (base: string, token: string) => string): ProviderCode => ({
  basePath: '',
  snippets: (base, token) => [curl(base, token), { id: 'typescript', label: 'TypeScript', code: code(base, token) }],
});

const UNKNOWN: ProviderCode = { basePath: '', snippets: (base, token) => [curl(base, token)] };

const OF_PROVIDERS: Readonly<Record<string, ProviderCode>> = {
  openai: { basePath: '/v1', snippets: openai },
  anthropic: { basePath: '', snippets: anthropic },
  s3: withSdk(
    (base, token) => `import { S3Client } from '@aws-sdk/client-s3';

const s3 = new S3Client({
  endpoint: '${base}',
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: { accessKeyId: '${token}', secretAccessKey: 'unused' },
});`,
  ),
  supabase: withSdk(
    (base, token) => `import { createClient } from '@supabase/supabase-js';

const supabase = createClient('${base}', '${token}');`,
  ),
  vercel: withSdk(
    (base, token) => `import { Vercel } from '@vercel/sdk';

const vercel = new Vercel({ serverURL: '${base}', bearerToken: '${token}' });`,
  ),
  resend: withSdk(
    (base, token) => `import { Resend } from 'resend';

const resend = new Resend('${token}', { baseUrl: '${base}' });`,
  ),
};

const prompt = (
  base: string,
  basePath: string,
  providerSlug: string,
): string => `Make this project call ${providerSlug} through our gateway:
- Base URL of the SDK: ${base}${basePath}
- API key: the environment variable ACG_GATEWAY_TOKEN. Never write the token into a file that is committed.
- Change nothing else: same SDK, same models, same parameters. Take out the provider's own key where it is read.
Then make one call and show me its answer.`;

/** The program gets the gateway's addresses and a token of its own in its environment; nothing in it changes. */
const commandLine = (agent: string, controlUrl: string): string => `# acg comes with this gateway and is in no registry:
# npm pack -w controlplane/cli in its sources makes what is installed
acg login --url ${controlUrl}
acg run --agent ${agent} -- python agent.py`;
