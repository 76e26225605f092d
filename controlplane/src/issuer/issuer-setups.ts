/** What to enter at each provider, so that it takes tokens of the gateway. Pure. */
import { isIP } from 'node:net';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { isSignedByGateway } from '../providers/catalogue/mint-method.js';

interface IssuerValues {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** Null: no agent is known. */
  readonly subject: string | null;
}

interface ProviderSetup {
  readonly providerSlug: string;
  readonly method: string;
  readonly label: string;
  readonly audience: string;
  readonly docs: string | null;
  readonly steps: string[];
}

export function listSetups(catalogue: Catalogue, { issuer, jwksUrl, subject }: IssuerValues): ProviderSetup[] {
  return catalogue.providers.flatMap(({ slug, displayName, rules }) =>
    (rules.credentials.methods ?? []).filter(isSignedByGateway).map((method) => {
      const audience = showFields(method.token.audience ?? '');
      const values: Readonly<Record<string, string>> = {
        issuer,
        // AWS names issuers without the scheme.
        issuerName: issuer.replace(/^https?:\/\//, ''),
        jwksUrl,
        subject: subject ?? 'project:<projectId>:agent:<agentId>',
        audience,
      };
      const fill = (step: string) =>
        step.replaceAll(/\{([a-zA-Z]+)\}/g, (whole, name: string) => values[name] ?? whole);
      const label = `${displayName}: ${method.label}`;
      const steps = (method.setup ?? []).map(fill);
      return { providerSlug: slug, method: method.name, label, audience, docs: method.docs ?? null, steps };
    }),
  );
}

const showFields = (template: string): string => template.replaceAll(/\{([a-zA-Z0-9]+)\}/g, '<$1>');

/** Providers fetch discovery documents over https from public names only. */
export function isPublicIssuer(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && hostname.includes('.');
  return protocol === 'https:' && isName && !/\.(?:local|localhost|internal|lan|test|invalid|example)$/.test(hostname);
}
