/** Which agents use a shared credential; more of them, or fewer. */
import { Anchor, Drawer, Group, Pagination, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { count } from '../../format/format.js';
import { AgentChoice } from '../../parts/agent-choice.js';
import { Failure } from '../../parts/failure.js';
import { Form } from '../../parts/form.js';
import { formProblem } from '../../parts/form-problem.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { toast, toastFailure } from '../../parts/toast.js';
import { useRemoveAccount } from '../../resources/accounts.js';
import { type SharedCredential, useSharedCredential, useShareWith } from '../../resources/credentials.js';
import { useAccountList, useProviderName } from './account-list.js';

const SHOWN = 20;
const LABELS = { agent: 'Agent', agentId: 'Agent', credentialId: 'Agent' };

interface SharedDrawerProps {
  /** Empty: closed. */
  readonly id: string;
  readonly onClose: () => void;
}

export function SharedDrawer({ id, onClose }: SharedDrawerProps) {
  const asked = useSharedCredential(id);
  const nameOf = useProviderName();
  const credential = asked.data;
  return (
    <Drawer opened={id !== ''} onClose={onClose} title={credential?.name ?? 'Shared credential'} position="right">
      {asked.error !== null && <Failure error={asked.error} onRetry={asked.refetch} />}
      {credential === undefined && asked.error === null && id !== '' && <Skeleton h={200} />}
      {credential !== undefined && (
        <Stack gap="lg">
          <Text size="sm" c="dimmed">
            Of {nameOf(credential.providerSlug)}
            {credential.projectId === null ? ', for all agents' : ', for the agents of one project'}. Agents never see
            it; a rotation counts for all at once.
          </Text>
          <Share credential={credential} />
          <Users credential={credential} />
        </Stack>
      )}
    </Drawer>
  );
}

function Share({ credential }: { readonly credential: SharedCredential }) {
  const [agentId, setAgentId] = useState('');
  const share = useShareWith();
  const problem = formProblem(share.error, LABELS);
  return (
    <Form
      problem={problem}
      onSubmit={() => {
        const body = { agentId, providerSlug: credential.providerSlug, credentialId: credential.id };
        share.mutate(body, {
          onSuccess: () => {
            setAgentId('');
            toast('The agent calls with it from now on');
          },
        });
      }}
      gap="sm"
    >
      <AgentChoice
        label="Share with"
        placeholder="Another agent"
        value={agentId}
        error={problem.at('agent') ?? problem.at('agentId') ?? problem.at('credentialId')}
        onChange={(next) => {
          setAgentId(next);
          share.reset();
        }}
      />
      <Group>
        <GuardedButton
          needs="admin"
          type="submit"
          loading={share.isPending}
          whyNot={agentId === '' ? 'Choose an agent first.' : null}
        >
          Share
        </GuardedButton>
      </Group>
    </Form>
  );
}

function Users({ credential }: { readonly credential: SharedCredential }) {
  const [page, setPage] = useState(1);
  const users = useAccountList({ credentialId: credential.id, limit: SHOWN, offset: (page - 1) * SHOWN });
  const remove = useRemoveAccount();
  if (users.data === undefined) {
    return users.error === null ? <Skeleton h={120} /> : <Failure error={users.error} onRetry={users.refetch} />;
  }
  const { accounts, total } = users.data;
  return (
    <Stack gap="sm" component="section" aria-label="Used by">
      <Text size="sm" fw={600}>
        {total === 0 ? 'No agent uses it yet' : `Used by ${count(total)} ${total === 1 ? 'agent' : 'agents'}`}
      </Text>
      <ul className="acg-plain-list">
        {accounts.map(({ id, agentId, agentName }) => (
          <Group component="li" key={id} justify="space-between" wrap="nowrap" py={6} gap="sm" className="acg-line-row">
            <Anchor
              component={Link}
              href={`/agents/${agentId}?tab=providers`}
              size="sm"
              underline="always"
              className="acg-break"
            >
              {agentName}
            </Anchor>
            <GuardedButton
              needs="admin"
              size="xs"
              variant="subtle"
              color="red"
              aria-label={`Take away from ${agentName}`}
              loading={remove.isPending && remove.variables === id}
              onClick={() =>
                remove.mutate(id, {
                  onSuccess: () => toast(`${agentName} does not use it any more`),
                  onError: toastFailure,
                })
              }
            >
              Take away
            </GuardedButton>
          </Group>
        ))}
      </ul>
      {total > SHOWN && (
        <Pagination
          size="sm"
          value={page}
          onChange={setPage}
          total={Math.ceil(total / SHOWN)}
          getControlProps={(control) => ({ 'aria-label': `Used by: ${control} page` })}
          getItemProps={(number) => ({ 'aria-label': `Used by: page ${number}` })}
        />
      )}
    </Stack>
  );
}
