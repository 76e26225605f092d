/** What the run tells its provider process, and the credential of the tenant's own provider. */
export interface ProviderSettings {
  readonly openaiPort: number;
  readonly s3Port: number;
  readonly customPort: number;
  /** Where it notes what it has seen. */
  readonly journal: string;
}

export const CUSTOM_PROVIDER_KEY = 'own-real-chaos-credential-0007';
