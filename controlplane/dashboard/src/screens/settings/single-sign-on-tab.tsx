/** The Single sign-on tab: the identity provider of the organization and its verified domains. */
import {
  Card,
  Code,
  Group,
  NativeSelect,
  PasswordInput,
  Skeleton,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { useMissingRoleReason } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { CopyButton } from '../../components/buttons/copy-button.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { formatGroupRoles, parseGroupRoles } from './group-roles-text.js';
import { ScimProvisioning } from './scim-provisioning.js';
import { SsoDomains } from './sso-domains.js';
import { SsoTest } from './sso-test.js';

const LABELS = {
  issuer: 'Issuer',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  defaultRole: 'New members',
  groupsClaim: 'Claim with the groups',
  groupRoles: 'Roles of groups',
  breakGlassUserId: 'Require single sign-on',
};
const NOT_REQUIRED = '';
const INVITATION_ONLY = 'none';
const ROLES = [
  { value: INVITATION_ONLY, label: 'by invitation only' },
  { value: 'viewer', label: 'join as viewer' },
  { value: 'member', label: 'join as member' },
  { value: 'admin', label: 'join as admin' },
];
const QUERY_KEY = ['sso'];

const fetchSettings = () => api.get('/v1/sso');
type Settings = Awaited<ReturnType<typeof fetchSettings>>;
type DefaultRole = 'viewer' | 'member' | 'admin' | null;

export function SingleSignOnTab() {
  const reason = useMissingRoleReason('admin');
  const settings = useQuery({ queryKey: QUERY_KEY, queryFn: fetchSettings, enabled: reason === null });
  if (reason !== null) return <Text size="sm">{reason}</Text>;
  if (settings.data === undefined) {
    return settings.error === null ? (
      <Skeleton h={320} maw={560} />
    ) : (
      <ErrorAlert error={settings.error} onRetry={settings.refetch} />
    );
  }
  const refetch = () => queryClient.invalidateQueries({ queryKey: QUERY_KEY });
  return (
    <Stack gap="lg">
      <IdentityProvider settings={settings.data} onChanged={refetch} />
      <SsoDomains domains={settings.data.domains} onChanged={refetch} />
      <SsoTest />
      <ScimProvisioning />
    </Stack>
  );
}

interface IdentityProviderProps {
  readonly settings: Settings;
  readonly onChanged: () => unknown;
}

function IdentityProvider({ settings: { connection, redirectUri }, onChanged }: IdentityProviderProps) {
  const [issuer, setIssuer] = useState(connection?.issuer ?? '');
  const [clientId, setClientId] = useState(connection?.clientId ?? '');
  const [clientSecret, setClientSecret] = useState('');
  const [role, setRole] = useState<string>(
    connection === null ? 'viewer' : (connection.defaultRole ?? INVITATION_ONLY),
  );
  const [groupsClaim, setGroupsClaim] = useState(connection?.groupsClaim ?? 'groups');
  const [groupRoles, setGroupRoles] = useState(formatGroupRoles(connection?.groupRoles ?? []));
  const [breakGlassUserId, setBreakGlassUserId] = useState(connection?.breakGlassUserId ?? NOT_REQUIRED);
  const owners = useQuery({
    queryKey: ['members', 'owners'],
    queryFn: () => api.get('/v1/members', { params: { query: { role: 'owner', status: 'active', limit: 100 } } }),
  });
  const [isRemoving, setRemoving] = useState(false);
  const save = useMutation({
    mutationFn: () =>
      api.put('/v1/sso', {
        body: {
          issuer: issuer.trim(),
          clientId: clientId.trim(),
          ...(clientSecret === '' ? {} : { clientSecret }),
          defaultRole: role === INVITATION_ONLY ? null : (role as DefaultRole),
          groupsClaim: groupsClaim.trim(),
          groupRoles: parseGroupRoles(groupRoles),
          breakGlassUserId: breakGlassUserId === NOT_REQUIRED ? null : breakGlassUserId,
        },
      }),
    gcTime: 0,
    onSuccess: () => {
      setClientSecret('');
      void onChanged();
      showToast('Identity provider saved');
    },
  });
  const remove = useMutation({
    mutationFn: () => api.delete('/v1/sso'),
    onSuccess: () => {
      setRemoving(false);
      setIssuer('');
      setClientId('');
      void onChanged();
      showToast('Identity provider removed');
    },
  });
  const errors = formErrors(save.error, LABELS);
  return (
    <Card component="section" aria-label="Identity provider" maw={560}>
      <Title order={2} mb={4}>
        Identity provider
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        OpenID Connect: Keycloak, Entra ID, Okta, Google, Auth0 and others. Register this redirect URI there:
      </Text>
      <Group gap="sm" wrap="nowrap" mb="md" align="flex-start">
        <Code block className="acg-code" flex={1} tabIndex={0}>
          {redirectUri}
        </Code>
        <CopyButton value={redirectUri} />
      </Group>
      <Form errors={errors} onSubmit={() => save.mutate()}>
        <TextInput
          label={LABELS.issuer}
          description="As its discovery document names it, e.g. https://login.example.com/realms/acme"
          error={errors.fieldError('issuer')}
          required
          withAsterisk={false}
          value={issuer}
          onChange={(event) => setIssuer(event.currentTarget.value)}
        />
        <TextInput
          label={LABELS.clientId}
          error={errors.fieldError('clientId')}
          required
          withAsterisk={false}
          value={clientId}
          onChange={(event) => setClientId(event.currentTarget.value)}
        />
        <PasswordInput
          label={LABELS.clientSecret}
          description={connection === null ? undefined : 'Empty: the stored one is kept.'}
          {...errors.secretFieldProps('clientSecret')}
          autoComplete="off"
          value={clientSecret}
          onChange={(event) => setClientSecret(event.currentTarget.value)}
        />
        <NativeSelect
          label={LABELS.defaultRole}
          data={ROLES}
          value={role}
          onChange={(event) => setRole(event.currentTarget.value)}
        />
        <Textarea
          label={LABELS.groupRoles}
          description="One per line, e.g. Engineering: member. The highest role counts at each login. Without a group of this list: the role above. Owners keep their role."
          error={errors.fieldError('groupRoles')}
          autosize
          minRows={2}
          maxRows={10}
          value={groupRoles}
          onChange={(event) => setGroupRoles(event.currentTarget.value)}
        />
        <TextInput
          label={LABELS.groupsClaim}
          error={errors.fieldError('groupsClaim')}
          required
          withAsterisk={false}
          value={groupsClaim}
          onChange={(event) => setGroupsClaim(event.currentTarget.value)}
        />
        <NativeSelect
          label={LABELS.breakGlassUserId}
          description="Passwords then open this organization to one owner only, who has a second factor and logs in while the provider is away."
          error={errors.fieldError('breakGlassUserId')}
          data={[
            { value: NOT_REQUIRED, label: 'not required' },
            ...(owners.data?.members ?? []).map(({ userId, email }) => ({
              value: userId,
              label: `required of everybody but ${email}`,
            })),
          ]}
          value={breakGlassUserId}
          onChange={(event) => setBreakGlassUserId(event.currentTarget.value)}
        />
        <Group justify="flex-end" gap="sm">
          {connection !== null && (
            <RoleGuardedButton requiredRole="owner" color="red" variant="light" onClick={() => setRemoving(true)}>
              Remove provider
            </RoleGuardedButton>
          )}
          <RoleGuardedButton requiredRole="owner" type="submit" loading={save.isPending}>
            Save
          </RoleGuardedButton>
        </Group>
      </Form>
      <ConfirmDialog
        opened={isRemoving}
        onClose={() => setRemoving(false)}
        title="Remove the identity provider"
        action="Remove"
        onConfirm={() => remove.mutate()}
        pending={remove.isPending}
        error={remove.error}
      >
        Sessions that it opened end at once. People without a password set one with “Forgot your password?”.
      </ConfirmDialog>
    </Card>
  );
}
