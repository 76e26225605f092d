/** Alert for accounts whose credentials must be entered again; renders nothing if there are none. */
import { Alert, Anchor, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { formatCount } from '../../format/format.js';
import { RotateAccountDialog } from './rotate-account-dialog.js';
import { type Account, useAccountList, useProviderName } from './use-account-list.js';

const ACCOUNTS_SHOWN = 10;

export function ReenterCredentialsAlert() {
  const accounts = useAccountList({ status: 'needs_credentials', limit: ACCOUNTS_SHOWN });
  const nameOf = useProviderName();
  const [rotated, setRotated] = useState<Account | null>(null);
  const total = accounts.data?.total ?? 0;
  return (
    <>
      {total > 0 && (
        <Alert color="yellow" variant="light" title={`Accounts that need a credential: ${formatCount(total)}`}>
          <Stack gap="sm">
            <Text size="sm">
              The provider rejected the stored credential, or the provider’s settings changed. Calls are rejected until
              you enter a new credential.
            </Text>
            {accounts.data?.accounts.map((account) => (
              <Group key={account.id} justify="space-between" gap="sm">
                <Text size="sm" className="acg-break-anywhere">
                  <Anchor
                    component={Link}
                    href={`/agents/${account.agentId}?tab=providers`}
                    inherit
                    c="inherit"
                    underline="always"
                  >
                    {account.agentName}
                  </Anchor>{' '}
                  at {nameOf(account.providerSlug)}
                </Text>
                <RoleGuardedButton
                  requiredRole="admin"
                  size="xs"
                  aria-label={`Enter credential of ${account.agentName} at ${nameOf(account.providerSlug)}`}
                  onClick={() => setRotated(account)}
                >
                  Enter credential
                </RoleGuardedButton>
              </Group>
            ))}
            {total > ACCOUNTS_SHOWN && (
              <Anchor
                component={Link}
                href="/providers?status=needs_credentials"
                size="sm"
                c="inherit"
                underline="always"
              >
                View all {formatCount(total)}
              </Anchor>
            )}
          </Stack>
        </Alert>
      )}
      {rotated !== null && <RotateAccountDialog account={rotated} onClose={() => setRotated(null)} />}
    </>
  );
}
