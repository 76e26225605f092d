/**
 * The steps of a test of single sign-on, each with what to do. Pure. A step that only a login can answer has `ok` null.
 * Steps that need a failed one are left out.
 */
import type { ProviderProbe } from './probe-provider.js';
import type { SsoDomain, SsoTestStep } from './schema.js';

const DOMAINS_NAMED_MAX = 3;

interface TestFacts {
  /** Null: the organization has no provider. */
  readonly connection: {
    readonly issuer: string;
    readonly clientId: string;
    readonly groupsClaim: string | null;
  } | null;
  /** Null: there is no provider to ask. */
  readonly probe: ProviderProbe | null;
  readonly redirectUri: string;
  readonly domains: readonly SsoDomain[];
}

const passed = (name: string, message: string): SsoTestStep => ({ name, ok: true, message, action: null });
const failed = (name: string, message: string, action: string): SsoTestStep => ({ name, ok: false, message, action });
const open = (name: string, message: string, action: string): SsoTestStep => ({ name, ok: null, message, action });

export function describeTest({ connection, probe, redirectUri, domains }: TestFacts): readonly SsoTestStep[] {
  const redirect = open(
    'redirect URI',
    redirectUri,
    'Only a login shows whether the provider has it: register exactly this redirect URI for the client.',
  );
  if (connection === null || probe === null)
    return [
      failed(
        'provider',
        'The organization has no identity provider.',
        'Set issuer, client id and client secret: acg sso set, or the dashboard, Settings, Single sign-on.',
      ),
      redirect,
      describeDomains(domains),
    ];
  return [
    passed('provider', `Issuer ${connection.issuer}, client ${connection.clientId}.`),
    ...describeProbe(connection.issuer, probe),
    redirect,
    describeGroups(connection.groupsClaim, probe),
    describeDomains(domains),
  ];
}

function describeProbe(issuer: string, probe: ProviderProbe): readonly SsoTestStep[] {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  if (probe.kind === 'unreachable')
    return [
      failed(
        'discovery',
        `No usable discovery document at ${address}: ${probe.reason}.`,
        'Open that address. It must answer 200 with JSON, without a redirect, from a public address or EGRESS_ALLOW_CIDRS.',
      ),
    ];
  const found = passed('discovery', `${address} answers.`);
  if (probe.kind === 'another_issuer')
    return [
      found,
      failed(
        'issuer',
        'The discovery document names another issuer.',
        `Copy the value of "issuer" at ${address} exactly into the settings.`,
      ),
    ];
  return [
    found,
    passed('issuer', 'The discovery document names this issuer.'),
    probe.endpointProblems.length === 0
      ? passed('endpoints', 'Authorization endpoint, token endpoint and key set have usable addresses.')
      : failed(
          'endpoints',
          `The discovery document is not usable: ${probe.endpointProblems.join('; ')}.`,
          'Correct the public address of the provider. The gateway must reach its token endpoint and its key set.',
        ),
    describeKeys(probe.keys),
    describeClient(probe.isClientKnown),
  ];
}

type DocumentProbe = Extract<ProviderProbe, { kind: 'document' }>;

function describeKeys({ algorithms, failure }: DocumentProbe['keys']): SsoTestStep {
  if (failure !== null)
    return failed('keys', `The key set cannot be read: ${failure}.`, 'Open jwks_uri: it must answer 200 with JSON.');
  if (algorithms.length === 0)
    return failed(
      'keys',
      'The key set has no key for an algorithm with which the provider signs ID tokens.',
      'Choose RS256 or ES256 as the signature of ID tokens. HMAC (HS256) and unsigned tokens are rejected.',
    );
  return passed('keys', `The provider signs ID tokens with ${algorithms.join(', ')}.`);
}

function describeClient(isKnown: boolean | null): SsoTestStep {
  if (isKnown === null)
    return open('client', 'The token endpoint does not say whether it accepts the client.', 'Log in once.');
  return isKnown
    ? passed('client', 'The provider accepts client id and client secret.')
    : failed(
        'client',
        'The provider rejects client id or client secret.',
        'Compare the client id. Create a new client secret at the provider, and set it with acg sso set.',
      );
}

function describeGroups(groupsClaim: string | null, probe: ProviderProbe): SsoTestStep {
  if (groupsClaim === null) return passed('groups', 'Groups decide nothing.');
  if (probe.kind === 'document' && probe.claims?.includes(groupsClaim) === true)
    return passed('groups', `The provider offers the claim ${groupsClaim}.`);
  return open(
    'groups',
    `The discovery document does not name the claim ${groupsClaim}.`,
    `Log in once as a person of a group. If the page says that the groups are missing, add ${groupsClaim} to the ID token.`,
  );
}

function describeDomains(domains: readonly SsoDomain[]): SsoTestStep {
  const unverified = domains.filter(({ verifiedAt }) => verifiedAt === null);
  if (domains.length === 0)
    return failed(
      'domains',
      'There is no domain, so no address leads to the provider.',
      'Add the domain of your e-mail addresses: acg sso add-domain.',
    );
  if (unverified.length > 0)
    return failed(
      'domains',
      `${unverified.length} of ${domains.length} domains are not verified: ${nameSome(unverified)}.`,
      `Create the TXT record ${unverified[0]!.recordName} with ${unverified[0]!.recordValue}, then check the domain: acg sso verify-domain. Or remove the domain.`,
    );
  return passed('domains', `Verified: ${nameSome(domains)}.`);
}

const nameSome = (domains: readonly SsoDomain[]): string =>
  domains
    .slice(0, DOMAINS_NAMED_MAX)
    .map(({ domain }) => domain)
    .join(', ') + (domains.length > DOMAINS_NAMED_MAX ? ', …' : '');
