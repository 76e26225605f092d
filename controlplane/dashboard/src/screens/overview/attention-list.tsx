/** The "Needs attention" list of the overview; each item links to the page that resolves it. */
import { Anchor, Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { useMissingRoleReason } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { formatCount } from '../../format/format.js';
import {
  type AttentionItem,
  type AttentionMessage,
  attentionMessage,
  HINT_KINDS,
  type AttentionGroup as Item,
  LIST_PATHS,
  summarizeHints,
} from './attention-messages.js';

export function AttentionList() {
  const attentionQuery = useQuery({
    queryKey: ['attention'],
    queryFn: () => api.get('/v1/attention'),
    refetchInterval: 60_000,
    // Always refetched: a user who returns from resolving an item expects it to be gone.
    staleTime: 0,
  });
  if (attentionQuery.error !== null && attentionQuery.data === undefined)
    return <ErrorAlert error={attentionQuery.error} onRetry={attentionQuery.refetch} />;
  const items = attentionQuery.data?.attention ?? [];
  // The card appears only when there is something to do.
  if (items.length === 0) return null;
  return (
    <Card component="section" aria-label="Needs attention">
      <Title order={2} mb="xs">
        Needs attention
      </Title>
      <ul className="acg-plain-list acg-attention-list">{items.map((item) => renderGroup(item))}</ul>
    </Card>
  );
}

/** Urgent items have one row each; hints of a kind share one row. */
function renderGroup(item: Item): ReactNode {
  const { kind, total, things } = item;
  const [only] = things;
  if (HINT_KINDS.has(kind) && (total > 1 || only === undefined)) return <HintRow key={kind} item={item} />;
  const more = total - things.length;
  return [
    ...things.map((thing) => (
      <AttentionRow key={`${kind} ${thing.id} ${thing.origin}`} advice={attentionMessage(kind, thing)} />
    )),
    more > 0 && (
      <li key={`${kind} more`}>
        <Text size="sm" c="dimmed">
          and {formatCount(more)} more
        </Text>
        <LinkButton to={LIST_PATHS[kind]} label="View all" />
      </li>
    ),
  ];
}

const AttentionRow = ({
  advice: { tone, status, text, about, link, action },
}: {
  readonly advice: AttentionMessage;
}) => (
  <li>
    <Stack gap={2}>
      <Text size="sm" fw={600} component="div">
        <StatusBadge tone={tone}>{status}</StatusBadge>
      </Text>
      <Text size="sm" component="div" className="acg-break-anywhere">
        {text}
      </Text>
      {about}
    </Stack>
    <Group gap="xs" flex="none">
      {action}
      <LinkButton {...link} />
    </Group>
  </li>
);

const HintRow = ({ item: { kind, total, things } }: { readonly item: Item }) => (
  <li>
    <Stack gap={2}>
      <Text size="sm" fw={600} component="div">
        <StatusBadge tone="neutral">{summarizeHints(kind, total)}</StatusBadge>
      </Text>
      <Text size="sm" component="div" className="acg-break-anywhere">
        {things.map((thing, i) => (
          <span key={thing.id}>
            {i > 0 && ', '}
            <HintLink kind={kind} thing={thing} />
          </span>
        ))}
        {total > things.length && ` and ${formatCount(total - things.length)} more`}
      </Text>
    </Stack>
    <LinkButton to={LIST_PATHS[kind]} label={kind === 'no_budget' ? 'All agents' : 'All gateway tokens'} />
  </li>
);

const HintLink = ({ kind, thing }: { readonly kind: Item['kind']; readonly thing: AttentionItem }) => (
  <Anchor component={Link} href={attentionMessage(kind, thing).link.to} inherit underline="always">
    {thing.name}
  </Anchor>
);

function LinkButton({ to, label, about, isChange = false }: AttentionMessage['link']) {
  const isReadOnly = useMissingRoleReason('member') !== null;
  const text = isChange && isReadOnly ? 'View' : label;
  return (
    <Button
      component={Link}
      href={to}
      size="xs"
      variant="default"
      flex="none"
      aria-label={about === undefined ? text : `${text}: ${about}`}
    >
      {text}
    </Button>
  );
}
