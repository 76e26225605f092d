/** The Members page: members, roles and invitations. */
import { Group, Stack, Text } from '@mantine/core';
import { keepPreviousData, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { queryClient } from '../../api/query-client.js';
import { useMe } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { SearchInput } from '../../components/forms/search-input.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { useUrlSorting } from '../../hooks/use-url-sorting.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { InvitationLinkDialog } from './invitation-link-dialog.js';
import { InviteMemberDialog } from './invite-member-dialog.js';
import { MemberRoleSelect } from './member-role-select.js';
import { MemberSessionsDialog } from './member-sessions-dialog.js';
import { RemoveMemberDialog } from './remove-member-dialog.js';
import { RoleTable } from './role-table.js';

const DEFAULTS = { search: '', page: 1 };
const PAGE_SIZE = 50;

type Member = Awaited<ReturnType<typeof fetchMembers>>['members'][number];

const SORTS = ['createdAt', 'name', 'role', 'lastSeenAt'] as const;

interface MemberQuery {
  readonly search: string;
  readonly page: number;
  readonly sort: (typeof SORTS)[number];
  readonly order: 'asc' | 'desc';
}

const fetchMembers = ({ search, page, ...sorting }: MemberQuery) =>
  api.get('/v1/members', {
    params: {
      query: {
        ...sorting,
        limit: PAGE_SIZE,
        offset: (page - 1) * PAGE_SIZE,
        ...(search.trim() === '' ? {} : { search: search.trim() }),
      },
    },
  });

const refreshMembers = (): void => void queryClient.invalidateQueries({ queryKey: ['members'] });

export function MembersPage() {
  const { values, set, clear } = useUrlState(DEFAULTS);
  const { query, sorting } = useUrlSorting(SORTS, 'asc');
  const me = useMe().data;
  const [inviting, setInviting] = useFormDraft('invite', false);
  const [link, setLink] = useState<string | null>(null);
  const [shown, setShown] = useState<Member | null>(null);
  const [toRemove, setToRemove] = useState<Member | null>(null);
  const members = useQuery({
    queryKey: ['members', values, query],
    queryFn: () => fetchMembers({ ...values, ...query }),
    placeholderData: keepPreviousData,
  });
  const handleInvited = (invitationUrl: string | null, email: string): void => {
    refreshMembers();
    setInviting(false);
    if (invitationUrl === null) showToast(`Invitation sent to ${email}`);
    else setLink(invitationUrl);
  };
  const resend = useMutation({
    mutationFn: ({ userId }: Member) => api.post('/v1/members/{userId}/resend', { params: { path: { userId } } }),
    gcTime: 0,
    onSuccess: ({ invitationUrl }, { email }) => handleInvited(invitationUrl, email),
    onError: showErrorToast,
  });
  const owners = members.data?.members.filter(({ role, status }) => role === 'owner' && status === 'active').length;
  const lastOwnerReason = ({ role, status }: Member): string | null =>
    role === 'owner' && status === 'active' && owners === 1 && (members.data?.total ?? 0) <= PAGE_SIZE
      ? 'This is the last owner. Make another member an owner first.'
      : null;
  return (
    <>
      <PageHeader
        title="Members"
        description="Members of this organization. The role decides what a member can do."
        actions={
          <RoleGuardedButton requiredRole="admin" onClick={() => setInviting(true)}>
            Invite member
          </RoleGuardedButton>
        }
      />
      <Group gap="sm" mb="md" className="acg-filters">
        <SearchInput
          label="Search members"
          placeholder="Name or e-mail"
          value={values.search}
          onChange={(search) => set({ search }, { replace: true })}
        />
      </Group>
      <Stack gap="lg">
        <DataTable
          label="Members"
          filtered={values.search !== ''}
          onClearFilters={clear}
          sorting={sorting}
          query={members}
          rows={(data) => data.members}
          rowKey={({ userId }) => userId}
          paging={({ total }) => ({
            page: values.page,
            pageSize: PAGE_SIZE,
            total,
            onPage: (page) => set({ page }),
          })}
          empty={<EmptyState title="No members" />}
          columns={[
            {
              header: 'Member',
              sortKey: 'name',
              cell: ({ name, email, userId }) => (
                <>
                  <Text size="sm" fw={500} span display="block" className="acg-name">
                    {name ?? email}
                    {userId === me?.user?.id && ' (you)'}
                  </Text>
                  {name !== null && (
                    <Text size="xs" c="dimmed" span display="block" className="acg-break-anywhere">
                      {email}
                    </Text>
                  )}
                </>
              ),
            },
            {
              header: 'Role',
              sortKey: 'role',
              cell: (member) => (
                <MemberRoleSelect member={member} disabledReason={lastOwnerReason(member)} onChanged={refreshMembers} />
              ),
            },
            {
              header: 'Status',
              isBesideTitle: true,
              cell: ({ status, emailVerified }) => (
                <StatusBadge tone={status === 'active' ? 'success' : 'neutral'}>
                  {status === 'active' && !emailVerified ? 'active, address unconfirmed' : status}
                </StatusBadge>
              ),
            },
            {
              header: 'Last active',
              sortKey: 'lastSeenAt',
              cell: ({ lastSeenAt, status }) =>
                status === 'active' ? <RelativeTime at={lastSeenAt} never="No session" /> : '–',
            },
            { header: 'Added', sortKey: 'createdAt', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
            {
              header: 'Actions',
              cell: (member) => (
                <Group gap="xs" wrap="nowrap" justify="flex-end">
                  {member.status === 'invited' && (
                    <RoleGuardedButton
                      requiredRole="admin"
                      size="xs"
                      variant="default"
                      loading={resend.isPending && resend.variables.userId === member.userId}
                      onClick={() => resend.mutate(member)}
                    >
                      Resend invitation
                    </RoleGuardedButton>
                  )}
                  {member.status === 'active' && (
                    <RoleGuardedButton
                      requiredRole="owner"
                      size="xs"
                      variant="default"
                      onClick={() => setShown(member)}
                    >
                      Sessions
                    </RoleGuardedButton>
                  )}
                  <RoleGuardedButton
                    requiredRole="admin"
                    disabledReason={lastOwnerReason(member)}
                    size="xs"
                    variant="subtle"
                    color="red"
                    onClick={() => setToRemove(member)}
                  >
                    {member.status === 'invited' ? 'Revoke' : 'Remove'}
                  </RoleGuardedButton>
                </Group>
              ),
            },
          ]}
        />
        <RoleTable />
      </Stack>
      <InviteMemberDialog opened={inviting} onClose={() => setInviting(false)} onInvited={handleInvited} />
      <InvitationLinkDialog url={link} onClose={() => setLink(null)} />
      {toRemove !== null && (
        <RemoveMemberDialog
          member={toRemove}
          onClose={() => setToRemove(null)}
          onRemoved={() => {
            refreshMembers();
            showToast(`${toRemove.email} removed`);
            setToRemove(null);
          }}
        />
      )}
      {shown !== null && <MemberSessionsDialog member={shown} onClose={() => setShown(null)} />}
    </>
  );
}
