/** What a client must know before anybody has logged in. */
import { Type } from 'typebox';
import type { App } from '../http/app.js';
import type { SignupPolicy } from './signup-policy.js';

const ConfigReply = Type.Object({
  version: Type.String(),
  proxyUrl: Type.Union([Type.String(), Type.Null()], {
    description: 'Where agents call; null: the operator did not say.',
  }),
  publicUrl: Type.String(),
  signup: Type.Enum(['open', 'first', 'closed'], {
    description: 'first: nobody has signed up yet, and the first may.',
  }),
  mail: Type.Enum(['smtp', 'outbox'], { description: 'outbox: mails stay as files on the server.' }),
  standIns: Type.Array(
    Type.Object({ providerSlug: Type.String(), credentials: Type.Record(Type.String(), Type.String()) }),
    { description: 'Providers that only stand in for trials, with what they take; from PROVIDERS_FILE.' },
  ),
});

interface PublicConfig {
  readonly version: string;
  readonly proxyUrl: string | null;
  readonly publicUrl: string;
  readonly mail: 'smtp' | 'outbox';
  /** Known to everybody, as the operator said by naming them so. */
  readonly standIns: readonly {
    readonly providerSlug: string;
    readonly credentials: Readonly<Record<string, string>>;
  }[];
}

export function publicConfigRoutes(app: App, config: PublicConfig, signup: SignupPolicy): void {
  app.get('/v1/config', { config: { access: 'public' }, schema: { response: { 200: ConfigReply } } }, async () => ({
    ...config,
    standIns: [...config.standIns],
    signup: await signup.currentMode(),
  }));
}
