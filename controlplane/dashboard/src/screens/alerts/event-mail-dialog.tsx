/** Selects the events that the signed-in member receives by e-mail. */
import { Alert, Anchor, Button, Checkbox, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { useMe } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showToast } from '../../components/feedback/toast.js';
import { RestoreFocusOnClose } from '../../components/focus/restore-focus-on-close.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useEventTypes } from '../../resources/use-event-types.js';

const PAGE_SIZE = 100;

type Preference = NonNullable<Awaited<ReturnType<typeof fetchOwnPreference>>>;

/** Finds the user's own preference in the paged list of all members. */
async function fetchOwnPreference(userId: string) {
  for (let offset = 0; ; offset += PAGE_SIZE) {
    const query = { limit: PAGE_SIZE, offset };
    const { preferences, total } = await api.get('/v1/event-mail', { params: { query } });
    const own = preferences.find((one) => one.userId === userId);
    if (own !== undefined) return own;
    if (offset + PAGE_SIZE >= total) return null;
  }
}

export function EventMailDialog({ onClose }: { readonly onClose: () => void }) {
  const userId = useMe().data?.user?.id ?? '';
  const preferenceQuery = useQuery({
    queryKey: ['event-mail', userId],
    queryFn: () => fetchOwnPreference(userId),
    enabled: userId !== '',
  });
  return (
    <Modal opened onClose={onClose} title="E-mail alerts">
      <RestoreFocusOnClose />
      {preferenceQuery.isPending && <Skeleton h={240} />}
      {preferenceQuery.error !== null && <ErrorAlert error={preferenceQuery.error} onRetry={preferenceQuery.refetch} />}
      {preferenceQuery.data === null && <Text size="sm">You are no longer a member of this organization.</Text>}
      {preferenceQuery.data !== undefined && preferenceQuery.data !== null && (
        <EventMailForm preference={preferenceQuery.data} onClose={onClose} />
      )}
    </Modal>
  );
}

interface EventMailFormProps {
  readonly preference: Preference;
  readonly onClose: () => void;
}

function EventMailForm({ preference, onClose }: EventMailFormProps) {
  const { userId, email, emailVerified } = preference;
  const types = useEventTypes().types.filter(({ webhooksOnly }) => !webhooksOnly);
  const [events, setEvents] = useState<readonly string[]>(preference.events);
  const save = useMutation({
    mutationFn: () => {
      const body = { events: types.map(({ event }) => event).filter((event) => events.includes(event)) };
      return api.put('/v1/event-mail/{userId}', { params: { path: { userId } }, body });
    },
    onSuccess: ({ preference: saved }) => {
      // Updates the cache at once: reopening the dialog must not show, and resubmit, the previous selection.
      queryClient.setQueryData(['event-mail', userId], saved);
      showToast(events.length === 0 ? 'E-mail alerts are off' : `E-mail alerts go to ${email}`);
      onClose();
    },
  });
  const errors = formErrors(save.error, { events: 'Events' });
  return (
    <Form errors={errors} onSubmit={() => save.mutate()}>
      <Text size="sm">Sent to {email}, at most one e-mail every 15 minutes with all events since the last one.</Text>
      {!emailVerified && (
        <Alert color="yellow" variant="light" title="Your e-mail address is not confirmed">
          Open the link in the confirmation e-mail. No alerts are sent until then.{' '}
          <Anchor component={Link} href="/settings" inherit c="inherit" underline="always">
            Resend the link
          </Anchor>
        </Alert>
      )}
      <Checkbox.Group label="Events" error={errors.fieldError('events')} value={[...events]} onChange={setEvents}>
        <Stack gap="xs" mt="xs">
          {types.map(({ event, title }) => (
            <Checkbox key={event} value={event} label={title} disabled={!emailVerified} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={save.isPending} disabled={!emailVerified || types.length === 0}>
          Save
        </Button>
      </Group>
    </Form>
  );
}
