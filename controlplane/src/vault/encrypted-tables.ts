/** All tables that hold ciphertexts of the vault. A table that is missing here is not re-encrypted. */
import type { SecretIdentity } from './aes-gcm-vault.js';

export interface EncryptedTable {
  /** Must have the columns id, org_id, key_id, nonce and ciphertext. */
  readonly name:
    | 'provider_accounts'
    | 'credentials'
    | 'webhook_endpoints'
    | 'billing_accounts'
    | 'webhook_previous_secrets'
    | 'sso_connections'
    | 'second_factor_secrets'
    | 'minted_credentials'
    | 'oauth_grants'
    | 'oauth_clients'
    | 'credential_rotations'
    | 'issuer_keys'
    | 'suspended_accounts'
    | 'suspended_credentials'
    | 'suspended_webhooks'
    | 'suspended_sso';
  readonly purpose: SecretIdentity['purpose'];
}

export const ENCRYPTED_TABLES: readonly EncryptedTable[] = [
  { name: 'provider_accounts', purpose: 'account' },
  { name: 'credentials', purpose: 'credential' },
  { name: 'webhook_endpoints', purpose: 'webhook' },
  { name: 'billing_accounts', purpose: 'billing' },
  { name: 'webhook_previous_secrets', purpose: 'webhook' },
  { name: 'sso_connections', purpose: 'sso' },
  { name: 'minted_credentials', purpose: 'minted' },
  { name: 'oauth_grants', purpose: 'grant' },
  { name: 'oauth_clients', purpose: 'oauth_client' },
  { name: 'credential_rotations', purpose: 'rotation' },
  { name: 'issuer_keys', purpose: 'issuer' },
  // A view of second_factors.
  { name: 'second_factor_secrets', purpose: 'second_factor' },
  // Views of suspended_items.
  { name: 'suspended_accounts', purpose: 'account' },
  { name: 'suspended_credentials', purpose: 'credential' },
  { name: 'suspended_webhooks', purpose: 'webhook' },
  { name: 'suspended_sso', purpose: 'sso' },
];
