/** Which events the signed-in member gets by mail. */
import { Alert, Anchor, Button, Checkbox, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { queryClient } from '../../api/query-client.js';
import { useMe } from '../../api/session.js';
import { EVENT_NAMES, eventName } from '../../parts/event-name.js';
import { Failure } from '../../parts/failure.js';
import { FocusBack } from '../../parts/focus-back.js';
import { Form } from '../../parts/form.js';
import { formProblem } from '../../parts/form-problem.js';
import { toast } from '../../parts/toast.js';

const PAGE_SIZE = 100;

type Preference = NonNullable<Awaited<ReturnType<typeof readOwn>>>;

/** Of all members' the own one, wherever it stands. */
async function readOwn(userId: string) {
  for (let offset = 0; ; offset += PAGE_SIZE) {
    const query = { limit: PAGE_SIZE, offset };
    const { preferences, total } = await api.get('/v1/event-mail', { params: { query } });
    const own = preferences.find((one) => one.userId === userId);
    if (own !== undefined) return own;
    if (offset + PAGE_SIZE >= total) return null;
  }
}

export function EventMail({ onClose }: { readonly onClose: () => void }) {
  const userId = useMe().data?.user?.id ?? '';
  const own = useQuery({ queryKey: ['event-mail', userId], queryFn: () => readOwn(userId), enabled: userId !== '' });
  return (
    <Modal opened onClose={onClose} title="Mail to me">
      <FocusBack />
      {own.isPending && <Skeleton h={240} />}
      {own.error !== null && <Failure error={own.error} onRetry={own.refetch} />}
      {own.data === null && <Text size="sm">You are no member of this organization any more.</Text>}
      {own.data !== undefined && own.data !== null && <Choice preference={own.data} onClose={onClose} />}
    </Modal>
  );
}

interface ChoiceProps {
  readonly preference: Preference;
  readonly onClose: () => void;
}

function Choice({ preference, onClose }: ChoiceProps) {
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
      toast(events.length === 0 ? 'You get no mail about events' : `Mail goes to ${email}`);
      onClose();
    },
  });
  const problem = formProblem(save.error, { events: 'Events' });
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
      <Checkbox.Group label="Events" error={problem.at('events')} value={[...events]} onChange={setEvents}>
        <Stack gap="xs" mt="xs">
          {EVENT_NAMES.map((name) => (
            <Checkbox key={name} value={name} label={eventName(name)} disabled={!emailVerified} />
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
