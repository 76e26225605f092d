/** Asks for a code of the second factor before an action that cannot be undone. Opens when a request needs it. */
import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, useSyncExternalStore } from 'react';
import { api } from '../api/api-client.js';
import { answerQuestion, isQuestionOpen, subscribeToQuestion } from '../api/confirm-with-second-factor.js';
import { FormDialog } from '../components/forms/form-dialog.js';
import { formErrors } from '../components/forms/server-errors-at-form-fields.js';

export function ConfirmationDialog() {
  const opened = useSyncExternalStore(subscribeToQuestion, isQuestionOpen);
  return opened ? <CodeDialog /> : null;
}

function CodeDialog() {
  const [code, setCode] = useState('');
  const confirm = useMutation({
    mutationFn: () => api.post('/v1/second-factor/verify', { body: { code: code.trim() } }),
    gcTime: 0,
    onSuccess: () => answerQuestion(true),
  });
  const errors = formErrors(confirm.error, { code: 'Authentication code' });
  return (
    <FormDialog
      title="Confirm that it is you"
      errors={errors}
      onSubmit={() => confirm.mutate()}
      onClose={() => answerQuestion(false)}
      action="Confirm"
      pending={confirm.isPending}
    >
      <TextInput
        label="Authentication code"
        description="From your authenticator app, or a recovery code. It counts for 10 minutes."
        error={errors.fieldError('code')}
        autoComplete="one-time-code"
        required
        withAsterisk={false}
        maxLength={40}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  );
}
