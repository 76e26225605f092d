/** Settings of the provider process, and the credential of the custom provider. */
export interface ProviderSettings {
  readonly openaiPort: number;
  readonly s3Port: number;
  readonly customPort: number;
  /** Path of the provider's journal. */
  readonly journal: string;
}

export const CUSTOM_PROVIDER_KEY = 'own-real-chaos-credential-0007';
