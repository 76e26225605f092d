/** Every table that holds ciphertexts of the vault, in one place: what is missing here would not be rotated. */
import type { SecretIdentity } from './vault.js';

export interface EncryptedTable {
  /** With the columns id, org_id, key_id, nonce and ciphertext. */
  readonly name:
    | 'provider_accounts'
    | 'credentials'
    | 'webhook_endpoints'
    | 'webhook_previous_secrets'
    | 'suspended_accounts'
    | 'suspended_credentials'
    | 'suspended_webhooks';
  readonly purpose: SecretIdentity['purpose'];
}

export const ENCRYPTED_TABLES: readonly EncryptedTable[] = [
  { name: 'provider_accounts', purpose: 'account' },
  { name: 'credentials', purpose: 'credential' },
  { name: 'webhook_endpoints', purpose: 'webhook' },
  { name: 'webhook_previous_secrets', purpose: 'webhook' },
  // Views of suspended_items.
  { name: 'suspended_accounts', purpose: 'account' },
  { name: 'suspended_credentials', purpose: 'credential' },
  { name: 'suspended_webhooks', purpose: 'webhook' },
];
