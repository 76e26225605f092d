/** Names of the built-in providers as their vendors write them, for places where the API delivers only the slug. */
const PROVIDER_LABELS: Readonly<Record<string, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  supabase: 'Supabase',
  vercel: 'Vercel',
  resend: 'Resend',
  s3: 'S3-compatible storage',
};

/** A custom provider is shown by its slug. */
export const providerLabel = (slug: string): string =>
  Object.hasOwn(PROVIDER_LABELS, slug) ? PROVIDER_LABELS[slug]! : slug;
