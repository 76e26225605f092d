/** Makes a management token. */
import { Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { Failure } from '../../parts/failure.js';
import { endOf, Lifetime } from '../../parts/lifetime.js';

const ROLES = ['viewer', 'member', 'admin'] as const;

interface NewTokenProps {
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}

export function NewToken({ onClose, onMade }: NewTokenProps) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number]>('viewer');
  const [days, setDays] = useState('90');
  const make = useMutation({
    mutationFn: () => {
      const expiresAt = endOf(days);
      const body = { name, role, ...(expiresAt === null ? {} : { expiresAt }) };
      return api.post('/v1/management-tokens', { body });
    },
    gcTime: 0,
    onSuccess: ({ secretToken }) => onMade(secretToken),
  });
  return (
    <Modal opened onClose={onClose} title="New management token">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <Stack gap="md">
          <TextInput
            label="Name"
            placeholder="ci"
            required
            maxLength={200}
            data-autofocus
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <NativeSelect
            label="Role"
            data={[...ROLES]}
            value={role}
            onChange={(event) => setRole(event.currentTarget.value as (typeof ROLES)[number])}
          />
          <Lifetime value={days} onChange={setDays} />
          {make.error !== null && <Failure error={make.error} />}
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={make.isPending}>
              Make token
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
