import { OPENAI_CREDENTIAL } from '@acg/stand-in-provider/openai';

/** The real credentials of the stand-ins: they accept no others, and an agent must never see them. */
export const PROVIDER_CREDENTIALS = {
  openai: OPENAI_CREDENTIAL,
  anthropic: 'sk-ant-real-anthropic-credential-0002',
  supabase: 'sb_secret_real-supabase-credential-0003',
  vercel: 'vercel-real-credential-0004',
  resend: 're_real_resend_credential_0005',
  s3: { accessKeyId: 'AKIAREALSTANDINKEY06', secretAccessKey: 'real/Secret+Access/Key=0006', region: 'eu-central-1' },
} as const;
