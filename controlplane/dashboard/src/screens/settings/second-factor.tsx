/** The second factor of the user: set up, replace recovery codes, remove. Secrets are in the component's state only. */
import { ApiError } from '@acg/client/api-errors';
import { Button, Card, Group, PasswordInput, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { ME_QUERY_KEY, queryClient } from '../../api/query-client.js';
import { useQuery } from '../../api/use-query.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showToast } from '../../components/feedback/toast.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';
import { QrCode } from './qr-code.js';

const QUERY_KEY = ['second-factor'];
const CODE_LABELS = { code: 'Authentication code' };

function refetch(): void {
  void queryClient.invalidateQueries({ queryKey: QUERY_KEY });
  void queryClient.invalidateQueries({ queryKey: ME_QUERY_KEY });
  void queryClient.invalidateQueries({ queryKey: ['sessions'] });
}

export function SecondFactor() {
  const status = useQuery({ queryKey: QUERY_KEY, queryFn: () => api.get('/v1/second-factor') });
  const [dialog, setDialog] = useState<'set-up' | 'renew' | 'remove' | null>(null);
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[] | null>(null);
  const showCodes = (codes: readonly string[]): void => {
    setDialog(null);
    setRecoveryCodes(codes);
    refetch();
  };
  const onRemoved = (): void => {
    setDialog(null);
    refetch();
    showToast('Second factor removed');
  };
  // A session of single sign-on or of a device may not change the account.
  if (status.error instanceof ApiError && status.error.status === 403) return null;
  return (
    <Card component="section" aria-label="Second factor" maw={560}>
      <Title order={2} mb={4}>
        Second factor
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        A code of an authenticator app, required beside the password and before actions that cannot be undone.
      </Text>
      {status.error !== null && <ErrorAlert error={status.error} onRetry={status.refetch} />}
      {status.data === undefined && status.error === null && <Skeleton h={60} />}
      {status.data?.enabledAt === null && (
        <Group justify="flex-end">
          <Button onClick={() => setDialog('set-up')}>Set up</Button>
        </Group>
      )}
      {typeof status.data?.enabledAt === 'string' && (
        <Stack gap="md">
          <Text size="sm">
            Enabled <RelativeTime at={status.data.enabledAt} />. {status.data.recoveryCodesLeft} recovery codes left.
          </Text>
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={() => setDialog('renew')}>
              New recovery codes
            </Button>
            <Button color="red" variant="light" onClick={() => setDialog('remove')}>
              Remove
            </Button>
          </Group>
        </Stack>
      )}
      {dialog === 'set-up' && <SetUpDialog onClose={() => setDialog(null)} onEnabled={showCodes} />}
      {dialog === 'renew' && <RenewDialog onClose={() => setDialog(null)} onRenewed={showCodes} />}
      {dialog === 'remove' && <RemoveDialog onClose={() => setDialog(null)} onRemoved={onRemoved} />}
      <SecretDialog
        title="Recovery codes"
        secret={recoveryCodes?.join('\n') ?? null}
        onStored={() => setRecoveryCodes(null)}
      >
        <Text size="sm">Each code works once, instead of a code of the app, e.g. when the phone is lost.</Text>
      </SecretDialog>
    </Card>
  );
}

interface SetUpDialogProps {
  readonly onClose: () => void;
  readonly onEnabled: (recoveryCodes: readonly string[]) => void;
}

/** First the password, then the QR code and the first code of the app. */
function SetUpDialog({ onClose, onEnabled }: SetUpDialogProps) {
  const [password, setPassword] = useState('');
  const begin = useMutation({ mutationFn: () => api.post('/v1/second-factor', { body: { password } }), gcTime: 0 });
  const errors = formErrors(begin.error, { password: 'Your password' });
  if (begin.data !== undefined) return <FirstCodeDialog secret={begin.data} onClose={onClose} onEnabled={onEnabled} />;
  return (
    <FormDialog
      title="Set up a second factor"
      errors={errors}
      onSubmit={() => begin.mutate()}
      onClose={onClose}
      action="Continue"
      pending={begin.isPending}
    >
      <PasswordInput
        label="Your password"
        {...errors.secretFieldProps('password')}
        required
        withAsterisk={false}
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  );
}

interface FirstCodeDialogProps extends SetUpDialogProps {
  readonly secret: { readonly secret: string; readonly otpauthUrl: string };
}

function FirstCodeDialog({ secret, onClose, onEnabled }: FirstCodeDialogProps) {
  return (
    <CodeDialog
      title="Set up a second factor"
      action="Enable"
      send={async (code) => (await api.post('/v1/second-factor/confirm', { body: { code } })).recoveryCodes}
      onClose={onClose}
      onDone={onEnabled}
    >
      <Text size="sm">
        Scan this with your authenticator app, or type the secret. All your other sessions will end.
      </Text>
      <Group justify="center">
        <QrCode text={secret.otpauthUrl} label="QR code for the authenticator app" />
      </Group>
      <TextInput label="Secret" readOnly value={secret.secret} data-secret />
    </CodeDialog>
  );
}

const RenewDialog = (props: {
  readonly onClose: () => void;
  readonly onRenewed: (recoveryCodes: readonly string[]) => void;
}) => (
  <CodeDialog
    title="New recovery codes"
    action="Create codes"
    send={async (code) => (await api.post('/v1/second-factor/recovery-codes', { body: { code } })).recoveryCodes}
    onClose={props.onClose}
    onDone={props.onRenewed}
  >
    <Text size="sm">The old recovery codes stop working.</Text>
  </CodeDialog>
);

const RemoveDialog = (props: { readonly onClose: () => void; readonly onRemoved: () => void }) => (
  <CodeDialog
    title="Remove the second factor"
    action="Remove second factor"
    color="red.9"
    send={(code) => api.delete('/v1/second-factor', { body: { code } })}
    onClose={props.onClose}
    onDone={props.onRemoved}
  >
    <Text size="sm">After that, your password alone logs you in.</Text>
  </CodeDialog>
);

interface CodeDialogProps<Reply> {
  readonly title: string;
  readonly action: string;
  readonly color?: string;
  readonly send: (code: string) => Promise<Reply>;
  readonly onClose: () => void;
  readonly onDone: (reply: Reply) => void;
  readonly children: React.ReactNode;
}

/** A dialog whose action needs a code. */
function CodeDialog<Reply>({ title, action, color, send, onClose, onDone, children }: CodeDialogProps<Reply>) {
  const [code, setCode] = useState('');
  const submit = useMutation({ mutationFn: () => send(code.trim()), gcTime: 0, onSuccess: onDone });
  const errors = formErrors(submit.error, CODE_LABELS);
  return (
    <FormDialog
      title={title}
      errors={errors}
      onSubmit={() => submit.mutate()}
      onClose={onClose}
      action={action}
      {...(color === undefined ? {} : { color })}
      pending={submit.isPending}
    >
      {children}
      <TextInput
        label="Authentication code"
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
