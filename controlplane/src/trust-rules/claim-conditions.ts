/**
 * Conditions on the claims of a workload's token. A condition names a claim and compares its whole value; there are no
 * patterns. Issuers that many organizations share need an immutable id among the conditions, because names can be
 * given to another owner after a rename or deletion.
 */
export interface ClaimCondition {
  /** Name of a claim, or a JSON pointer (RFC 6901) to a member of one: `/kubernetes.io/namespace`. */
  readonly claim: string;
  /** The claim must be one of them. */
  readonly values: readonly string[];
}

interface SharedIssuer {
  readonly name: string;
  readonly hosts: readonly string[];
  /** Claims with ids that the issuer never gives to another owner; one of them is required. */
  readonly idClaims: readonly string[];
}

/** From the issuers' references of their tokens. */
const SHARED_ISSUERS: readonly SharedIssuer[] = [
  {
    name: 'GitHub Actions',
    hosts: ['token.actions.githubusercontent.com'],
    idClaims: ['repository_id', 'repository_owner_id', 'enterprise_id'],
  },
  { name: 'GitLab.com', hosts: ['gitlab.com'], idClaims: ['project_id', 'namespace_id'] },
  { name: 'Bitbucket Pipelines', hosts: ['api.bitbucket.org'], idClaims: ['repositoryUuid', 'workspaceUuid'] },
  { name: 'Buildkite', hosts: ['agent.buildkite.com'], idClaims: ['pipeline_id', 'organization_id'] },
  {
    name: 'HCP Terraform',
    hosts: ['app.terraform.io', 'app.eu.terraform.io'],
    idClaims: ['terraform_workspace_id', 'terraform_project_id', 'terraform_organization_id'],
  },
  { name: 'Vercel', hosts: ['oidc.vercel.com'], idClaims: ['project_id', 'owner_id'] },
  { name: 'Fly.io', hosts: ['oidc.fly.io'], idClaims: ['app_id', 'org_id'] },
  { name: 'Google', hosts: ['accounts.google.com'], idClaims: ['sub'] },
  { name: 'Amazon Cognito', hosts: ['cognito-identity.amazonaws.com'], idClaims: ['sub'] },
  {
    name: 'Microsoft Entra',
    hosts: ['login.microsoftonline.com', 'sts.windows.net'],
    idClaims: ['oid', 'sub', 'azp', 'appid'],
  },
];

/** Null: the conditions may be saved; otherwise what is wrong with them. */
export function findConditionProblem(issuer: string, conditions: readonly ClaimCondition[]): string | null {
  const claims = conditions.map(({ claim }) => claim);
  const twice = claims.find((claim, i) => claims.indexOf(claim) !== i);
  if (twice !== undefined) return `conditions name the claim ${twice} twice: put all its values into one condition`;
  for (const { claim, values } of conditions) {
    if (values.some((value) => value.includes('*')))
      return `conditions: the value of ${claim} contains *, but values are compared whole. List each value.`;
  }
  const shared = findSharedIssuer(issuer);
  if (shared === null || claims.some((claim) => shared.idClaims.includes(claim))) return null;
  return (
    `conditions must contain ${shared.idClaims.join(' or ')}: everybody can get a token of ${shared.name}, and only ` +
    'such an id cannot pass to another owner'
  );
}

function findSharedIssuer(issuer: string): SharedIssuer | null {
  if (!URL.canParse(issuer)) return null;
  const host = new URL(issuer).hostname.toLowerCase().replace(/\.$/, '');
  return SHARED_ISSUERS.find(({ hosts }) => hosts.includes(host)) ?? null;
}

/** The claim of the first condition that the token does not meet; null: it meets all. */
export function findUnmetClaim(
  claims: Readonly<Record<string, unknown>>,
  conditions: readonly ClaimCondition[],
): string | null {
  for (const { claim, values } of conditions) {
    const value = toText(readClaim(claims, claim));
    if (value === null || !values.includes(value)) return claim;
  }
  return null;
}

function readClaim(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (!name.startsWith('/')) return Object.hasOwn(claims, name) ? claims[name] : undefined;
  let value: unknown = claims;
  for (const step of name.slice(1).split('/')) {
    const member = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, member))
      return undefined;
    value = (value as Record<string, unknown>)[member];
  }
  return value;
}

/** Numbers and booleans compare as JSON writes them. Lists and objects never match. */
function toText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  return null;
}
