/** A new secret in the place of an old one, which works on for a while so that nothing has to stop. */
import { Button, Group, Modal, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { formProblem } from '../../parts/form-problem.js';
import { type Key, refreshKeys } from './key-list.js';

/** Seconds. */
const OVERLAPS = [
  { value: '0', label: 'not at all: it ends now' },
  { value: '3600', label: 'an hour' },
  { value: '86400', label: 'a day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
];

interface RotateKeyProps {
  readonly rotated: Key;
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}

export function RotateKey({ rotated, onClose, onMade }: RotateKeyProps) {
  const [overlap, setOverlap] = useState('86400');
  const rotate = useMutation({
    mutationFn: () =>
      api.post('/v1/api-keys/{id}/rotate', {
        params: { path: { id: rotated.id } },
        body: { graceSeconds: Number(overlap) },
      }),
    gcTime: 0,
    onSuccess: ({ secretKey }) => {
      refreshKeys();
      onMade(secretKey);
    },
  });
  const problem = formProblem(rotate.error, { graceSeconds: 'Overlap' });
  return (
    <Modal opened onClose={onClose} title={`Rotate ${rotated.name}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rotate.mutate();
        }}
      >
        <Stack gap="md">
          {problem.above}
          <Text size="sm">
            You get a new key with the same name and scope. Put it where the old one is; until the overlap is over, both
            work.
          </Text>
          <NativeSelect
            label="The old key works on for"
            data={OVERLAPS}
            error={problem.at('graceSeconds')}
            data-autofocus
            value={overlap}
            onChange={(event) => setOverlap(event.currentTarget.value)}
          />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={rotate.isPending}>
              Rotate key
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
