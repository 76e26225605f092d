/** Rotates a gateway token: creates a new secret and keeps the previous one valid for a grace period. */
import { Code, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { GracePeriodSelect, ONE_DAY_SECONDS } from '../../components/forms/grace-period-select.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { type Key, refreshKeys } from './fetch-keys-and-describe-status.js';

/** Seconds. */
const GRACE_SECONDS_MAX = 30 * 86_400;

interface RotateKeyDialogProps {
  readonly rotatedKey: Key;
  readonly onClose: () => void;
  readonly onRotated: (secret: string) => void;
}

export function RotateKeyDialog({ rotatedKey, onClose, onRotated }: RotateKeyDialogProps) {
  const [graceSeconds, setGraceSeconds] = useState(ONE_DAY_SECONDS);
  const rotate = useMutation({
    mutationFn: () =>
      api.post('/v1/api-keys/{id}/rotate', {
        params: { path: { id: rotatedKey.id } },
        body: { graceSeconds: Number(graceSeconds) },
      }),
    gcTime: 0,
    onSuccess: ({ secretKey }) => {
      refreshKeys();
      onRotated(secretKey);
    },
  });
  const errors = formErrors(rotate.error, { graceSeconds: 'Overlap' });
  return (
    <FormDialog
      title={`Rotate ${rotatedKey.name}`}
      errors={errors}
      onSubmit={() => rotate.mutate()}
      action="Rotate token"
      pending={rotate.isPending}
      onClose={onClose}
    >
      <Text size="sm">
        Creates a new token with the same name and scope. Replace the previous one (<Code>{rotatedKey.keyPrefix}…</Code>
        ) before the overlap ends; until then both work.
      </Text>
      <GracePeriodSelect
        label="The previous token stays valid for"
        maxSeconds={GRACE_SECONDS_MAX}
        error={errors.fieldError('graceSeconds')}
        value={graceSeconds}
        onChange={setGraceSeconds}
      />
    </FormDialog>
  );
}
