/** Creates a webhook endpoint, also of a Slack or Teams channel, or edits its URL and events. */
import { Checkbox, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useEventTypes } from '../../resources/use-event-types.js';
import type { Endpoint } from './fetch-webhooks-retry-deliveries.js';

export const ENDPOINT_KIND_LABELS = {
  webhook: 'Webhook (signed events)',
  slack: 'Slack incoming webhook',
  teams: 'Teams workflow webhook',
} as const satisfies Record<Endpoint['kind'], string>;

interface EndpointDialogProps {
  /** Null: a new endpoint. */
  readonly endpoint: Endpoint | null;
  readonly onClose: () => void;
  /** `secret`: the signing secret of a new endpoint; null after an edit. */
  readonly onSaved: (secret: string | null) => void;
}

export function EndpointDialog({ endpoint, onClose, onSaved }: EndpointDialogProps) {
  const isChat = endpoint !== null && endpoint.kind !== 'webhook';
  // The URL of a chat is a secret that the API does not return, so an empty input keeps it.
  const [url, setUrl] = useFormDraft(`endpoint ${endpoint?.id ?? 'new'} url`, isChat ? '' : (endpoint?.url ?? ''));
  const [kind, setKind] = useFormDraft<Endpoint['kind']>('endpoint new kind', endpoint?.kind ?? 'webhook');
  const { types } = useEventTypes();
  /** Null: every event but those that only admins may read, which an admin selects. */
  const [chosen, setChosen] = useFormDraft<readonly string[] | null>(
    `endpoint ${endpoint?.id ?? 'new'} events`,
    endpoint?.events ?? null,
  );
  const events = types
    .filter(({ event, webhooksOnly }) => chosen?.includes(event) ?? !webhooksOnly)
    .map(({ event }) => event);
  const save = useMutation({
    mutationFn: async () => {
      if (endpoint === null) {
        const { secret } = (await api.post('/v1/webhooks', { body: { url: url.trim(), events, kind } })).endpoint;
        // A chat does not check signatures.
        return kind === 'webhook' ? secret : null;
      }
      const body = { events, ...(url.trim() === '' ? {} : { url: url.trim() }) };
      await api.patch('/v1/webhooks/{id}', { params: { path: { id: endpoint.id } }, body });
      return null;
    },
    gcTime: 0,
    onSuccess: onSaved,
  });
  const errors = formErrors(save.error, { url: 'Endpoint URL', events: 'Events', kind: 'Kind' });
  return (
    <FormDialog
      title={endpoint === null ? 'Add endpoint' : 'Edit endpoint'}
      size="lg"
      errors={errors}
      onSubmit={() => save.mutate()}
      action="Save"
      pending={save.isPending}
      disabled={events.length === 0}
      onClose={onClose}
    >
      {endpoint === null && (
        <NativeSelect
          label="Kind"
          data={Object.entries(ENDPOINT_KIND_LABELS).map(([value, label]) => ({ value, label }))}
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value as Endpoint['kind'])}
          error={errors.fieldError('kind')}
        />
      )}
      <TextInput
        label="Endpoint URL"
        error={errors.fieldError('url')}
        placeholder={isChat ? endpoint.url : 'https://example.com/hooks/gateway'}
        description={isChat ? 'Empty: the stored URL stays.' : undefined}
        required={!isChat}
        type="url"
        data-autofocus
        autoComplete="off"
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <Checkbox.Group label="Events" error={errors.fieldError('events')} value={events} onChange={setChosen}>
        <Stack gap="xs" mt="xs">
          {types.map(({ event, title }) => (
            <Checkbox key={event} value={event} label={title} description={event} />
          ))}
        </Stack>
      </Checkbox.Group>
    </FormDialog>
  );
}
