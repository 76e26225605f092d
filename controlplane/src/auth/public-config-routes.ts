/** Configuration that a client reads before login. */

import { Type } from 'typebox';
import type { App } from '../http/app.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { SignupPolicy } from './signup-policy.js';

const ConfigReply = Type.Object({
  version: Type.String(),
  proxyUrl: Type.Union([Type.String(), Type.Null()], {
    description: 'The base URL for the calls of agents; null when the operator has not set it.',
  }),
  publicUrl: Type.String(),
  signup: Type.Enum(['open', 'first', 'closed'], {
    description: 'first: only the first user of this installation can sign up, and there is no user yet.',
  }),
  mail: Type.Enum(['smtp', 'outbox'], { description: 'outbox: mails are stored as files on the server.' }),
  standIns: Type.Array(
    Type.Object({ providerSlug: Type.String(), credentials: Type.Record(Type.String(), Type.String()) }),
    { description: 'Stand-in providers for trials and the credentials that they accept, from PROVIDERS_FILE.' },
  ),
});

interface PublicConfig {
  readonly version: string;
  readonly proxyUrl: string | null;
  readonly publicUrl: string;
  readonly mail: 'smtp' | 'outbox';
  /** Public, because the operator declared these providers as stand-ins. */
  readonly standIns: readonly {
    readonly providerSlug: string;
    readonly credentials: Readonly<Record<string, string>>;
  }[];
}

export function publicConfigRoutes(app: App, config: PublicConfig, signup: SignupPolicy): void {
  app.get(
    '/v1/config',
    {
      config: { access: 'public' },
      schema: {
        ...operation('Installation', 'getConfig', 'Get the public configuration'),
        response: { 200: ConfigReply },
      },
    },
    async () => ({
      ...config,
      standIns: [...config.standIns],
      signup: await signup.currentMode(),
    }),
  );
}

/** For the API document. */
export const EXAMPLES = {
  version: '0.1.0',
  proxyUrl: 'https://proxy.example.com',
  publicUrl: 'https://gateway.example.com',
  signup: 'open',
  mail: 'smtp',
};
