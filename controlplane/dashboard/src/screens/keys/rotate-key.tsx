/** A new secret in the place of an old one, which works on for a while so that nothing has to stop. */
import { Code, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { A_DAY, Overlap } from '../../parts/overlap.js';
import { type Key, refreshKeys } from './key-list.js';

/** Seconds. */
const OVERLAP_MAX = 30 * 86_400;

interface RotateKeyProps {
  readonly rotated: Key;
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}

export function RotateKey({ rotated, onClose, onMade }: RotateKeyProps) {
  const [overlap, setOverlap] = useState(A_DAY);
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
    <FormDialog
      title={`Rotate ${rotated.name}`}
      problem={problem}
      onSubmit={() => rotate.mutate()}
      action="Rotate key"
      pending={rotate.isPending}
      onClose={onClose}
    >
      <Text size="sm">
        You get a new key with the same name and scope. Put it where the old one (<Code>{rotated.keyPrefix}…</Code>) is;
        until the overlap is over, both work.
      </Text>
      <Overlap
        label="The old key works on for"
        max={OVERLAP_MAX}
        error={problem.at('graceSeconds')}
        value={overlap}
        onChange={setOverlap}
      />
    </FormDialog>
  );
}
