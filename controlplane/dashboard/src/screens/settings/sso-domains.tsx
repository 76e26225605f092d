/** Domains of e-mail addresses that the organization verifies by a TXT record. */
import { Button, Card, Code, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';

interface Domain {
  readonly id: string;
  readonly domain: string;
  readonly recordName: string;
  readonly recordValue: string;
  readonly verifiedAt: string | null;
  readonly checkedAt: string | null;
}

interface SsoDomainsProps {
  readonly domains: readonly Domain[];
  readonly onChanged: () => unknown;
}

export function SsoDomains({ domains, onChanged }: SsoDomainsProps) {
  const [domain, setDomain] = useState('');
  const add = useMutation({
    mutationFn: () => api.post('/v1/sso/domains', { body: { domain: domain.trim() } }),
    onSuccess: () => {
      setDomain('');
      void onChanged();
    },
  });
  const errors = formErrors(add.error, { domain: 'Domain' });
  return (
    <Card component="section" aria-label="Domains" maw={560}>
      <Title order={2} mb={4}>
        Domains
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        People with an address in a verified domain log in by the identity provider. Verification needs a TXT record and
        is repeated every week.
      </Text>
      <Stack gap="lg">
        {domains.map((row) => (
          <DomainRow key={row.id} row={row} onChanged={onChanged} />
        ))}
        <Form errors={errors} onSubmit={() => add.mutate()}>
          <TextInput
            label="Domain"
            placeholder="example.com"
            error={errors.fieldError('domain')}
            required
            withAsterisk={false}
            value={domain}
            onChange={(event) => setDomain(event.currentTarget.value)}
          />
          <Group justify="flex-end">
            <RoleGuardedButton requiredRole="owner" type="submit" loading={add.isPending}>
              Add domain
            </RoleGuardedButton>
          </Group>
        </Form>
      </Stack>
    </Card>
  );
}

function DomainRow({ row, onChanged }: { readonly row: Domain; readonly onChanged: () => unknown }) {
  const params = { path: { id: row.id } };
  const verify = useMutation({
    mutationFn: async () => (await api.post('/v1/sso/domains/{id}/verify', { params })).domain,
    onSuccess: ({ verifiedAt }) => {
      void onChanged();
      showToast(verifiedAt === null ? `The TXT record of ${row.domain} was not found` : `${row.domain} is verified`);
    },
    onError: showErrorToast,
  });
  const remove = useMutation({
    mutationFn: () => api.delete('/v1/sso/domains/{id}', { params }),
    onSuccess: onChanged,
    onError: showErrorToast,
  });
  return (
    <Stack gap="xs" role="group" aria-label={row.domain}>
      <Group justify="space-between" gap="sm">
        <Text fw={600} className="acg-break-anywhere">
          {row.domain}
        </Text>
        <Text size="sm">
          {row.verifiedAt === null ? (
            'Not verified'
          ) : (
            <>
              Verified <RelativeTime at={row.verifiedAt} />
            </>
          )}
        </Text>
      </Group>
      {row.verifiedAt === null && (
        <Code block className="acg-code" tabIndex={0}>{`${row.recordName}. TXT "${row.recordValue}"`}</Code>
      )}
      <Group justify="flex-end" gap="sm">
        <RoleGuardedButton requiredRole="owner" variant="default" size="xs" onClick={() => verify.mutate()}>
          Check now
        </RoleGuardedButton>
        <Button
          size="xs"
          variant="subtle"
          color="red"
          loading={remove.isPending}
          aria-label={`Remove ${row.domain}`}
          onClick={() => remove.mutate()}
        >
          Remove
        </Button>
      </Group>
    </Stack>
  );
}
