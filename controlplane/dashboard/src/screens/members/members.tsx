/** Who belongs to the organization, with which role, and who is invited. */
import { Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { queryClient } from '../../api/query-client.js';
import { useMe } from '../../api/session.js';
import { Ago } from '../../parts/ago.js';
import { Confirm } from '../../parts/confirm.js';
import { DataTable } from '../../parts/data-table.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { toast, toastFailure } from '../../parts/toast.js';
import { InvitationLink } from './invitation-link.js';
import { Invite } from './invite.js';
import { RoleChoice } from './role-choice.js';
import { RoleTable } from './role-table.js';

const DEFAULTS = { page: 1 };
const PAGE_SIZE = 50;

type Member = Awaited<ReturnType<typeof readMembers>>['members'][number];

const readMembers = (page: number) =>
  api.get('/v1/members', { params: { query: { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } } });

const refresh = (): void => void queryClient.invalidateQueries({ queryKey: ['members'] });

export function Members() {
  const { values, set } = useSearchState(DEFAULTS);
  const me = useMe().data;
  const [inviting, setInviting] = useDraft('invite', false);
  const [link, setLink] = useState<string | null>(null);
  const [leaving, setLeaving] = useState<Member | null>(null);
  const members = useQuery({ queryKey: ['members', values.page], queryFn: () => readMembers(values.page) });
  const invited = (invitationUrl: string | null, email: string): void => {
    refresh();
    setInviting(false);
    if (invitationUrl === null) toast(`The invitation is on its way to ${email}`);
    else setLink(invitationUrl);
  };
  const resend = useMutation({
    mutationFn: ({ userId }: Member) => api.post('/v1/members/{userId}/resend', { params: { path: { userId } } }),
    gcTime: 0,
    onSuccess: ({ invitationUrl }, { email }) => invited(invitationUrl, email),
    onError: toastFailure,
  });
  const remove = useMutation({
    mutationFn: ({ userId }: Member) => api.delete('/v1/members/{userId}', { params: { path: { userId } } }),
    onSuccess: (_, { email }) => {
      refresh();
      setLeaving(null);
      toast(`${email} is out`);
    },
  });
  const owners = members.data?.members.filter(({ role, status }) => role === 'owner' && status === 'active').length;
  const lastOwner = ({ role, status }: Member): string | null =>
    role === 'owner' && status === 'active' && owners === 1 && (members.data?.total ?? 0) <= PAGE_SIZE
      ? 'This is the last owner: make another member an owner first.'
      : null;
  return (
    <>
      <PageHeader
        title="Members"
        description="People of this organization. What somebody may do follows from the role."
        actions={
          <GuardedButton needs="admin" onClick={() => setInviting(true)}>
            Invite
          </GuardedButton>
        }
      />
      <Stack gap="lg">
        <DataTable
          label="Members"
          query={members}
          rows={(data) => data.members}
          rowKey={({ userId }) => userId}
          paging={({ total }) => ({
            page: values.page,
            pageSize: PAGE_SIZE,
            total,
            onPage: (page) => set({ page }),
          })}
          empty={<Nothing title="Nobody here" />}
          columns={[
            {
              header: 'Who',
              cell: ({ name, email, userId }) => (
                <>
                  <Text size="sm" fw={600} span display="block" className="acg-name">
                    {name ?? email}
                    {userId === me?.user?.id && ' (you)'}
                  </Text>
                  {name !== null && (
                    <Text size="xs" c="dimmed" span display="block" className="acg-break">
                      {email}
                    </Text>
                  )}
                </>
              ),
            },
            {
              header: 'Role',
              cell: (member) => <RoleChoice member={member} whyNot={lastOwner(member)} onChanged={refresh} />,
            },
            {
              header: 'Status',
              cell: ({ status }) => <StatusBadge tone={status === 'active' ? 'good' : 'quiet'}>{status}</StatusBadge>,
            },
            { header: 'Since', cell: ({ createdAt }) => <Ago at={createdAt} /> },
            {
              header: 'Actions',
              cell: (member) => (
                <Group gap="xs" wrap="nowrap" justify="flex-end">
                  {member.status === 'invited' && (
                    <GuardedButton
                      needs="admin"
                      size="xs"
                      variant="default"
                      loading={resend.isPending && resend.variables.userId === member.userId}
                      onClick={() => resend.mutate(member)}
                    >
                      Invite again
                    </GuardedButton>
                  )}
                  <GuardedButton
                    needs="admin"
                    whyNot={lastOwner(member)}
                    size="xs"
                    variant="subtle"
                    color="red"
                    onClick={() => {
                      remove.reset();
                      setLeaving(member);
                    }}
                  >
                    {member.status === 'invited' ? 'Withdraw' : 'Remove'}
                  </GuardedButton>
                </Group>
              ),
            },
          ]}
        />
        <RoleTable />
      </Stack>
      <Invite opened={inviting} onClose={() => setInviting(false)} onInvited={invited} />
      <InvitationLink url={link} onClose={() => setLink(null)} />
      <Confirm
        opened={leaving !== null}
        onClose={() => setLeaving(null)}
        title={leaving?.status === 'invited' ? 'Withdraw the invitation' : 'Remove from the organization'}
        action={leaving?.status === 'invited' ? 'Withdraw' : 'Remove'}
        onConfirm={() => leaving !== null && remove.mutate(leaving)}
        pending={remove.isPending}
        error={remove.error}
      >
        {leaving?.status === 'invited'
          ? `The link that ${leaving.email} has got stops working.`
          : `${leaving?.email ?? ''} loses access at once, in every browser and program. Management tokens of theirs end too; agents and their keys stay.`}
      </Confirm>
    </>
  );
}
