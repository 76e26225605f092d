/** The dialogs that create, edit, rotate and revoke gateway tokens, for the list and for the page of one. */
import { Anchor, Code, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { CodeSnippetTabs } from '../../components/secrets/code-snippet-tabs.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';
import { useAgentAccounts } from '../../resources/agent-account-and-key-hooks.js';
import { type Key, refreshKeys } from './fetch-keys-and-describe-status.js';

const NewKeyDialog = lazy(async () => ({ default: (await import('./new-key-dialog.js')).NewKeyDialog }));
const EditKeyDialog = lazy(async () => ({ default: (await import('./edit-key-dialog.js')).EditKeyDialog }));
const RotateKeyDialog = lazy(async () => ({ default: (await import('./rotate-key-dialog.js')).RotateKeyDialog }));

interface CreatedSecret {
  readonly text: string;
  /** Null: the token is not limited to one agent. */
  readonly agentId: string | null;
}

type OpenDialog = 'new' | { readonly action: 'edit' | 'rotate'; readonly key: Key } | null;

interface KeyDialogs {
  readonly onNew: () => void;
  readonly onEdit: (key: Key) => void;
  readonly onRotate: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
  /** Must be rendered once. */
  readonly dialogs: ReactNode;
}

export function useKeyDialogs(): KeyDialogs {
  const [open, setOpen] = useFormDraft<OpenDialog>('key', null);
  const [secret, setSecret] = useState<CreatedSecret | null>(null);
  const [toRevoke, setToRevoke] = useState<Key | null>(null);
  const close = () => setOpen(null);
  const onCreated = (text: string, agentId: string | null) => {
    close();
    setSecret({ text, agentId });
  };
  return {
    onNew: () => setOpen('new'),
    onEdit: (key) => setOpen({ action: 'edit', key }),
    onRotate: (key) => setOpen({ action: 'rotate', key }),
    onRevoke: setToRevoke,
    dialogs: (
      <>
        <Suspense>
          {open === 'new' && <NewKeyDialog onClose={close} onCreated={onCreated} />}
          {open !== null && open !== 'new' && open.action === 'rotate' && (
            <RotateKeyDialog
              rotatedKey={open.key}
              onClose={close}
              onRotated={(text) => onCreated(text, open.key.agentId)}
            />
          )}
          {open !== null && open !== 'new' && open.action === 'edit' && (
            <EditKeyDialog
              editedKey={open.key}
              onClose={close}
              onSaved={(name) => {
                close();
                showToast(`${name} saved`);
              }}
            />
          )}
        </Suspense>
        <SecretDialog title="New gateway token" secret={secret?.text ?? null} onStored={() => setSecret(null)}>
          {secret !== null && <UsageInstructions secret={secret} />}
        </SecretDialog>
        {toRevoke !== null && <RevokeKeyDialog revokedKey={toRevoke} onClose={() => setToRevoke(null)} />}
      </>
    ),
  };
}

function UsageInstructions({ secret }: { readonly secret: CreatedSecret }) {
  const accounts = useAgentAccounts(secret.agentId ?? '');
  return (
    <Stack gap="sm">
      {secret.agentId === null && (
        <Text size="sm">
          Each call must name its agent, by id or slug, in the header <code>x-gateway-agent</code>.
        </Text>
      )}
      <CodeSnippetTabs providerSlug={accounts.data?.[0]?.providerSlug ?? 'openai'} token={secret.text} />
    </Stack>
  );
}

function RevokeKeyDialog({ revokedKey, onClose }: { readonly revokedKey: Key; readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const revoke = useMutation({
    mutationFn: () => api.delete('/v1/api-keys/{id}', { params: { path: { id: revokedKey.id } } }),
    onSuccess: () => {
      refreshKeys();
      onClose();
      // The list no longer has it. Toasts are outside the router, so a link would not know its base.
      showToast(
        <>
          {revokedKey.name} revoked.{' '}
          <Anchor component="button" type="button" inherit onClick={() => navigate(`/keys/${revokedKey.id}`)}>
            See what it did
          </Anchor>
        </>,
      );
    },
  });
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`Revoke ${revokedKey.name}`}
      action="Revoke token"
      requiredText={revokedKey.name}
      pending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
    >
      Calls with the token <Code>{revokedKey.keyPrefix}…</Code> are rejected within a second. This cannot be undone. To
      replace a token without downtime, rotate it instead.
    </ConfirmDialog>
  );
}
