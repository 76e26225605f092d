/** What can be done with an endpoint: try it, stop it for now, change it, give it another secret, delete it. */
import { Button, Group, Menu, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { MoreHorizontal, Pause, Play } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { useWhyNot } from '../../api/role.js';
import { exactTime } from '../../format/format.js';
import { Confirm } from '../../parts/confirm.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { SecretOnce } from '../../parts/secret-once.js';
import { toast, toastFailure } from '../../parts/toast.js';
import { EndpointDialog } from './endpoint-dialog.js';
import { type Endpoint, refreshWebhooks } from './endpoints.js';
import { type NewSecret, RotateSecret } from './rotate-secret.js';
import { TestDialog } from './test-dialog.js';
import { Verify } from './verify.js';

interface EndpointActionsProps {
  readonly endpoint: Endpoint;
  readonly onDelete: () => void;
  readonly deleting: boolean;
  readonly deleteError: unknown;
}

export function EndpointActions({ endpoint, onDelete, deleting, deleteError }: EndpointActionsProps) {
  const { id, status } = endpoint;
  const [open, setOpen] = useDraft<'test' | 'edit' | 'rotate' | 'delete' | null>(`endpoint ${id}`, null);
  const [made, setMade] = useState<NewSecret | null>(null);
  const whyNot = useWhyNot('admin');
  const close = (): void => setOpen(null);
  const active = status === 'active';
  const pause = useMutation({
    mutationFn: (next: 'active' | 'paused') =>
      api.patch('/v1/webhooks/{id}', { params: { path: { id } }, body: { status: next } }),
    onSuccess: refreshWebhooks,
    onError: toastFailure,
  });
  return (
    <Group gap="sm">
      <GuardedButton needs="admin" whyNot={active ? null : 'The endpoint is paused.'} onClick={() => setOpen('test')}>
        Send a test
      </GuardedButton>
      <GuardedButton
        needs="admin"
        variant="default"
        loading={pause.isPending}
        leftSection={active ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
        onClick={() => pause.mutate(active ? 'paused' : 'active')}
      >
        {active ? 'Pause' : 'Resume'}
      </GuardedButton>
      {whyNot === null && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" px="sm" aria-label="More actions">
              <MoreHorizontal size={16} aria-hidden />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setOpen('edit')}>Edit …</Menu.Item>
            <Menu.Item onClick={() => setOpen('rotate')}>Rotate the secret …</Menu.Item>
            <Menu.Item c="var(--acg-bad)" onClick={() => setOpen('delete')}>
              Delete …
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      {open === 'test' && <TestDialog endpoint={endpoint} onClose={close} />}
      {open === 'edit' && (
        <EndpointDialog
          endpoint={endpoint}
          onClose={close}
          onSaved={() => {
            refreshWebhooks();
            close();
            toast('The endpoint is saved');
          }}
        />
      )}
      {open === 'rotate' && (
        <RotateSecret
          endpoint={endpoint}
          onClose={close}
          onRotated={(secret) => {
            close();
            setMade(secret);
          }}
        />
      )}
      <SecretOnce
        title="The endpoint’s new signing secret"
        secret={made?.secret ?? null}
        onStored={() => setMade(null)}
      >
        <Text size="sm">
          {made === null || made.previousUntil === null
            ? 'The old secret signs nothing any more.'
            : `The old secret signs as well until ${exactTime(made.previousUntil)}.`}
        </Text>
        <Verify />
      </SecretOnce>
      <Confirm
        opened={open === 'delete'}
        onClose={close}
        title="Delete endpoint"
        action="Delete endpoint"
        onConfirm={onDelete}
        pending={deleting}
        error={deleteError}
      >
        Nothing is sent there any more; its deliveries are gone.
      </Confirm>
    </Group>
  );
}
