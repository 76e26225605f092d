/**
 * Lists the variables that the providers' SDKs read: those that point them to the gateway, and those that a child must
 * not have, because they contain a provider credential or bypass the gateway.
 */

interface ProviderRoute {
  /** URL of the provider's path on the gateway, without a trailing slash. */
  readonly url: string;
  /** The gateway token. */
  readonly token: string;
  /** The parent's variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface ProviderVariables {
  readonly set: (route: ProviderRoute) => Readonly<Record<string, string>>;
  /** Removed from every child, whether or not its agent may use the provider. */
  readonly secrets: readonly string[];
  /** Removed when the child uses the provider through the gateway. */
  readonly remove?: readonly string[];
  /** Describes what variables cannot configure. */
  readonly remark?: string;
}

export const BUILT_IN_PROVIDERS: Readonly<Record<string, ProviderVariables>> = {
  openai: {
    set: ({ url, token }) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: token }),
    secrets: ['OPENAI_API_KEY', 'OPENAI_ADMIN_KEY'],
    remove: ['OPENAI_ORG_ID', 'OPENAI_ORGANIZATION', 'OPENAI_PROJECT_ID', 'OPENAI_API_BASE'],
  },
  anthropic: {
    set: ({ url, token }) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: token }),
    secrets: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  },
  s3: {
    set: ({ url, token, env }) => ({
      AWS_ENDPOINT_URL_S3: url,
      AWS_ACCESS_KEY_ID: token,
      AWS_SECRET_ACCESS_KEY: 'unused',
      AWS_REGION: env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1',
    }),
    secrets: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
    remove: [
      'AWS_PROFILE',
      'AWS_DEFAULT_PROFILE',
      'AWS_ENDPOINT_URL',
      'AWS_WEB_IDENTITY_TOKEN_FILE',
      'AWS_ROLE_ARN',
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
      'AWS_CONTAINER_AUTHORIZATION_TOKEN',
      'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
    ],
    remark: 's3: the JavaScript SDK also needs forcePathStyle: true in the code',
  },
  resend: {
    set: ({ url, token }) => ({ RESEND_BASE_URL: url, RESEND_API_KEY: token }),
    secrets: ['RESEND_API_KEY'],
  },
  supabase: {
    set: ({ url, token }) => ({
      SUPABASE_URL: url,
      SUPABASE_KEY: token,
      SUPABASE_ANON_KEY: token,
      SUPABASE_SERVICE_ROLE_KEY: token,
    }),
    secrets: [
      'SUPABASE_KEY',
      'SUPABASE_ANON_KEY',
      'SUPABASE_SERVICE_ROLE_KEY',
      'SUPABASE_SECRET_KEY',
      'SUPABASE_PUBLISHABLE_KEY',
      'SUPABASE_ACCESS_TOKEN',
    ],
  },
  vercel: {
    set: ({ token }) => ({ VERCEL_TOKEN: token }),
    secrets: ['VERCEL_TOKEN', 'VERCEL_OIDC_TOKEN', 'AI_GATEWAY_API_KEY'],
    remark: 'vercel: its SDK reads no variable: pass ACG_VERCEL_BASE_URL as serverURL in the code',
  },
};

/** Converts `my-llm` to `MY_LLM`. */
const toVariableName = (slug: string): string => slug.toUpperCase().replaceAll('-', '_');

/** Variables of a custom provider. Built-in providers get them in addition to those of their SDK. */
const customProviderVariables = (slug: string): ProviderVariables => ({
  set: () => ({}),
  secrets: [`${toVariableName(slug)}_API_KEY`],
});

interface ProviderPlan {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
  readonly remarks: readonly string[];
}

/** Plans the variables of a child that uses these providers through the gateway. */
export function planProviderVariables(
  slugs: readonly string[],
  {
    gatewayUrl,
    token,
    env,
  }: { readonly gatewayUrl: string; readonly token: string; readonly env: ProviderRoute['env'] },
): ProviderPlan {
  const set: Record<string, string> = {};
  const remove = new Set(listSecretVariables());
  const remarks: string[] = [];
  for (const slug of slugs) {
    const provider = Object.hasOwn(BUILT_IN_PROVIDERS, slug)
      ? BUILT_IN_PROVIDERS[slug]!
      : customProviderVariables(slug);
    const url = `${gatewayUrl}/v1/proxy/${slug}`;
    Object.assign(set, { [`ACG_${toVariableName(slug)}_BASE_URL`]: url }, provider.set({ url, token, env }));
    for (const name of [...provider.secrets, ...(provider.remove ?? [])]) remove.add(name);
    if (provider.remark !== undefined) remarks.push(provider.remark);
  }
  return { set, remove: [...remove], remarks };
}

/** Lists variables that contain a credential of a built-in provider. */
export const listSecretVariables = (): readonly string[] =>
  Object.values(BUILT_IN_PROVIDERS).flatMap(({ secrets }) => secrets);
