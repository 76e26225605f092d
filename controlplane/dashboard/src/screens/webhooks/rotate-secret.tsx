/** A new signing secret; the old one signs beside it for a while, so that the receiver can change over in its own time. */
import { Button, Group, Modal, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { formProblem } from '../../parts/form-problem.js';
import { type Endpoint, refreshWebhooks } from './endpoints.js';

/** Seconds. */
const OVERLAPS = [
  { value: '0', label: 'not at all: it ends now' },
  { value: '3600', label: 'an hour' },
  { value: '86400', label: 'a day' },
  { value: '604800', label: '7 days' },
];

export interface NewSecret {
  readonly secret: string;
  /** Until when the old one signs as well; null: it does not. */
  readonly previousUntil: string | null;
}

interface RotateSecretProps {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
  readonly onRotated: (made: NewSecret) => void;
}

export function RotateSecret({ endpoint, onClose, onRotated }: RotateSecretProps) {
  const { id, previousSecretUntil } = endpoint;
  const [overlap, setOverlap] = useState('86400');
  const rotate = useMutation({
    mutationFn: () =>
      api.post('/v1/webhooks/{id}/rotate', { params: { path: { id } }, body: { graceSeconds: Number(overlap) } }),
    gcTime: 0,
    onSuccess: ({ endpoint: { secret, previousSecretUntil: previousUntil } }) => {
      refreshWebhooks();
      onRotated({ secret, previousUntil });
    },
  });
  const problem = formProblem(rotate.error, { graceSeconds: 'Overlap' });
  return (
    <Modal opened onClose={onClose} title="Rotate the secret">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rotate.mutate();
        }}
      >
        <Stack gap="md">
          {problem.above}
          <Text size="sm">
            You get a new secret, shown once. Until the overlap is over each delivery is signed with both, so nothing is
            lost while you change over.
          </Text>
          {previousSecretUntil !== null && (
            <Text size="sm">An earlier rotation is not over yet: the secret before that ends with this one.</Text>
          )}
          <NativeSelect
            label="The old secret signs on for"
            data={OVERLAPS}
            data-autofocus
            error={problem.at('graceSeconds')}
            value={overlap}
            onChange={(event) => setOverlap(event.currentTarget.value)}
          />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={rotate.isPending}>
              Rotate secret
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
