/** Which events the signed-in member gets by mail. */
import { Alert, Anchor, Button, Checkbox, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { useMe } from '../../api/session.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showToast } from '../../components/feedback/toast.js';
import { RestoreFocusOnClose } from '../../components/focus/restore-focus-on-close.js';
import { Form } from '../../components/forms/form.js';
import { formErrors } from '../../components/forms/form-errors.js';
import { EVENT_NAMES, eventLabel } from '../../messages/event-labels.js';

const PAGE_SIZE = 100;

type Preference = NonNullable<Awaited<ReturnType<typeof fetchOwnPreference>>>;

/** Of all members' the own one, wherever it stands. */
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
    <Modal opened onClose={onClose} title="Mail to me">
      <RestoreFocusOnClose />
      {preferenceQuery.isPending && <Skeleton h={240} />}
      {preferenceQuery.error !== null && <ErrorAlert error={preferenceQuery.error} onRetry={preferenceQuery.refetch} />}
      {preferenceQuery.data === null && <Text size="sm">You are no member of this organization any more.</Text>}
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
  const [events, setEvents] = useState<readonly string[]>(preference.events);
  const save = useMutation({
    mutationFn: () => {
      const body = { events: EVENT_NAMES.filter((name) => events.includes(name)) };
      return api.put('/v1/event-mail/{userId}', { params: { path: { userId } }, body });
    },
    onSuccess: ({ preference: saved }) => {
      // At once: whoever opens this again must not find the old choice, and send it again.
      queryClient.setQueryData(['event-mail', userId], saved);
      showToast(events.length === 0 ? 'You get no mail about events' : `Mail goes to ${email}`);
      onClose();
    },
  });
  const problem = formErrors(save.error, { events: 'Events' });
  return (
    <Form problem={problem} onSubmit={() => save.mutate()}>
      <Text size="sm">To {email}, at most one mail in 15 minutes, with all that happened meanwhile.</Text>
      {!emailVerified && (
        <Alert color="yellow" variant="light" title="Your address is not confirmed yet">
          Follow the link in the mail of your sign-up; until then no events are mailed.{' '}
          <Anchor component={Link} href="/settings" inherit c="inherit" underline="always">
            Have it sent again
          </Anchor>
        </Alert>
      )}
      <Checkbox.Group label="Events" error={problem.fieldError('events')} value={[...events]} onChange={setEvents}>
        <Stack gap="xs" mt="xs">
          {EVENT_NAMES.map((name) => (
            <Checkbox key={name} value={name} label={eventLabel(name)} disabled={!emailVerified} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={save.isPending} disabled={!emailVerified}>
          Save
        </Button>
      </Group>
    </Form>
  );
}
