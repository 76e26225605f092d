/** The signing keys of the issuer: states, age, the next key, and the JWKS as a file. */
import { Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { InlineCopy } from '../../components/buttons/inline-copy.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { saveText } from '../../format/save-text.js';
import { type Issuer, useActivateKey, type useIssuer, usePublishNextKey } from '../../resources/issuer-hooks.js';

const STATES = {
  next: ['warning', 'Published, does not sign yet'],
  signing: ['success', 'Signing'],
  former: ['neutral', 'Former, still published'],
} as const;

interface IssuerKeysProps {
  readonly query: ReturnType<typeof useIssuer>;
  /** The data of the query. */
  readonly issuer: Issuer;
}

export function IssuerKeys({ query, issuer }: IssuerKeysProps) {
  const { keys, jwks, manualRotation } = issuer;
  const publish = usePublishNextKey();
  const activate = useActivateKey();
  const [toActivate, setToActivate] = useState<string | null>(null);
  return (
    <Card component="section" aria-label="Signing keys">
      <Group justify="space-between" mb="sm" gap="sm">
        <Title order={2}>Signing keys</Title>
        <Group gap="sm">
          <Button
            variant="default"
            leftSection={<Download size={16} aria-hidden />}
            onClick={() => saveText('jwks.json', 'application/json', `${JSON.stringify(jwks, null, 2)}\n`)}
          >
            Download JWKS
          </Button>
          <RoleGuardedButton
            requiredRole="admin"
            variant="default"
            loading={publish.isPending}
            disabledReason={keys.some(({ state }) => state === 'next') ? 'The next key is already published.' : null}
            onClick={() =>
              publish.mutate(undefined, { onSuccess: () => showToast('Next key published'), onError: showErrorToast })
            }
          >
            Publish next key
          </RoleGuardedButton>
        </Group>
      </Group>
      <Stack gap="sm">
        <Text size="sm">
          {manualRotation
            ? 'Upload the JWKS to each provider that holds a copy, then activate the next key. The previous key stays published for a day.'
            : 'A key signs for 30 days. The next one is published a day before it signs, and the previous one stays published for a day.'}
        </Text>
        <DataTable
          label="Signing keys"
          query={query}
          rows={(data) => data.keys}
          rowKey={({ id }) => id}
          empty="No keys"
          columns={[
            {
              header: 'Key',
              cell: ({ id }) => <InlineCopy value={id} what="key id" text={`…${id.slice(-12)}`} />,
            },
            {
              header: 'State',
              cell: ({ state }) => <StatusBadge tone={STATES[state][0]}>{STATES[state][1]}</StatusBadge>,
            },
            { header: 'Created', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
            {
              header: 'Signs from',
              cell: ({ activeFrom }) => <RelativeTime at={activeFrom} never="Activation by an admin" />,
            },
            {
              header: 'Actions',
              cell: ({ id, state, activeFrom }) =>
                state === 'next' &&
                activeFrom === null && (
                  <RowActionButton
                    requiredRole="admin"
                    label="Activate"
                    rowName={`key ${id.slice(-12)}`}
                    onClick={() => {
                      activate.reset();
                      setToActivate(id);
                    }}
                  />
                ),
            },
          ]}
        />
      </Stack>
      <ConfirmDialog
        opened={toActivate !== null}
        onClose={() => setToActivate(null)}
        title="Activate key"
        action="Activate"
        onConfirm={() =>
          toActivate !== null &&
          activate.mutate(toActivate, {
            onSuccess: () => {
              setToActivate(null);
              showToast('The new key signs now');
            },
          })
        }
        pending={activate.isPending}
        error={activate.error}
      >
        Tokens are signed with this key from now on. Providers with an uploaded JWKS that lacks it reject them, so
        upload the JWKS first.
      </ConfirmDialog>
    </Card>
  );
}
