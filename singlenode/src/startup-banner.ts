/** The text that `npm start` prints when everything runs: the URLs and the next commands. */

interface Addresses {
  readonly controlPlane: string;
  readonly dataPlane: string;
  readonly dataDir: string;
  /** Directory of the embedded database; null when DATABASE_URL names one. */
  readonly database: string | null;
  /** The first start with this data directory. */
  readonly isFirst: boolean;
}

export const startupBanner = ({ controlPlane, dataPlane, dataDir, database, isFirst }: Addresses): string => `
Agent Credential Gateway is running.

  Dashboard        ${controlPlane}/
  Management API   ${controlPlane}/v1      (reference: ${controlPlane}/docs)
  Agents' proxy    ${dataPlane}/v1/proxy/{provider}
  Data             ${dataDir}
  Database         ${database ?? 'DATABASE_URL'}
${isFirst ? firstSteps(controlPlane) : ''}
Ctrl-C stops everything. All data is kept for the next start.
`;

const firstSteps = (controlPlane: string): string => `
Next: open the dashboard and sign up. Without a browser (see README, "Two-minute quickstart"):

  curl -s ${controlPlane}/v1/auth/signup -H 'content-type: application/json' \\
    -d '{"email":"you@example.com","password":"correct horse battery","name":"You","orgName":"Acme"}'
`;
