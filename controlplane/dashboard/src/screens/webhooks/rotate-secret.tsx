/** A new signing secret; the old one signs beside it for a while, so that the receiver can change over in its own time. */
import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { A_DAY, Overlap } from '../../parts/overlap.js';
import { type Endpoint, refreshWebhooks } from './endpoints.js';

/** Seconds. */
const OVERLAP_MAX = 7 * 86_400;

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
  const [overlap, setOverlap] = useState(A_DAY);
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
    <FormDialog
      title="Rotate the secret"
      problem={problem}
      onSubmit={() => rotate.mutate()}
      action="Rotate secret"
      pending={rotate.isPending}
      onClose={onClose}
    >
      <Text size="sm">
        You get a new secret, shown once. Until the overlap is over each delivery is signed with both, so nothing is
        lost while you change over.
      </Text>
      {previousSecretUntil !== null && (
        <Text size="sm">An earlier rotation is not over yet: the secret before that ends with this one.</Text>
      )}
      <Overlap
        label="The old secret signs on for"
        max={OVERLAP_MAX}
        error={problem.at('graceSeconds')}
        value={overlap}
        onChange={setOverlap}
      />
    </FormDialog>
  );
}
