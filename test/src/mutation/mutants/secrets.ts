import type { Area } from '../mutant.js';

export const SECRETS: Area = {
  name: 'secrets',
  tests: ['controlplane/src/vault/vault.test.ts', 'test/src/secret-leaks/leaks-in-scenario.test.ts'],
  built: false,
  mutants: [
    {
      file: 'controlplane/src/vault/vault.ts',
      find: '`acg1|${purpose}|${orgId}|${id}`',
      put: '`acg1|${purpose}|${id}`',
      bug: 'a ciphertext opens for another organization',
    },
    {
      file: 'controlplane/src/vault/vault.ts',
      find: '`acg1|${purpose}|${orgId}|${id}`',
      put: '`acg1|${orgId}|${id}`',
      bug: 'a ciphertext opens for another purpose',
    },
    {
      file: 'controlplane/src/vault/vault.ts',
      find: '    const nonce = randomBytes(NONCE_BYTES);',
      put: '    const nonce = Buffer.alloc(NONCE_BYTES, 1); void randomBytes;',
      bug: 'the nonce is always the same',
    },
    {
      file: 'controlplane/src/vault/vault.ts',
      find: 'if (sealed.ciphertext.length < TAG_BYTES || sealed.nonce.length !== NONCE_BYTES) {',
      put: 'if (sealed.nonce.length !== NONCE_BYTES) {',
      bug: 'a truncated ciphertext throws an unspecific error',
    },
    {
      file: 'controlplane/src/vault/reencrypt.ts',
      find: '  for (const table of ENCRYPTED_TABLES) {',
      put: '  for (const table of ENCRYPTED_TABLES.slice(0, 1)) {',
      bug: 'rotation skips the signing secrets',
      tests: ['test/src/provisioning/master-key-rotation.test.ts'],
    },
    {
      file: 'controlplane/src/vault/reencrypt.ts',
      find: `      skipped.push(row.id);
      continue;`,
      put: '      continue;',
      bug: 'one damaged row stops the rotation',
      tests: ['test/src/provisioning/master-key-rotation.test.ts'],
    },
    {
      file: 'controlplane/src/contexts/store.ts',
      find: 'on key.token_hash = asked.token_hash and key.revoked_at is null',
      put: 'on key.token_hash = asked.token_hash',
      bug: 'a revoked key works',
      tests: ['test/src/plane-link/change-propagation.test.ts'],
    },
    {
      file: 'controlplane/src/contexts/store.ts',
      find: 'and (key.expires_at is null or key.expires_at > now())',
      put: 'and true',
      bug: 'an expired key works',
      tests: ['test/src/plane-link/change-propagation.test.ts'],
    },
    {
      file: 'controlplane/src/contexts/store.ts',
      find: `(key.scope = 'org' or a.project_id = key.project_id)`,
      put: `(key.scope <> '' or a.project_id = key.project_id)`,
      bug: 'a project key serves all agents of the organization',
      tests: ['test/src/plane-link/change-propagation.test.ts'],
    },
    {
      file: 'controlplane/src/contexts/store.ts',
      find: 'left join custom_providers c on c.id = p.custom_provider_id and c.deleted_at is null',
      put: 'left join custom_providers c on c.id = p.custom_provider_id',
      bug: 'a deleted custom provider is still called',
      equivalent: 'its accounts are deleted in the same transaction, and none can be created meanwhile',
    },
    {
      file: 'controlplane/src/providers/custom/custom-provider-service.ts',
      find: `      await store.deleteAccountsOfProvider(tx, orgId, id);
`,
      put: '',
      bug: 'credentials of a deleted custom provider stay stored',
      tests: ['test/src/plane-link/change-propagation.test.ts'],
    },
    {
      file: 'controlplane/src/contexts/store.ts',
      find: 'where c.org_id = agent.org_id and c.deleted_at is null))',
      put: 'where c.deleted_at is null))',
      bug: 'slugs of other organizations’ providers show',
      tests: [
        'test/src/plane-link/resolve-tokens.test.ts',
        'test/src/tenant-isolation/tenant-isolation.test.ts',
        'test/src/provisioning',
      ],
    },
    {
      file: 'controlplane/src/contexts/service.ts',
      find: 'if (second !== undefined && first.id !== agentRefId) return Outcome.AGENT_AMBIGUOUS;',
      put: '',
      bug: 'one of two agents with the same name is used',
      tests: [
        'test/src/plane-link/resolve-tokens.test.ts',
        'test/src/api-contract/credentials-contract.test.ts',
        'test/src/provisioning',
      ],
    },
    {
      file: 'controlplane/src/contexts/service.ts',
      find: `const isOwnAgent = agentRef === '' || agentRefId === first.id || agentRef === first.slug;`,
      put: `const isOwnAgent = agentRef !== '!';`,
      bug: 'an agent’s token can select another agent',
      tests: [
        'test/src/plane-link/resolve-tokens.test.ts',
        'test/src/api-contract/credentials-contract.test.ts',
        'test/src/provisioning',
      ],
    },
    {
      file: 'controlplane/src/contexts/assemble-context.ts',
      find: `account.status === 'active' ? decrypt(account) : null`,
      put: `decrypt(account)`,
      bug: 'a rejected credential is still used',
      tests: ['test/src/plane-link/change-propagation.test.ts'],
    },
  ],
};
