/** Makes a management token. */
import { Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { Failure } from '../../parts/failure.js';

const ROLES = ['viewer', 'member', 'admin'] as const;
const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '', label: 'no end' },
];

interface NewTokenProps {
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}

function inDays(days: number): string {
  const at = new Date();
  at.setDate(at.getDate() + days);
  return at.toISOString();
}

export function NewToken({ onClose, onMade }: NewTokenProps) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number]>('viewer');
  const [days, setDays] = useState('90');
  const make = useMutation({
    mutationFn: () => {
      const end = days === '' ? {} : { expiresAt: inDays(Number(days)) };
      return api.post('/v1/management-tokens', { body: { name, role, ...end } });
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
          <NativeSelect
            label="Good for"
            data={LIFETIMES}
            value={days}
            onChange={(event) => setDays(event.currentTarget.value)}
          />
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
