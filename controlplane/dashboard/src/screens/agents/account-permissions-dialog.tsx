/** Whether an agent may make the sensitive and the opaque calls of a provider. The policy applies in both cases. */
import { Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { showToast } from '../../components/feedback/toast.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import type { useAgentAccounts } from '../../resources/agent-account-and-key-hooks.js';
import { useSetAccountPermissions } from '../../resources/provider-account-mutations.js';

const LABELS = { allowSensitivePaths: 'Allow sensitive calls', allowOpaque: 'Allow opaque calls' };
const CALLS_SHOWN = 8;

interface AccountPermissionsDialogProps {
  readonly account: NonNullable<ReturnType<typeof useAgentAccounts>['data']>[number];
  readonly providerName: string;
  readonly onClose: () => void;
}

export function AccountPermissionsDialog({ account, providerName, onClose }: AccountPermissionsDialogProps) {
  const change = useSetAccountPermissions(account.id);
  const [allowSensitivePaths, setAllowSensitivePaths] = useState(account.allowSensitivePaths);
  const [allowOpaque, setAllowOpaque] = useState(account.allowOpaque);
  // Custom providers have no page of this kind: their own list is on the Providers page.
  const { data: provider } = useQuery({
    queryKey: ['custom-providers', 'calls', account.providerSlug],
    queryFn: async () =>
      (await api.get('/v1/providers/{slug}', { params: { path: { slug: account.providerSlug } } })).provider,
    retry: false,
    staleTime: 60_000,
  });
  const errors = formErrors(change.error, LABELS);
  return (
    <FormDialog
      title={`Calls to ${providerName}`}
      errors={errors}
      action="Save"
      pending={change.isPending}
      onClose={onClose}
      onSubmit={() =>
        change.mutate(
          { allowSensitivePaths, allowOpaque },
          {
            onSuccess: () => {
              showToast('Calls saved');
              onClose();
            },
          },
        )
      }
    >
      <Switch
        label={LABELS.allowSensitivePaths}
        description="Calls that manage keys, members or billing at the provider. Allow them only to an agent that you trust with the whole account."
        checked={allowSensitivePaths}
        onChange={(event) => setAllowSensitivePaths(event.currentTarget.checked)}
      />
      <CallList calls={provider?.sensitiveCalls ?? []} />
      <Switch
        label={LABELS.allowOpaque}
        description="Calls whose path does not say what they do. No policy can tell what they do."
        checked={allowOpaque}
        onChange={(event) => setAllowOpaque(event.currentTarget.checked)}
      />
      <CallList calls={provider?.opaqueCalls ?? []} />
    </FormDialog>
  );
}

function CallList({ calls }: { readonly calls: readonly { readonly call: string; readonly why: string | null }[] }) {
  if (calls.length === 0) return null;
  const more = calls.length - CALLS_SHOWN;
  return (
    <div>
      {calls.slice(0, CALLS_SHOWN).map(({ call, why }) => (
        <Text key={call} size="sm" c="dimmed" className="acg-break-anywhere">
          {why === null ? call : `${call}: ${why}`}
        </Text>
      ))}
      {more > 0 && (
        <Text size="sm" c="dimmed">
          {`And ${more} more, on the page Providers.`}
        </Text>
      )}
    </div>
  );
}
