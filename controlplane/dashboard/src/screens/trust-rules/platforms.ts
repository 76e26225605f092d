/** What a new trust rule begins with on each platform. docs/workload-identity.md has the recipes. */
export interface Platform {
  readonly value: string;
  readonly label: string;
  /** Empty: the user states it. */
  readonly issuer: string;
  readonly issuerPlaceholder: string;
  /** Claims of the first conditions. */
  readonly claims: readonly string[];
  readonly hint: string;
  readonly needsKeys: boolean;
  readonly canAcceptOnce: boolean;
}

export const PLATFORMS: readonly [Platform, ...Platform[]] = [
  {
    value: 'github',
    label: 'GitHub Actions',
    issuer: 'https://token.actions.githubusercontent.com',
    issuerPlaceholder: '',
    claims: ['repository_id', 'ref'],
    hint: 'gh api repos/OWNER/NAME --jq .id prints the repository’s id. A name can pass to another owner, an id cannot.',
    needsKeys: false,
    canAcceptOnce: true,
  },
  {
    value: 'gitlab',
    label: 'GitLab.com',
    issuer: 'https://gitlab.com',
    issuerPlaceholder: '',
    claims: ['project_id', 'ref_protected'],
    hint: 'The id is on the page of the project. A GitLab of your own is another issuer: state its URL.',
    needsKeys: false,
    canAcceptOnce: false,
  },
  {
    value: 'kubernetes',
    label: 'Kubernetes',
    issuer: '',
    issuerPlaceholder: 'https://kubernetes.default.svc.cluster.local',
    claims: ['sub'],
    hint: 'sub is system:serviceaccount:NAMESPACE:NAME. kubectl get --raw /openid/v1/jwks prints the keys.',
    needsKeys: true,
    canAcceptOnce: false,
  },
  {
    value: 'spiffe',
    label: 'SPIFFE',
    issuer: '',
    issuerPlaceholder: 'spiffe://prod.example.com',
    claims: ['sub'],
    hint: 'sub is the SPIFFE ID. spire-server bundle show -format spiffe prints the keys.',
    needsKeys: true,
    canAcceptOnce: false,
  },
  {
    value: 'other',
    label: 'Another issuer',
    issuer: '',
    issuerPlaceholder: 'https://issuer.example.com',
    claims: ['sub'],
    hint: 'The issuer needs a discovery document, or you upload its keys.',
    needsKeys: true,
    canAcceptOnce: true,
  },
];
