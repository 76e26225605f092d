/** Columns and row actions of the gateway token list. */
import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import type { Column } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { describeKeyState, type Key } from './fetch-keys-and-describe-status.js';

interface KeyActions {
  readonly projectName: (id: string) => string | null;
  readonly onEdit: (key: Key) => void;
  readonly onRotate: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

/** Why a token cannot be rotated; null: it can. */
const rotateDisabledReason = ({ status, replacedBy }: Key): string | null => {
  if (status === 'expired') return 'This token has expired. Create a new one.';
  return replacedBy === null ? null : 'This token has already been replaced.';
};
const editDisabledReason = ({ status }: Key): string | null =>
  status === 'expired' ? 'This token has expired. Create a new one.' : null;

export const keyColumns = ({ projectName, onEdit, onRotate, onRevoke }: KeyActions): readonly Column<Key>[] => [
  {
    header: 'Gateway token',
    sortKey: 'name',
    cell: ({ name, keyPrefix }) => (
      <>
        <Text size="sm" fw={500} span display="block" className="acg-break-anywhere">
          {name}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace" span display="block">
          {keyPrefix}…
        </Text>
      </>
    ),
  },
  { header: 'Scope', cell: (key) => <KeyScope apiKey={key} projectName={projectName} /> },
  {
    header: 'Status',
    isBesideTitle: true,
    cell: (key) => {
      const { tone, text } = describeKeyState(key, Date.now());
      return <StatusBadge tone={tone}>{text}</StatusBadge>;
    },
  },
  {
    header: 'Last used',
    sortKey: 'lastUsedAt',
    cell: ({ id, lastUsedAt }) =>
      lastUsedAt === null ? (
        'Never'
      ) : (
        <Anchor component={Link} href={`/calls?key=${id}`} inherit underline="always" title="View its calls">
          <RelativeTime at={lastUsedAt} />
        </Anchor>
      ),
  },
  { header: 'Expires', sortKey: 'expiresAt', cell: ({ expiresAt }) => <RelativeTime at={expiresAt} never="Never" /> },
  { header: 'Created', sortKey: 'createdAt', cell: ({ createdAt }) => <RelativeTime at={createdAt} />, wideOnly: true },
  {
    header: 'Actions',
    cell: (key) =>
      key.status === 'revoked' ? null : (
        <KeyActionButtons apiKey={key} onEdit={onEdit} onRotate={onRotate} onRevoke={onRevoke} />
      ),
  },
];

interface KeyActionButtonsProps extends Omit<KeyActions, 'projectName'> {
  readonly apiKey: Key;
}

/** Edit, rotate and revoke, each disabled with the reason where it is not possible. */
export const KeyActionButtons = ({ apiKey: key, onEdit, onRotate, onRevoke }: KeyActionButtonsProps) => (
  <Group gap="xs" justify="flex-end" wrap="nowrap">
    <RowActionButton
      requiredRole="admin"
      disabledReason={editDisabledReason(key)}
      label="Edit"
      rowName={key.name}
      onClick={() => onEdit(key)}
    />
    <RowActionButton
      requiredRole="admin"
      disabledReason={rotateDisabledReason(key)}
      label="Rotate"
      rowName={key.name}
      onClick={() => onRotate(key)}
    />
    <RowActionButton
      requiredRole="admin"
      label="Revoke"
      rowName={key.name}
      isDestructive
      onClick={() => onRevoke(key)}
    />
  </Group>
);

interface KeyScopeProps {
  readonly apiKey: Key;
  readonly projectName: (id: string) => string | null;
}

export function KeyScope({ apiKey: { scope, agentId, agentName, projectId }, projectName }: KeyScopeProps) {
  const project = projectId === null ? null : projectName(projectId);
  if (scope === 'org') return <>All agents</>;
  if (scope === 'project' || agentId === null) return <>All agents of {project ?? 'a project'}</>;
  return (
    <>
      <Anchor component={Link} href={`/agents/${agentId}?tab=keys`} inherit underline="always" className="acg-name">
        {agentName ?? agentId.slice(-8)}
      </Anchor>
      {project !== null && (
        <Text size="xs" c="dimmed" span display="block">
          {project}
        </Text>
      )}
    </>
  );
}
