/** A stored connection with its client secret, as requests to the provider need it. */
import type { Vault } from '../vault/aes-gcm-vault.js';
import type { OidcConnection } from './oidc-client.js';
import { buildRedirectUri, GROUPS_CLAIM_DEFAULT } from './settings-service.js';
import type { ConnectionRow } from './store.js';

interface OpenDependencies {
  readonly vault: Vault;
  readonly publicUrl: string;
}

export function openConnection({ vault, publicUrl }: OpenDependencies, row: ConnectionRow): OidcConnection {
  const { id, orgId, issuer, clientId } = row;
  const clientSecret = vault.decrypt({ purpose: 'sso', orgId, id }, row);
  const groupsClaim = (row.groupRoles ?? []).length === 0 ? null : (row.groupsClaim ?? GROUPS_CLAIM_DEFAULT);
  return { orgId, issuer, clientId, clientSecret, redirectUri: buildRedirectUri(publicUrl, orgId), groupsClaim };
}
