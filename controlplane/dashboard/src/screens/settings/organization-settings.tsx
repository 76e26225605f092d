/** Name and budget of the organization. */
import { Card, Group, NumberInput, Stack, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { ME, queryClient } from '../../api/query-client.js';
import { useMe } from '../../api/session.js';
import { toCents } from '../../format/format.js';
import { Failure } from '../../parts/failure.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { toast } from '../../parts/toast.js';

export function OrganizationSettings() {
  const me = useMe().data;
  const own = me?.orgs.find(({ id }) => id === me.orgId);
  const [name, setName] = useState(own?.name ?? '');
  /** What the organization has now is not in any answer but that of a change: so an untouched field is not sent. */
  const [budget, setBudget] = useState<number | string | null>(null);
  const save = useMutation({
    mutationFn: () => {
      const body = {
        ...(name === own?.name ? {} : { name }),
        ...(budget === null ? {} : { budgetCentsMonthly: toCents(budget) }),
      };
      return api.patch('/v1/orgs/{id}', { params: { path: { id: own!.id } }, body });
    },
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ME });
      toast('The organization is saved');
    },
  });
  const unchanged = name === own?.name && budget === null;
  return (
    <Card component="section" aria-label="Organization" maw={560}>
      <Title order={2} mb="md">
        Organization
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="md">
          <TextInput
            label="Name"
            required
            maxLength={80}
            autoComplete="organization"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <NumberInput
            label="Budget a month"
            description="For all agents of the organization together. Leave it untouched to keep what is set; empty it for no budget."
            placeholder="unchanged"
            prefix="$"
            min={0}
            decimalScale={2}
            thousandSeparator=","
            value={budget ?? ''}
            onChange={setBudget}
          />
          {save.error !== null && <Failure error={save.error} />}
          <Group justify="flex-end">
            <GuardedButton
              needs="admin"
              type="submit"
              loading={save.isPending}
              whyNot={unchanged ? 'Nothing has changed.' : null}
            >
              Save
            </GuardedButton>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
