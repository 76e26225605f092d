/** One trust rule: what a workload must send, and what happened last. */
import { Modal, Stack, Table, Text } from '@mantine/core';
import { InlineCopy } from '../../components/buttons/inline-copy.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import type { TrustRule } from './fetch-trust-rules.js';

const MINUTE_S = 60;

export function TrustRuleDetails({ rule, onClose }: { readonly rule: TrustRule; readonly onClose: () => void }) {
  const rows: readonly (readonly [string, React.ReactNode])[] = [
    ['Id', <InlineCopy key="id" value={rule.id} what="id" />],
    ['Audience', <InlineCopy key="audience" value={rule.audience} what="audience" />],
    ['Issuer', rule.issuer],
    ['Agent', rule.agentName],
    ['Gateway token', `${rule.keyLifetimeSeconds / MINUTE_S} minutes${rule.jtiOnce ? ', each jti once' : ''}`],
    ['Keys of the issuer', rule.keySource === 'upload' ? 'uploaded' : 'from its discovery document'],
    ['Keys read', <RelativeTime key="read" at={rule.keysReadAt} never="Never" />],
    ...(rule.keysFailure === null ? [] : [['Last request for keys', rule.keysFailure] as const]),
    ['Last exchange', <RelativeTime key="used" at={rule.lastUsedAt} never="Never" />],
    ...(rule.rejection === null ? [] : [['Last rejection', <Rejection key="rejection" rule={rule} />] as const]),
  ];
  return (
    <Modal opened onClose={onClose} title={rule.name} size="lg">
      <Stack gap="md">
        <Table aria-label="Trust rule">
          <Table.Tbody>
            {rows.map(([label, value]) => (
              <Table.Tr key={label}>
                <Table.Th scope="row">{label}</Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Text size="sm" component="div">
          Run a program with the token of its platform:{' '}
          <InlineCopy value={`acg run --trust-rule ${rule.id} -- python agent.py`} what="command" />
        </Text>
      </Stack>
    </Modal>
  );
}

const Rejection = ({ rule: { rejection, rejectedAt } }: { readonly rule: TrustRule }) => (
  <>
    <RelativeTime at={rejectedAt} never="Never" />: {rejection}
  </>
);
