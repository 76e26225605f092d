/** Accounts that do not work until somebody sets their credentials again; nothing when there are none. */
import { Alert, Anchor, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { formatCount } from '../../format/format.js';
import { type Account, useAccountList, useProviderName } from './account-queries.js';
import { RotateAccountDialog } from './rotate-account-dialog.js';

const ACCOUNTS_SHOWN = 10;

export function NeedsCredentialsAlert() {
  const accounts = useAccountList({ status: 'needs_credentials', limit: ACCOUNTS_SHOWN });
  const nameOf = useProviderName();
  const [rotated, setRotated] = useState<Account | null>(null);
  const total = accounts.data?.total ?? 0;
  return (
    <>
      {total > 0 && (
        <Alert color="yellow" variant="light" title={`Needs credentials: ${formatCount(total)}`}>
          <Stack gap="sm">
            <Text size="sm">
              The provider refused what is stored, or its settings changed. Calls are refused until the credential is
              set again.
            </Text>
            {accounts.data?.accounts.map((account) => (
              <Group key={account.id} justify="space-between" gap="sm">
                <Text size="sm" className="acg-break">
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
                  aria-label={`Set credential of ${account.agentName} at ${nameOf(account.providerSlug)}`}
                  onClick={() => setRotated(account)}
                >
                  Set credential
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
                Show all {formatCount(total)}
              </Anchor>
            )}
          </Stack>
        </Alert>
      )}
      {rotated !== null && <RotateAccountDialog account={rotated} onClose={() => setRotated(null)} />}
    </>
  );
}
