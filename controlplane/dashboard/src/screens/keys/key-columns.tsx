/** What a row says about a key, and what can be done with it. */
import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { Ago } from '../../parts/ago.js';
import type { Column } from '../../parts/data-table.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { type Key, stateOf } from './key-list.js';

interface KeyActions {
  readonly projectName: (id: string) => string | null;
  readonly onEdit: (key: Key) => void;
  readonly onRotate: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

/** Why a key cannot be rotated; null: it can. */
const whyNotRotate = ({ status, replacedBy }: Key): string | null => {
  if (status === 'expired') return 'This key has expired: make a new one.';
  return replacedBy === null ? null : 'This key has been replaced already.';
};
const whyNotEdit = ({ status }: Key): string | null =>
  status === 'expired' ? 'This key has expired: make a new one.' : null;

export const keyColumns = ({ projectName, onEdit, onRotate, onRevoke }: KeyActions): readonly Column<Key>[] => [
  {
    header: 'Key',
    cell: ({ name, keyPrefix }) => (
      <>
        <Text size="sm" fw={600} span display="block" className="acg-break">
          {name}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace" span display="block">
          {keyPrefix}…
        </Text>
      </>
    ),
  },
  { header: 'Speaks for', cell: (key) => <Whose owned={key} projectName={projectName} /> },
  {
    header: 'State',
    cell: (key) => {
      const { tone, text } = stateOf(key, Date.now());
      return <StatusBadge tone={tone}>{text}</StatusBadge>;
    },
  },
  {
    header: 'Last used',
    cell: ({ id, lastUsedAt }) =>
      lastUsedAt === null ? (
        'never'
      ) : (
        <Anchor component={Link} href={`/calls?key=${id}`} inherit underline="always" title="Its calls">
          <Ago at={lastUsedAt} />
        </Anchor>
      ),
  },
  { header: 'Ends', cell: ({ expiresAt }) => <Ago at={expiresAt} never="never" /> },
  { header: 'Made', cell: ({ createdAt }) => <Ago at={createdAt} />, wideOnly: true },
  {
    header: 'Actions',
    cell: (key) => (
      <Group gap="xs" justify="flex-end" wrap="nowrap">
        <GuardedButton
          needs="admin"
          whyNot={whyNotEdit(key)}
          size="compact-sm"
          variant="default"
          aria-label={`Edit ${key.name}`}
          onClick={() => onEdit(key)}
        >
          Edit
        </GuardedButton>
        <GuardedButton
          needs="admin"
          whyNot={whyNotRotate(key)}
          size="compact-sm"
          variant="default"
          aria-label={`Rotate ${key.name}`}
          onClick={() => onRotate(key)}
        >
          Rotate
        </GuardedButton>
        <GuardedButton
          needs="admin"
          size="compact-sm"
          variant="subtle"
          color="red"
          aria-label={`Revoke ${key.name}`}
          onClick={() => onRevoke(key)}
        >
          Revoke
        </GuardedButton>
      </Group>
    ),
  },
];

interface WhoseProps {
  readonly owned: Key;
  readonly projectName: KeyActions['projectName'];
}

function Whose({ owned: { scope, agentId, agentName, projectId }, projectName }: WhoseProps) {
  const project = projectId === null ? null : projectName(projectId);
  if (scope === 'org') return <>all agents</>;
  if (scope === 'project' || agentId === null) return <>all agents of {project ?? 'a project'}</>;
  return (
    <>
      <Anchor component={Link} href={`/agents/${agentId}?tab=keys`} inherit underline="always" className="acg-name">
        {agentName ?? agentId.slice(0, 8)}
      </Anchor>
      {project !== null && (
        <Text size="xs" c="dimmed" span display="block">
          {project}
        </Text>
      )}
    </>
  );
}
