/** What somebody should look at first, each with the way to mend it. */
import { Anchor, Button, Card, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { count } from '../../format/format.js';
import { Failure } from '../../parts/failure.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { type Advice, adviceOf, HINTS, type Attention as Item, LISTS, sumUp, type Thing } from './attention-advice.js';

export function Attention() {
  const asked = useQuery({
    queryKey: ['attention'],
    queryFn: () => api.get('/v1/attention'),
    refetchInterval: 60_000,
    // Who comes back from mending something looks whether it is mended.
    staleTime: 0,
  });
  if (asked.error !== null && asked.data === undefined) return <Failure error={asked.error} onRetry={asked.refetch} />;
  const items = asked.data?.attention ?? [];
  // Nothing to say is said by nothing: the list is for what needs somebody.
  if (items.length === 0) return null;
  return (
    <Card component="section" aria-label="Needs attention">
      <Title order={2} mb="xs">
        Needs attention
      </Title>
      <ul className="acg-plain-list acg-todo">{items.map((item) => rowsOf(item))}</ul>
    </Card>
  );
}

/** What is urgent has a row for each thing; hints have one for all. */
function rowsOf(item: Item): ReactNode {
  const { kind, total, things } = item;
  const [only] = things;
  if (HINTS.has(kind) && (total > 1 || only === undefined)) return <Hint key={kind} item={item} />;
  const more = total - things.length;
  return [
    ...things.map((thing) => <Row key={`${kind} ${thing.id}`} advice={adviceOf(kind, thing)} />),
    more > 0 && (
      <li key={`${kind} more`}>
        <Text size="sm" c="dimmed">
          and {count(more)} more of these
        </Text>
        <Way to={LISTS[kind]} label="See all" />
      </li>
    ),
  ];
}

const Row = ({ advice: { tone, word, what, about, way } }: { readonly advice: Advice }) => (
  <li>
    <Stack gap={2}>
      <Text size="sm" fw={600} component="div">
        <StatusBadge tone={tone}>{word}</StatusBadge>
      </Text>
      <Text size="sm" component="div" className="acg-break">
        {what}
      </Text>
      {about}
    </Stack>
    <Way {...way} />
  </li>
);

const Hint = ({ item: { kind, total, things } }: { readonly item: Item }) => (
  <li>
    <Stack gap={2}>
      <Text size="sm" fw={600} component="div">
        <StatusBadge tone="quiet">{sumUp(kind, total)}</StatusBadge>
      </Text>
      <Text size="sm" component="div" className="acg-break">
        {things.map((thing, i) => (
          <span key={thing.id}>
            {i > 0 && ', '}
            <Named kind={kind} thing={thing} />
          </span>
        ))}
        {total > things.length && ` and ${count(total - things.length)} more`}
      </Text>
    </Stack>
    <Way to={LISTS[kind]} label={kind === 'no_budget' ? 'All agents' : 'All keys'} />
  </li>
);

const Named = ({ kind, thing }: { readonly kind: Item['kind']; readonly thing: Thing }) => (
  <Anchor component={Link} href={adviceOf(kind, thing).way.to} inherit underline="always">
    {thing.name}
  </Anchor>
);

const Way = ({ to, label, about }: Advice['way']) => (
  <Button
    component={Link}
    href={to}
    size="xs"
    variant="default"
    flex="none"
    aria-label={about === undefined ? label : `${label}: ${about}`}
  >
    {label}
  </Button>
);
